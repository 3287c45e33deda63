/** What it costs to move money between two balances. */
export interface BookTerms {
  feeCents: number;
}

export const BOOK_TERMS: BookTerms = { feeCents: 0 };

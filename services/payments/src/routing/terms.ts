/** Prices, limits and the cost of delay. Data, because networks and contracts change them. */
export interface RailTerms {
  rtp: { feeCents: number; amountMax: number; settlesInMs: number };
  ach: { feeCents: number; sameDayFeeCents: number; amountMax: number; sameDayAmountMax: number };
  book: { feeCents: number };
  /** What a year's wait for one cent costs, in cents: the yield of money that is not under way. */
  delayCostPerYear: number;
}

export const defaultTerms: RailTerms = {
  rtp: { feeCents: 45, amountMax: 10_000_000_00, settlesInMs: 5_000 },
  ach: {
    feeCents: 20,
    sameDayFeeCents: 50,
    amountMax: 99_999_999_99,
    sameDayAmountMax: 1_000_000_00,
  },
  book: { feeCents: 0 },
  delayCostPerYear: 0.1,
};

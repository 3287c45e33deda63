export type TransactionKind =
  /** Moves money. */
  | 'live'
  /** Tests the account, moves nothing. */
  | 'prenote'
  /** Carries remittance text only, moves nothing. */
  | 'zero'
  /** A return or a notification of change. */
  | 'reply';

export type AchAccount = 'checking' | 'savings' | 'ledger' | 'loan';

export type TransactionCode = {
  readonly code: string;
  readonly account: AchAccount;
  readonly direction: 'credit' | 'debit';
  readonly kind: TransactionKind;
};

const ACCOUNT_BY_FIRST_DIGIT = { 2: 'checking', 3: 'savings', 4: 'ledger' } as const;

const MEANING_BY_LAST_DIGIT = {
  1: { direction: 'credit', kind: 'reply' },
  2: { direction: 'credit', kind: 'live' },
  3: { direction: 'credit', kind: 'prenote' },
  4: { direction: 'credit', kind: 'zero' },
  6: { direction: 'debit', kind: 'reply' },
  7: { direction: 'debit', kind: 'live' },
  8: { direction: 'debit', kind: 'prenote' },
  9: { direction: 'debit', kind: 'zero' },
} as const;

// Loan accounts take credits; their only debit is the reversal of one.
const LOAN_CODES: readonly TransactionCode[] = [
  { code: '51', account: 'loan', direction: 'credit', kind: 'reply' },
  { code: '52', account: 'loan', direction: 'credit', kind: 'live' },
  { code: '53', account: 'loan', direction: 'credit', kind: 'prenote' },
  { code: '54', account: 'loan', direction: 'credit', kind: 'zero' },
  { code: '55', account: 'loan', direction: 'debit', kind: 'live' },
  { code: '56', account: 'loan', direction: 'debit', kind: 'reply' },
];

const CODES: ReadonlyMap<string, TransactionCode> = new Map(
  [
    ...Object.entries(ACCOUNT_BY_FIRST_DIGIT).flatMap(([first, account]) =>
      Object.entries(MEANING_BY_LAST_DIGIT).map(([last, meaning]) => ({
        code: `${first}${last}`,
        account,
        ...meaning,
      })),
    ),
    ...LOAN_CODES,
  ].map((row) => [row.code, row]),
);

function meaningKey({ account, direction, kind }: Omit<TransactionCode, 'code'>): string {
  return `${account} ${direction} ${kind}`;
}

const CODE_BY_MEANING: ReadonlyMap<string, string> = new Map(
  [...CODES.values()].map((row) => [meaningKey(row), row.code]),
);

export function findTransactionCode(code: string): TransactionCode | undefined {
  return CODES.get(code);
}

export function transactionCodeFor(wanted: Omit<TransactionCode, 'code'>): string | undefined {
  return CODE_BY_MEANING.get(meaningKey(wanted));
}

import type { WallTime } from '../../../clock/new-york.ts';

/** What banks and the rules set and may change: prices, windows, limits, waiting times. Pass a changed copy to override. */
export type AchTerms = {
  readonly feeCents: number;
  readonly sameDayFeeCents: number;
  readonly amountMaxCents: number;
  readonly sameDayWindows: readonly { readonly deadline: WallTime; readonly settlesAt: WallTime }[];
  readonly sameDayAmountMaxCents: number;
  readonly standardWindow: {
    readonly deadline: WallTime;
    readonly settlesAt: WallTime;
    readonly bankingDaysLater: number;
  };
  /** How long before the network's deadline the bank wants the file. */
  readonly marginMinutes: number;
  /** When banks open: the hour by which returns must be there. */
  readonly returnsOpenAt: WallTime;
  readonly returnBankingDays: number;
  readonly returnCalendarDays: number;
  readonly dishonorBankingDays: number;
  /** How often an entry returned with R01 or R09 may be presented again. */
  readonly representmentsMax: number;
  /** How many banking days after its settlement a debit's money is good. Two outlast the usual returns; zero trusts it. */
  readonly debitHoldBankingDays: number;
};

/** The price was agreed when the payment was accepted, and tells which of the two was chosen. */
export function isPaidAsSameDay(
  { feeAmount }: { feeAmount: number },
  { sameDayFeeCents }: Pick<AchTerms, 'sameDayFeeCents'>,
): boolean {
  return feeAmount === sameDayFeeCents;
}

export const DEFAULT_ACH_TERMS: AchTerms = {
  feeCents: 20,
  sameDayFeeCents: 50,
  amountMaxCents: 99_999_999_99,
  sameDayWindows: [
    { deadline: '10:30', settlesAt: '13:00' },
    { deadline: '14:45', settlesAt: '17:00' },
    { deadline: '16:45', settlesAt: '18:00' },
  ],
  sameDayAmountMaxCents: 100_000_000,
  standardWindow: { deadline: '22:45', settlesAt: '08:30', bankingDaysLater: 1 },
  marginMinutes: 15,
  returnsOpenAt: '08:30',
  returnBankingDays: 2,
  returnCalendarDays: 60,
  dishonorBankingDays: 5,
  representmentsMax: 2,
  debitHoldBankingDays: 2,
};

import { addBankingDays, isBankingDay, nextBankingDay } from '../../../clock/banking-days.ts';
import { addDays, type CivilDate, fromNewYork, toNewYork } from '../../../clock/new-york.ts';
import { isReturnCode, type ReturnCode, returnReason } from '../codes/codes.ts';
import { type AchTerms, DEFAULT_ACH_TERMS } from './terms.ts';

const MINUTE_MS = 60_000;

export type AchWindow = {
  /** When the file leaves: the network's deadline less the margin. What comes at that instant is too late. */
  readonly deadline: Date;
  readonly networkDeadline: Date;
  readonly settlesAt: Date;
  readonly effectiveDate: CivilDate;
  readonly sameDay: boolean;
  /** For the batch header: SD and the hour of settlement, by which banks know a same-day batch; else empty. */
  readonly descriptiveDate: string;
};

export type WindowQuestion = {
  readonly now: Date;
  readonly amountCents: number;
  /** Whether the same day is wanted. It is had only while a window is left and the amount is within the limit. */
  readonly sameDay: boolean;
  readonly marginMinutes?: number;
  readonly terms?: AchTerms;
};

/** The window with the earliest settlement that a payment accepted now can still take. */
export function nextWindow(question: WindowQuestion): AchWindow {
  const terms = question.terms ?? DEFAULT_ACH_TERMS;
  const sameDay = question.sameDay && question.amountCents <= terms.sameDayAmountMaxCents;
  const { date: today } = toNewYork(question.now);
  const first = isBankingDay(today) ? today : nextBankingDay(today);
  // Late at night every window of the day is gone, but none of the next banking day ever is.
  for (const date of [first, nextBankingDay(first)]) {
    const open = windowsOf(date, question, sameDay).filter((window) => question.now < window.deadline);
    const earliest = open.toSorted((a, b) => a.settlesAt.getTime() - b.settlesAt.getTime())[0];
    if (earliest) return earliest;
  }
  throw new RangeError('The margin is longer than a day: no window is ever open.');
}

/** All windows of a banking day, the standard one first so that it wins a tie: it is the cheaper one. */
function windowsOf(date: CivilDate, question: WindowQuestion, sameDay: boolean): AchWindow[] {
  const terms = question.terms ?? DEFAULT_ACH_TERMS;
  const marginMs = (question.marginMinutes ?? terms.marginMinutes) * MINUTE_MS;
  const standard = terms.standardWindow;
  const rows = [
    { ...standard, effectiveDate: addBankingDays(date, standard.bankingDaysLater), sameDay: false },
    ...(sameDay
      ? terms.sameDayWindows.map((window) => ({ ...window, effectiveDate: date, sameDay: true }))
      : []),
  ];
  return rows.map((row) => {
    const networkDeadline = fromNewYork(date, row.deadline);
    return {
      deadline: new Date(networkDeadline.getTime() - marginMs),
      networkDeadline,
      settlesAt: fromNewYork(row.effectiveDate, row.settlesAt),
      effectiveDate: row.effectiveDate,
      sameDay: row.sameDay,
      descriptiveDate: row.sameDay ? `SD${row.settlesAt.replace(':', '')}` : '',
    };
  });
}

/**
 * The instant by which a return with this code must have come, counted from the settlement of what it returns.
 * Null where the rules set no day. A later return is untimely: it is answered (R68), not ignored.
 */
export function returnDeadline(
  code: ReturnCode,
  settlesAt: Date,
  terms: AchTerms = DEFAULT_ACH_TERMS,
): Date | null {
  const settled = toNewYork(settlesAt).date;
  switch (returnReason(code).window) {
    case 'two_banking_days':
      return fromNewYork(addBankingDays(settled, terms.returnBankingDays), terms.returnsOpenAt);
    case 'five_banking_days':
      return fromNewYork(addBankingDays(settled, terms.dishonorBankingDays), terms.returnsOpenAt);
    case 'sixty_calendar_days':
      return fromNewYork(nextBankingDay(addDays(settled, terms.returnCalendarDays)), terms.returnsOpenAt);
    case 'open':
      return null;
  }
}

/** When a debit counts as good: the usual returns can no longer come, only consumers' claims can. */
export function debitGoodAt(settlesAt: Date, terms: AchTerms = DEFAULT_ACH_TERMS): Date {
  return fromNewYork(addBankingDays(toNewYork(settlesAt).date, terms.returnBankingDays), terms.returnsOpenAt);
}

export interface TimelinessQuestion {
  /** As the bank wrote it. */
  code: string;
  at: Date;
  entry: { settlesAt: Date };
  terms: AchTerms;
}

/** Whether a return came after its deadline. One with a code that is not in our table has none. */
export function isUntimely({ code, at, entry, terms }: TimelinessQuestion): boolean {
  if (!isReturnCode(code)) return false;
  const deadline = returnDeadline(code, entry.settlesAt, terms);
  return deadline !== null && at > deadline;
}

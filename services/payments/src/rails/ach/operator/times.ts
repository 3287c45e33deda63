import { addBankingDays } from '../../../clock/banking-days.ts';
import { fromNewYork, toNewYork } from '../../../clock/new-york.ts';
import type { BehaviourKind } from '../../../payment-methods/test-accounts.ts';
import { fromFileDate } from '../nacha/dates.ts';
import type { BatchHeader } from '../nacha/model.ts';
import type { AchTerms } from '../schedule/terms.ts';
import { debitGoodAt } from '../schedule/windows.ts';

/** Whether a line goes by the calendar, or is hurried. */
export type LinePace = 'calendar' | 'compressed';

const SAME_DAY = /^SD([01]\d|2[0-3])([0-5]\d)$/;

/** HH:MM that a same-day batch asks for, or undefined for a standard one. */
export function sameDayHour(header: Pick<BatchHeader, 'descriptiveDate'>): string | undefined {
  const match = SAME_DAY.exec(header.descriptiveDate);
  return match ? `${match[1]}:${match[2]}` : undefined;
}

/** The day stands in the header, and so does the hour of a same-day batch. */
export function settlementOf(header: BatchHeader, terms: AchTerms): Date {
  return fromNewYork(
    fromFileDate(header.effectiveDate),
    sameDayHour(header) ?? terms.standardWindow.settlesAt,
  );
}

interface AnswerTiming {
  settlesAt: Date;
  receivedAt: Date;
  direction: 'debit' | 'credit';
  /** The credit of a payment whose debit was in an earlier file. */
  isSecondHalf: boolean;
  pace: LinePace;
}

const DAYS_FOR_THE_CREDIT = 2;

/** Late enough that a customer who waits for good money has handed it on: the hold, a window, and its settlement. */
function afterHoldAndCredit(settlesAt: Date, terms: AchTerms): Date {
  const days = terms.debitHoldBankingDays + DAYS_FOR_THE_CREDIT;
  return fromNewYork(addBankingDays(toNewYork(settlesAt).date, days), terms.returnsOpenAt);
}

/**
 * Returns and notifications come with the settlement, which they forestall where they are returns. Late returns come at
 * the last hour that the rules allow; on a hurried line, as long after the payment's completion as the payment took.
 */
export function answerDueAt(
  kind: BehaviourKind,
  { settlesAt, receivedAt, direction, isSecondHalf, pace }: AnswerTiming,
  { terms, sandboxMs }: { terms: AchTerms; sandboxMs: number },
): Date {
  if (kind !== 'ach_late_return') return settlesAt;
  if (pace === 'calendar')
    return direction === 'debit' ? afterHoldAndCredit(settlesAt, terms) : debitGoodAt(settlesAt, terms);
  const toCompletionMs = isSecondHalf ? sandboxMs / 2 : sandboxMs;
  return new Date(receivedAt.getTime() + toCompletionMs + sandboxMs);
}

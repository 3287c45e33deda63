import type { Payment } from '../../../payments/payment.ts';
import { RETURN_REASONS } from '../codes/codes.ts';
import type { ReturnAnswer } from '../nacha/loose.ts';
import { type LegPlan, type Pace, timesOf } from '../schedule/schedule.ts';
import { isPaidAsSameDay } from '../schedule/terms.ts';
import type { AchEntry, AttemptEntries } from './entry.ts';

/*
 * A debit that came back for want of money (R01, R09) may be presented again, twice at most, for the same amount and
 * under a new trace. Every presentment is an attempt of the payment, which stays under way meanwhile.
 */

export interface Returned {
  /** As it was before it came back. */
  entry: AchEntry;
  answer: Pick<ReturnAnswer, 'code'>;
  payment: Payment;
  attempt: AttemptEntries;
}

export interface Representing {
  /** How often it shall be tried again; what the rules allow is the limit. */
  wanted: number;
  legs: LegPlan;
  asOf: Date;
  newId: (prefix: string) => string;
  pace: Pace;
}

/** The presentment that follows a return, or null where there is none: then the return is the end. */
export function representmentOf(returned: Returned, representing: Representing): AchEntry | null {
  if (!mayPresentAgain(returned, representing)) return null;
  const { entry } = returned;
  const { legs, asOf, newId, pace } = representing;
  const { scope, amount } = entry;
  return {
    ...entry,
    attemptId: newId('att'),
    state: 'queued',
    presentment: entry.presentment + 1,
    // By the standard window, also for a payment of the same day: an account needs time to be filled.
    sameDay: false,
    ...timesOf({ scope, from: asOf, amount, sameDay: false, leg: 'debit', legs }, pace),
    sentAs: null,
    returnCode: null,
  };
}

function mayPresentAgain(
  { entry, answer, payment, attempt }: Returned,
  { wanted, pace }: Representing,
): boolean {
  if (entry.leg !== 'debit' || !RETURN_REASONS.get(answer.code)?.representable) return false;
  if (entry.presentment >= Math.min(wanted, pace.terms.representmentsMax)) return false;
  const isUnderWay = payment.status === 'processing' && payment.attempts.at(-1)?.id === entry.attemptId;
  // Once the credit has left, another debit would be for a payment that was made: someone has to look instead.
  const credit = attempt.get('credit')?.state ?? 'queued';
  return isUnderWay && credit === 'queued';
}

/** When a payment completes whose debit is presented now. */
export function settlementAfter(debit: AchEntry, payment: Payment, legs: LegPlan, pace: Pace): Date {
  if (legs !== 'debit_then_credit') return debit.goodAt;
  const { scope, amount, goodAt } = debit;
  const sameDay = isPaidAsSameDay(payment, pace.terms);
  return timesOf({ scope, from: goodAt, amount, sameDay, leg: 'credit', legs }, pace).settlesAt;
}

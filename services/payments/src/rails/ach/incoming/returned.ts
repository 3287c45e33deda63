import type { Payment } from '../../../payments/payment.ts';
import type { NextAttempt, RailOutcome } from '../../rail.ts';
import { RETURN_REASONS } from '../codes/codes.ts';
import type { AchEntry, AttemptEntries } from '../entries/entry.ts';
import { legsOf } from '../entries/payments.ts';

/** What a return means for its payment. */

/** A code that is not in our table is kept as the bank wrote it. */
const UNKNOWN_CODE = { failureCode: 'returned_by_bank', title: 'a code that is not known here' };

function saidOf({ leg, returnCode }: AchEntry) {
  const networkCode = returnCode ?? '';
  const { failureCode: code, title } = RETURN_REASONS.get(networkCode) ?? UNKNOWN_CODE;
  const who = leg === 'debit' ? 'source' : 'destination';
  return { networkCode, code, detail: `The bank of the ${who} returned the entry: ${title}.` };
}

function keyOf({ tenantId, paymentId, attemptId }: AchEntry) {
  return { tenantId, paymentId, attemptId };
}

/** `isPaid`: the destination has the money and keeps it, so that the source owes what it took back. */
export function debitReturned(debit: AchEntry, { isPaid }: { isPaid: boolean }): RailOutcome {
  return { ...keyOf(debit), kind: 'returned', ...saidOf(debit), ...(isPaid && { owed: true }) };
}

export interface ReturnedEntry {
  /** As it was before it came back, and as it is now. */
  before: AchEntry;
  entry: AchEntry;
  payment: Payment;
  /** With the entry as it is now. */
  attempt: AttemptEntries;
  /** The presentment that follows, where there is one. */
  again: NextAttempt | undefined;
}

/**
 * Nothing, where the payment is not to be told: it was ended by order, or its credit is on its way and will settle or
 * come back, which decides.
 */
export function returnOutcome({ before, entry, payment, attempt, again }: ReturnedEntry): RailOutcome[] {
  if (isRepayment(entry, payment, attempt))
    return [{ ...keyOf(entry), kind: 'repaid', by: entry.leg === 'refund' ? 'source' : 'destination' }];
  if (entry.leg === 'refund') return [];
  const outcome: RailOutcome = {
    ...keyOf(entry),
    kind: 'returned',
    ...saidOf(entry),
    ...(again && { again }),
  };
  if (entry.leg === 'credit') return isNews(before, payment) ? [outcome] : [];
  const refund = attempt.get('refund')?.state;
  // What was collected had been paid back already, so now it is missing.
  if (refund === 'sent' || refund === 'settled')
    return [
      payment.status === 'completed'
        ? debitReturned(entry, { isPaid: true })
        : { ...keyOf(entry), kind: 'owed', ...saidOf(entry) },
    ];
  if (payment.status === 'processing' && attempt.get('credit')?.state === 'sent') return [];
  if (!isNews(before, payment)) return [];
  return [isPaid(payment, attempt) ? { ...outcome, owed: true } : outcome];
}

/** Whether the destination has the money, or will have it; whom an order has paid before the credit left has it, too. */
function isPaid(payment: Payment, attempt: AttemptEntries): boolean {
  if (attempt.isPaidOut) return true;
  const credit = attempt.get('credit')?.state;
  const cameBack = credit === 'returned' || credit === 'refused';
  return payment.status === 'completed' && legsOf(payment) === 'debit_then_credit' && !cameBack;
}

/** What was paid out after all, and was owed because the debit had come back, comes back as well. */
function isRepayment({ leg }: AchEntry, { status }: Payment, attempt: AttemptEntries): boolean {
  if (!attempt.lostDebit) return false;
  return leg === 'refund' || (leg === 'credit' && status === 'returned');
}

/** A payment that is completed although this entry is still under way was completed by order: that stands. */
function isNews(before: AchEntry, payment: Payment): boolean {
  return payment.status !== 'completed' || before.state !== 'sent';
}

import type { Payment } from '../../../payments/payment.ts';
import type { RailOutcome } from '../../rail.ts';
import type { LegPlan, Pace } from '../schedule/schedule.ts';
import type { AchEntry } from './entry.ts';
import { settlementAfter } from './representments.ts';

export interface Delay {
  payment: Payment;
  legs: LegPlan;
  pace: Pace;
  /** The entry had left, and leaves once more under another trace. */
  again?: AchEntry['sentAs'];
}

/** What is told of a payment whose entry has other times than before; a refund is no part of what was estimated. */
export function delayOf(entry: AchEntry, { payment, legs, pace, again }: Delay): RailOutcome[] {
  const { tenantId, paymentId, attemptId, leg } = entry;
  if (leg === 'refund') return [];
  const settlesAt = leg === 'debit' ? settlementAfter(entry, payment, legs, pace) : entry.settlesAt;
  return [{ tenantId, paymentId, attemptId, kind: 'delayed', settlesAt, again: again?.trace ?? null }];
}

import assert from 'node:assert/strict';
import type { Queryable } from '@libs/db';
import type { Payment } from '../../../payments/payment.ts';
import type { LegPlan } from '../schedule/schedule.ts';
import type { AchContext } from '../work/context.ts';
import { type AchEntry, paymentKeyOf, textKeyOf } from './entry.ts';

/** The payments that entries belong to. */

export type PaymentsByKey = ReadonlyMap<string, Payment>;

export async function lockPaymentsOf(
  tx: Queryable,
  context: Pick<AchContext, 'lockPayments'>,
  entries: readonly AchEntry[],
): Promise<PaymentsByKey> {
  const keys = new Map(entries.map((entry) => [textKeyOf(paymentKeyOf(entry)), paymentKeyOf(entry)]));
  const payments = await context.lockPayments(tx, [...keys.values()]);
  return new Map(payments.map((payment) => [textKeyOf(payment), payment]));
}

export function paymentOf(payments: PaymentsByKey, entry: AchEntry): Payment {
  const payment = payments.get(textKeyOf(paymentKeyOf(entry)));
  assert(payment, `an entry belongs to payment ${entry.paymentId}, which is not stored`);
  return payment;
}

/** A payment whose both sides are outside has a debit and a credit. */
export function legsOf({ debitAccount, sourceId, creditAccount, destinationId }: Payment): LegPlan {
  if (debitAccount === sourceId) return 'credit';
  return creditAccount === destinationId ? 'debit' : 'debit_then_credit';
}

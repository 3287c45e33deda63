import { errors } from '../errors.ts';
import type { Payment } from './payment.ts';

/**
 * Refunds in these states moved no money: they take nothing from what may be refunded. One that is `returned` does so only if
 * what it had paid out came back, which the ledger knows: else it could be paid out again and again.
 */
export const undoneRefunds = ['failed', 'canceled'] as const;

/** Why this much of a payment cannot be refunded; undefined where it can. */
export function refundRefusal(original: Payment, amount: number): Error | undefined {
  const { status, refundOf } = original;
  if (status !== 'completed' || refundOf !== null) {
    return errors.payment_not_refundable({
      detail:
        refundOf === null
          ? `The payment is ${status}; only a completed one can be refunded.`
          : 'The payment is a refund itself.',
      extra: { payment_status: status },
    });
  }
  const refundable = original.amount - original.refundedAmount;
  if (amount >= 1 && amount <= refundable) return undefined;
  return errors.refund_exceeds_payment({
    detail:
      refundable > 0
        ? `At most ${refundable} (${original.currency}, in minor units) of this payment can still be refunded.`
        : 'Nothing of this payment is left to refund.',
    extra: { refundable_amount: refundable },
  });
}

import type { Payment } from '../payments/payment.ts';
import type { CodeMeaning, RailOutcome } from './rail.ts';

/** Outcomes that a developer ordered, as a network would have told them. They end the payment: no other rail takes over. */

const REFUSED = { code: 'refused_by_order', detail: 'The sandbox was told to refuse the payment.' };

function keyOf({ tenantId, id, attempts }: Payment) {
  return { tenantId, paymentId: id, attemptId: attempts.at(-1)?.id ?? '' };
}

/** A payment that has not left yet is taken through `processing`. */
export function settledByOrder(payment: Payment, at: Date): RailOutcome[] {
  const key = keyOf(payment);
  return [
    { ...key, kind: 'submitted', reference: `sandbox ${payment.id}`, at },
    { ...key, kind: 'settled', at },
  ];
}

export function rejectedByOrder(payment: Payment, meaning: CodeMeaning | null): RailOutcome[] {
  const said = meaning ?? { networkCode: null, ...REFUSED };
  return [{ ...keyOf(payment), kind: 'rejected', mayWorkElsewhere: false, ...said }];
}

/** `isOwed`: the destination keeps the money that the source took back. */
export function returnedByOrder(
  payment: Payment,
  meaning: CodeMeaning,
  { isOwed }: { isOwed: boolean },
): RailOutcome[] {
  return [{ ...keyOf(payment), kind: 'returned', ...meaning, ...(isOwed && { owed: true }) }];
}

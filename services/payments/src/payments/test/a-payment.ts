import { OUTSIDE_DESTINATIONS } from '../../ledger/transfer.ts';
import { newAttempt } from '../outcomes.ts';
import type { Payment } from '../payment.ts';

export const ACCEPTED_AT = new Date('2026-11-15T12:00:00.000Z');

/** One that was just accepted: from a balance to a bank, with RTP as its first rail. */
export function aPayment(changes: Partial<Payment> = {}): Payment {
  return {
    tenantId: 'org_a.test',
    mode: 'test',
    id: 'pay_1',
    status: 'pending',
    amount: 1_000,
    currency: 'USD',
    sourceId: 'pm_balance',
    destinationId: 'pm_bank',
    debitAccount: 'pm_balance',
    creditAccount: OUTSIDE_DESTINATIONS,
    rail: 'auto',
    railSelected: 'rtp',
    fallback: true,
    railDecision: { prefer: 'balanced', chosen: 'rtp', candidates: [] },
    attempts: [newAttempt('att_1', 'rtp')],
    timeline: [{ status: 'pending', timestamp: ACCEPTED_AT.toISOString() }],
    failure: null,
    feeAmount: 45,
    refundOf: null,
    refundedAmount: 0,
    description: null,
    metadata: {},
    estimatedSettlementAt: ACCEPTED_AT,
    createdAt: ACCEPTED_AT,
    updatedAt: ACCEPTED_AT,
    ...changes,
  };
}

import { isoTime } from '../clock/iso-time.ts';
import type { OutsideRailId, RailId } from '../rails/rail-ids.ts';
import type { RailDecision } from '../routing/decision.ts';
import type { Mode } from '../tenant.ts';
import type { PaymentStatus } from './states.ts';

export const AMOUNT_MAX = 9_999_999_999;

export type RailChoice = 'auto' | OutsideRailId;
export type AttemptStatus = 'waiting' | 'submitted' | 'settled' | 'rejected' | 'returned' | 'unknown';

export interface Attempt {
  id: string;
  rail: RailId;
  status: AttemptStatus;
  network_reference: string | null;
  submitted_at: string | null;
  settled_at: string | null;
  code: string | null;
  detail: string | null;
}

export interface TimelineEntry {
  status: PaymentStatus;
  timestamp: string;
}

export interface Failure {
  code: string;
  network_code: string | null;
  detail: string;
}

export interface Payment {
  tenantId: string;
  mode: Mode;
  id: string;
  status: PaymentStatus;
  amount: number;
  currency: string;
  sourceId: string;
  destinationId: string;
  /** Whose money moves: accounts of the ledger. */
  debitAccount: string;
  creditAccount: string;
  rail: RailChoice;
  railSelected: RailId;
  fallback: boolean;
  railDecision: RailDecision;
  attempts: readonly Attempt[];
  timeline: readonly TimelineEntry[];
  failure: Failure | null;
  feeAmount: number;
  /** The payment that this one gives back. */
  refundOf: string | null;
  /** What refunds that did not fail take back of it. */
  refundedAmount: number;
  description: string | null;
  metadata: Readonly<Record<string, string>>;
  estimatedSettlementAt: Date;
  createdAt: Date;
  updatedAt: Date;
}

/** The payment as the API, its events and its webhooks show it. */
export function toApi(payment: Payment) {
  return {
    id: payment.id,
    object: 'payment' as const,
    mode: payment.mode,
    status: payment.status,
    amount: payment.amount,
    currency: payment.currency,
    source: { payment_method_id: payment.sourceId },
    destination: { payment_method_id: payment.destinationId },
    rail: payment.rail,
    rail_selected: payment.railSelected,
    rail_decision: payment.railDecision,
    attempts: payment.attempts,
    timeline: payment.timeline,
    failure: payment.failure,
    fee: { amount: payment.feeAmount, currency: 'USD' },
    refund_of: payment.refundOf,
    refunded_amount: payment.refundedAmount,
    description: payment.description,
    metadata: payment.metadata,
    estimated_settlement_at: isoTime(payment.estimatedSettlementAt),
    created_at: isoTime(payment.createdAt),
    updated_at: isoTime(payment.updatedAt),
  };
}

export type ApiPayment = ReturnType<typeof toApi>;

/** What the API does not show of a payment, and what others change in it. */
export type HiddenFields = Pick<
  Payment,
  'tenantId' | 'debitAccount' | 'creditAccount' | 'fallback' | 'refundedAmount'
>;

/** The payment behind what the API showed. */
export function fromDocument(shown: ApiPayment, hidden: HiddenFields): Payment {
  return {
    ...hidden,
    mode: shown.mode,
    id: shown.id,
    status: shown.status,
    amount: shown.amount,
    currency: shown.currency,
    sourceId: shown.source.payment_method_id,
    destinationId: shown.destination.payment_method_id,
    rail: shown.rail,
    railSelected: shown.rail_selected,
    railDecision: shown.rail_decision,
    attempts: shown.attempts,
    timeline: shown.timeline,
    failure: shown.failure,
    feeAmount: shown.fee.amount,
    refundOf: shown.refund_of,
    description: shown.description,
    metadata: shown.metadata,
    estimatedSettlementAt: new Date(shown.estimated_settlement_at),
    createdAt: new Date(shown.created_at),
    updatedAt: new Date(shown.updated_at),
  };
}

import type { Queryable } from '@libs/db';
import type { NewJob } from '@libs/jobs';
import type { SandboxClock } from '../clock/clock.ts';
import type { PaymentMethod } from '../payment-methods/method.ts';
import type { Payment } from '../payments/payment.ts';
import type { Assessment, RailId } from '../routing/decision.ts';
import type { Mode } from '../tenant.ts';

/** What a rail is asked before a payment is accepted. */
export interface RailRequest {
  mode: Mode;
  amount: number;
  source: Pick<PaymentMethod, 'type' | 'railsSend'>;
  destination: Pick<PaymentMethod, 'type' | 'railsReceive'>;
  /** The organisation's time. */
  at: Date;
}

/** One payment that a rail shall carry now, with all that its messages need. */
export interface Submission {
  payment: Payment;
  attemptId: string;
  source: PaymentMethod;
  destination: PaymentMethod;
  at: Date;
  clock: SandboxClock;
}

interface OutcomeOf {
  tenantId: string;
  paymentId: string;
  attemptId: string;
}

/** What became of a payment on a rail. Repeats are harmless: the state table lets each move happen once. */
export type RailOutcome = OutcomeOf &
  (
    | { kind: 'submitted'; reference: string; at: Date }
    | { kind: 'settled'; at: Date }
    | { kind: 'rejected'; networkCode: string | null; code: string; detail: string; mayWorkOnAch: boolean }
    | { kind: 'returned'; networkCode: string; code: string; detail: string; again?: NextAttempt }
    | { kind: 'unknown' }
  );

/** The rail tries once more by itself: the payment stays under way, with another attempt. */
export interface NextAttempt {
  attemptId: string;
  settlesAt: Date;
}

export interface SubmitResult {
  outcomes: readonly RailOutcome[];
  /** Jobs that belong to the same transaction: sending, asking after, the next window. */
  jobs: readonly NewJob[];
}

/**
 * A way to move money. Another rail is another folder that implements this; nothing else changes but the list.
 * Messages leave after the commit, through jobs that the rail handles itself, and carry ids that make a repeat
 * harmless; what comes back is read by the rail and ends in `RailOutcome`s.
 */
export interface Rail {
  readonly id: RailId;
  /** Whether it could carry the payment, at what price and when it would settle. */
  possible(request: RailRequest): Assessment;
  /** Records what will be sent, in the caller's transaction. */
  submit(tx: Queryable, submissions: readonly Submission[]): Promise<SubmitResult>;
}

/** What a rail gives its outcomes to: the payments feature. */
export type ApplyOutcomes = (tx: Queryable, outcomes: readonly RailOutcome[]) => Promise<void>;

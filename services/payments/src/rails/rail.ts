import type { Queryable } from '@libs/db';
import type { CronEntry, Handler, NewJob } from '@libs/jobs';
import type { SandboxClock } from '../clock/clock.ts';
import type { PaymentMethod } from '../payment-methods/method.ts';
import type { Payment } from '../payments/payment.ts';
import type { RailBooks } from '../reconciliation/reconciliation.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { Assessment } from '../routing/decision.ts';
import type { Mode } from '../tenant.ts';
import type { RailId } from './rail-ids.ts';

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
export interface RailSubmission {
  payment: Payment;
  attemptId: string;
  source: PaymentMethod;
  destination: PaymentMethod;
  /** The organisation's time now. */
  at: Date;
  /** The organisation's time when the payment was accepted for this rail; its clock may have been moved since. */
  acceptedAt: Date;
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
    | {
        kind: 'rejected';
        networkCode: string | null;
        code: string;
        detail: string;
        /** Whether the reason may not hold on another rail; true only where this one has certainly paid nothing. */
        mayWorkElsewhere: boolean;
      }
    | {
        kind: 'returned';
        networkCode: string;
        code: string;
        detail: string;
        again?: NextAttempt;
        /** The destination keeps the money that the source took back: it is missing, and the source owes it. */
        owed?: true;
      }
    /** The same of a payment that has ended: what was paid back was also taken back. */
    | { kind: 'owed'; networkCode: string; code: string; detail: string }
    /** What was owed has come back: from the one who had been paid, or from the source to whom it was paid back. */
    | { kind: 'repaid'; by: 'source' | 'destination' }
    | { kind: 'unknown' }
    /** It settles at another time than was estimated; `again` is the reference of what has to leave once more. */
    | { kind: 'delayed'; settlesAt: Date; again: string | null }
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

/** Something that went over a rail for a payment, as the payment's owner may see it. */
export interface RailMessage {
  id: string;
  rail: RailId;
  direction: 'out' | 'in';
  kind: string;
  content: string;
  createdAt: Date;
}

/** A network code in words, from the rail's own table. */
export interface CodeMeaning {
  networkCode: string;
  code: string;
  detail: string;
}

export const FORCED_OUTCOMES = ['settle', 'reject', 'return', 'notify_of_change'] as const;
export type ForcedOutcome = (typeof FORCED_OUTCOMES)[number];

/** What a code means for an outcome that a developer wants, or why the rail knows no such thing. */
export type ForcedMeaning =
  | { ok: true; meaning: CodeMeaning | null }
  | { ok: false; reason: 'not_on_this_rail' | 'code_required' | 'code_unknown' };

/** What a developer orders of the simulated network for a payment. */
export interface ForcedOrder {
  outcome: ForcedOutcome;
  /** Null where the outcome has no code. */
  meaning: CodeMeaning | null;
  /** The organisation's time. */
  at: Date;
}

/** Whether something that was put aside could be applied, or in words why not. */
export type AsideApplied = { ok: true } | { ok: false; reason: string };

/** What a rail's work needs of payments. */
export interface RailNeeds {
  applyOutcomes: ApplyOutcomes;
  lockPayments: (tx: Queryable, keys: readonly { tenantId: string; id: string }[]) => Promise<Payment[]>;
}

/** What a rail does beside the requests. */
export interface RailWork {
  handlers: readonly Handler[];
  cron: readonly CronEntry[];
  /** Adds what the operator needs of this rail alone. */
  routes?: (routes: PaymentsRoutes) => void;
  /** Applies what was put aside to a locked payment that a person says it belongs to. */
  applyAside(tx: Queryable, payment: Payment, content: string): Promise<AsideApplied>;
  /** Jobs for when an organisation's clock was moved: whatever has become due must happen. */
  whenClockMoves(tenantId: string): readonly NewJob[];
  /** Takes what its own work locks before payments, so that neither waits for the other. */
  lockFor(tx: Queryable, payment: Payment): Promise<void>;
  /**
   * Gives a locked payment the outcome that a developer wants, in the books of the simulated network too. Whether the
   * payment's state allows it is the caller's question. Answers what follows for the payment.
   */
  force(tx: Queryable, payment: Payment, order: ForcedOrder): Promise<readonly RailOutcome[]>;
}

/** Messages that a network sends by itself, over HTTP. */
export interface RailInbound {
  /** Bearer token of the network's gateway. */
  readonly token: string;
  /** The jobs that read a message, or why it is none that this network sends: places in it, and no values. */
  jobsFor(message: Buffer): { ok: true; jobs: readonly NewJob[] } | { ok: false; reason: string };
}

/**
 * A way to move money, whole: another rail is another folder whose `rail.ts` exports `createRail`, and a line in
 * `rail-ids.ts`. Messages leave after the commit, through jobs that the rail handles itself, and carry ids that make a
 * repeat harmless; what comes back is read by the rail and ends in `RailOutcome`s.
 */
export interface Rail {
  readonly id: RailId;
  /** The kinds of its messages, for the API's schema. */
  readonly messageKinds: readonly string[];
  /** What can be compared with the ledger; null where nothing leaves the house. */
  readonly books: RailBooks | null;
  /** Whether it could carry the payment, at what price and when it would settle. */
  possible(request: RailRequest): Assessment;
  /** Records what will be sent, in the caller's transaction. */
  submit(tx: Queryable, submissions: readonly RailSubmission[]): Promise<SubmitResult>;
  /** What a code of its network means; the one that stands for all where none is given. */
  meaningOf(outcome: ForcedOutcome, code: string | null): ForcedMeaning;
  /** What went over it for a payment. */
  messagesOf(db: Queryable, key: { tenantId: string; id: string }): Promise<RailMessage[]>;
  /** Null where nothing comes but answers to what was asked. */
  readonly inbound: RailInbound | null;
  /** Called once: jobs and timers, reading what comes back, and outcomes on demand. */
  work(needs: RailNeeds): RailWork;
  close(): Promise<void>;
}

/** As far as choosing and handing over goes. */
export type Carrier = Pick<Rail, 'id' | 'possible' | 'submit'>;

/** What a rail gives its outcomes to: the payments feature. */
export type ApplyOutcomes = (tx: Queryable, outcomes: readonly RailOutcome[]) => Promise<void>;

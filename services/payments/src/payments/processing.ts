import assert from 'node:assert/strict';
import type { Database, Queryable } from '@libs/db';
import { batchesForCores, completeJobs, enqueueJobs, type Handler, type Job, type NewJob } from '@libs/jobs';
import type { SandboxClock } from '../clock/clock.ts';
import type { Clocks, TenantTimes } from '../clock/service.ts';
import type { PaymentsEvent } from '../events/event.ts';
import { jobNameFor, lanesOf } from '../job-lanes.ts';
import { recordTransfers, writeTransfers } from '../ledger/service.ts';
import { balanceChanges, type Transfer } from '../ledger/transfer.ts';
import type { MethodKey, PaymentMethod } from '../payment-methods/method.ts';
import type { ApplyOutcomes, Carrier, RailOutcome, RailSubmission } from '../rails/rail.ts';
import type { Decided } from '../routing/decision.ts';
import type { Routing } from '../routing/service.ts';
import type { ChangedPayment } from './changed-payment.ts';
import type { PaymentMetrics } from './metrics.ts';
import { type Change, changePayment } from './moves.ts';
import { changeFor } from './outcomes.ts';
import type { Payment } from './payment.ts';
import { STOP_REFUNDS_JOB } from './stop-refunds-job.ts';
import { lockPayments, type PaymentKey } from './store.ts';
import { SUBMIT_JOB } from './submit-job.ts';
import { writeChangedPayments } from './write-changes.ts';

export interface ProcessingDependencies {
  database: Database;
  rails: readonly Pick<Carrier, 'id' | 'submit'>[];
  routing: Routing;
  newId: (prefix: string) => string;
  findMethods: (db: Queryable, keys: readonly MethodKey[]) => Promise<PaymentMethod[]>;
  /** Balances that were deleted before a return changed them can be reached again. */
  reopenBalances: (
    tx: Queryable,
    keys: readonly MethodKey[],
    atOf: (key: MethodKey) => Date,
  ) => Promise<void>;
  clocks: Clocks;
  metrics?: Pick<PaymentMetrics, 'changed'>;
  /** Stores events and adds what subscribers get for them; those in `stored` are stored already. */
  recordEvents: (
    tx: Queryable,
    events: readonly PaymentsEvent[],
    stored: readonly PaymentsEvent[],
  ) => Promise<void>;
}

/**
 * Far below this a transaction costs more than its payments; far above it what a batch holds outlives two collections of
 * garbage, and is moved twice: with 200 the worker took a tenth more for each payment, and ten megabytes.
 */
const PAYMENTS_AT_ONCE = 120;
const JOBS_AT_ONCE = 50;

/** What happens to payments after they were accepted: handed to their rails, and moved by what the rails answer. */
export interface Processing {
  applyOutcomes: ApplyOutcomes;
  lockPayments: typeof lockPayments;
  /** Changes payments that the caller decides on one by one; answers those that changed. */
  changePayments(
    tx: Queryable,
    keys: readonly PaymentKey[],
    decide: (payment: Payment, at: Date) => Change | null,
  ): Promise<Payment[]>;
  submitHandler: Handler;
}

export function createProcessing(deps: ProcessingDependencies): Processing {
  const rails = new Map(deps.rails.map((rail) => [rail.id, rail]));

  async function changePayments(
    tx: Queryable,
    keys: readonly PaymentKey[],
    decide: (payment: Payment, at: Date) => Change | null,
  ): Promise<Payment[]> {
    const payments = await lockPayments(tx, keys);
    const work = new Work(deps, await timesOf(deps, tx, payments));
    for (const payment of payments) {
      const change = decide(payment, work.at(payment));
      if (change) work.change(payment, change);
    }
    return work.write(tx);
  }

  async function applyOutcomes(tx: Queryable, outcomes: readonly RailOutcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    const keys = distinctKeys(outcomes);
    const payments = await lockPayments(tx, keys);
    const times = await timesOf(deps, tx, payments);
    const methods = await loadMethods(deps, tx, payments, outcomes);
    const work = new Work(deps, times);
    applyTo(deps, { work, payments, outcomes, methods });
    await work.write(tx);
  }

  async function submit(tx: Queryable, keys: readonly PaymentKey[]): Promise<void> {
    const locked = await lockPayments(tx, keys);
    const waiting = locked.filter(
      (payment) =>
        payment.attempts.at(-1)?.status === 'waiting' &&
        (payment.status === 'pending' || payment.status === 'processing'),
    );
    if (waiting.length === 0) return;
    const times = await timesOf(deps, tx, waiting);
    const methods = await loadMethods(deps, tx, waiting, null);
    const work = new Work(deps, times);
    for (const [railId, group] of Map.groupBy(waiting, (payment) => payment.railSelected)) {
      const rail = rails.get(railId);
      assert(rail, `there is no rail ${railId}`);
      const submissions = group.map((payment) => toSubmission(payment, work, methods));
      const { outcomes, jobs } = await rail.submit(tx, submissions);
      applyTo(deps, { work, payments: group, outcomes, methods });
      work.jobs.push(...jobs);
    }
    await work.write(tx);
  }

  return {
    changePayments,
    applyOutcomes,
    lockPayments,
    submitHandler: {
      ...lanesOf(SUBMIT_JOB),
      batchMax: JOBS_AT_ONCE,
      items: { max: PAYMENTS_AT_ONCE, of: (job) => keysIn(job).length },
      // One is prepared while the database writes the other: one by one on two cores, a process that does all completed a
      // seventh less, and took in half as much again as it completed.
      concurrency: { most: batchesForCores() },
      // These jobs hold payments: they are tried until they succeed, and every failure is reported on the way.
      attemptsMax: Number.MAX_SAFE_INTEGER,
      tenantsOf: (jobs) => jobs.map((job) => keysIn(job).map(({ tenantId }) => tenantId)),
      async handle(jobs) {
        const keys = jobs.flatMap(keysIn);
        const [job] = jobs;
        // A job holds all that was accepted together. When it failed before, one of them must not hold up the others.
        if (job && jobs.length === 1 && job.attempt > 1 && keys.length > 1) return takeApart(deps, job);
        await deps.database.transaction(async (tx) => {
          await submit(tx, keys);
          await completeJobs(tx, jobs);
        });
      },
    },
  };
}

function keysIn({ payload }: Job): PaymentKey[] {
  return (payload as [string, string][]).map(([tenantId, id]) => ({ tenantId, id }));
}

/** A job for each payment, instead of one for all. */
async function takeApart({ database }: ProcessingDependencies, job: Job): Promise<void> {
  const apart = keysIn(job).map(({ tenantId, id }) => ({ name: job.name, payload: [[tenantId, id]] }));
  await database.transaction(async (tx) => {
    await enqueueJobs(tx, database.schema, apart);
    await completeJobs(tx, [job]);
  });
}

function distinctKeys(outcomes: readonly RailOutcome[]): PaymentKey[] {
  const keys = new Map(
    outcomes.map(({ tenantId, paymentId }) => [`${tenantId} ${paymentId}`, { tenantId, id: paymentId }]),
  );
  return [...keys.values()];
}

type Methods = ReadonlyMap<string, PaymentMethod>;

/** Methods are needed to submit, and to choose another rail after a refusal; other outcomes do without. */
async function loadMethods(
  deps: ProcessingDependencies,
  tx: Queryable,
  payments: readonly Payment[],
  outcomes: readonly RailOutcome[] | null,
): Promise<Methods> {
  const refused =
    outcomes && new Set(outcomes.filter(({ kind }) => kind === 'rejected').map((o) => o.paymentId));
  const needed = refused ? payments.filter((payment) => refused.has(payment.id)) : payments;
  if (needed.length === 0) return new Map();
  const keys = new Map<string, MethodKey>();
  for (const { tenantId, sourceId, destinationId } of needed) {
    for (const id of [sourceId, destinationId]) keys.set(`${tenantId} ${id}`, { tenantId, id });
  }
  const found = await deps.findMethods(tx, [...keys.values()]);
  return new Map(found.map((method) => [`${method.tenantId} ${method.id}`, method]));
}

function timesOf(
  { clocks }: ProcessingDependencies,
  tx: Queryable,
  payments: readonly Payment[],
): Promise<TenantTimes> {
  return clocks.timesOf(
    tx,
    payments.map(({ tenantId }) => tenantId),
  );
}

function methodOf(methods: Methods, payment: Payment, id: string): PaymentMethod {
  const method = methods.get(`${payment.tenantId} ${id}`);
  assert(method, `payment ${payment.id} names a payment method that is not stored`);
  return method;
}

function toSubmission(payment: Payment, work: Work, methods: Methods): RailSubmission {
  const attempt = payment.attempts.at(-1);
  assert(attempt, 'a payment has at least one attempt');
  return {
    payment,
    attemptId: attempt.id,
    source: methodOf(methods, payment, payment.sourceId),
    destination: methodOf(methods, payment, payment.destinationId),
    at: work.at(payment),
    // A payment that waits was last changed when it was accepted, or sent on from another rail.
    acceptedAt: payment.updatedAt,
    clock: work.clockOf(payment),
  };
}

interface Applying {
  work: Work;
  payments: readonly Payment[];
  outcomes: readonly RailOutcome[];
  methods: Methods;
}

/** A network may be ahead of an organisation's clock that stands or was set free: no payment shows a time that is still to come. */
function neverLaterThan(now: Date, outcome: RailOutcome): RailOutcome {
  return 'at' in outcome && outcome.at > now ? { ...outcome, at: now } : outcome;
}

/** Applies outcomes in their order; a payment may have several (a transfer between balances is sent and settled). */
function applyTo(deps: ProcessingDependencies, { work, payments, outcomes, methods }: Applying): void {
  const byKey = new Map(payments.map((payment) => [`${payment.tenantId} ${payment.id}`, payment]));
  for (const outcome of outcomes) {
    const stored = byKey.get(`${outcome.tenantId} ${outcome.paymentId}`);
    if (!stored) continue;
    const payment = work.current(stored);
    const decideAgain = (refused: Payment): Decided | null => {
      const result = deps.routing.decideAfterRefusal({
        mode: refused.mode,
        amount: refused.amount,
        source: methodOf(methods, refused, refused.sourceId),
        destination: methodOf(methods, refused, refused.destinationId),
        at: work.at(refused),
        prefer: refused.railDecision.prefer,
        refusedBy: new Set(refused.attempts.map(({ rail }) => rail)),
      });
      return result.ok ? result : null;
    };
    const told = neverLaterThan(work.at(payment), outcome);
    const change = changeFor(payment, told, { newId: deps.newId, decideAgain });
    if (change) work.change(payment, change);
  }
}

/** The changes of one transaction, gathered so that each table is written once. */
class Work {
  readonly jobs: NewJob[] = [];
  readonly #deps: ProcessingDependencies;
  readonly #times: TenantTimes;
  readonly #changed = new Map<string, ChangedPayment>();
  /** For who counts them: a payment that moved twice is there twice. */
  readonly #moves: { payment: Payment; movedFrom: Payment['status'] }[] = [];
  /** Of payments that changed before in this transaction: their last change is written with its own. */
  readonly #earlierEvents: PaymentsEvent[] = [];
  readonly #earlierTransfers: Transfer[] = [];

  constructor(deps: ProcessingDependencies, times: TenantTimes) {
    this.#deps = deps;
    this.#times = times;
  }

  clockOf(payment: Payment): SandboxClock {
    return this.#times.clockOf(payment.tenantId);
  }

  at(payment: Payment): Date {
    return this.#times.at(payment.tenantId);
  }

  /** The payment with what this transaction has changed in it so far. */
  current(payment: Payment): Payment {
    return this.#changed.get(`${payment.tenantId} ${payment.id}`)?.payment ?? payment;
  }

  change(payment: Payment, change: Change): void {
    const changed = changePayment(payment, change, {
      at: this.at(payment),
      realNow: this.#times.realNow,
      newId: this.#deps.newId,
    });
    if (!changed) return;
    if (change.by) this.#moves.push({ payment: changed.payment, movedFrom: payment.status });
    const key = `${payment.tenantId} ${payment.id}`;
    const before = this.#changed.get(key);
    if (before?.event) this.#earlierEvents.push(before.event);
    if (before?.transfer) this.#earlierTransfers.push(before.transfer);
    // The statement that writes payments writes transfers between the payment's own accounts.
    const isOwn =
      changed.transfer?.debitAccount === payment.debitAccount &&
      changed.transfer.creditAccount === payment.creditAccount;
    if (changed.transfer && !isOwn) this.#earlierTransfers.push(changed.transfer);
    this.#earlierEvents.push(...changed.events.slice(0, -1));
    this.#changed.set(key, {
      payment: changed.payment,
      document: changed.document,
      event: changed.events.at(-1) ?? null,
      transfer: isOwn ? changed.transfer : null,
    });
    if (change.reroute) {
      const name = jobNameFor(SUBMIT_JOB, payment.mode);
      this.jobs.push({ name, payload: [[payment.tenantId, payment.id]] });
    }
    if (change.by === 'returned' && payment.status === 'completed') {
      const name = jobNameFor(STOP_REFUNDS_JOB, payment.mode);
      this.jobs.push({ name, payload: [payment.tenantId, payment.id] });
    }
  }

  async write(tx: Queryable): Promise<Payment[]> {
    const changed = [...this.#changed.values()];
    const transfers = [...this.#earlierTransfers, ...changed.flatMap(({ transfer }) => transfer ?? [])];
    await recordTransfers(tx, transfers, async () => {
      await writeTransfers(tx, this.#earlierTransfers);
      await writeChangedPayments(tx, changed);
    });
    const returned = returnedBalances(transfers);
    await this.#deps.reopenBalances(tx, returned, ({ tenantId }) => this.#times.at(tenantId));
    const events = changed.flatMap(({ event }) => event ?? []);
    await this.#deps.recordEvents(tx, this.#earlierEvents, events);
    await enqueueJobs(tx, this.#deps.database.schema, this.jobs);
    this.#deps.metrics?.changed(tx, this.#moves);
    return changed.map(({ payment }) => payment);
  }
}

/** Payments keep their balances from being deleted until they end: only what undoes one that ended finds a deleted one. */
function returnedBalances(transfers: readonly Transfer[]): MethodKey[] {
  const reversals = transfers.filter(({ kind }) => kind === 'reverse');
  return balanceChanges(reversals).map(({ tenantId, paymentMethodId }) => ({
    tenantId,
    id: paymentMethodId,
  }));
}

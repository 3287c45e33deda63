import { hostname } from 'node:os';
import { type Database, type HeldLease, isAwayFrom, type Queryable } from '@libs/db';
import type { NewId } from '@libs/seal';
import type { EmitEvent } from '../events/event.ts';
import { formatNumber, type Invoice } from './invoice.ts';
import { newInvoice } from './issue.ts';
import { acquireLock, findLock, type Lock, releaseLock, renewLock } from './lock-store.ts';
import type { InvoiceMails } from './mails.ts';
import type { Issuer } from './parties.ts';
import { firstDayOf, hasEnded, nextPeriod, type Period } from './period.ts';
import { type PricedMonth, priceMonth } from './prices/pricing.ts';
import { type PlanVersion, termsByDay } from './prices/timeline.ts';
import {
  advanceSeries,
  type Candidate,
  type CustomerChange,
  findInvoiced,
  listCandidates,
  listPlanChanges,
  listPlanVersions,
  lockSeries,
  markFinished,
} from './run-store.ts';
import { countUnsent, holdCustomers, insertInvoices, rearmFailedMails } from './store.ts';
import { type ChargedCallsQuery, type CustomerUsage, findCalling } from './usage-store.ts';

export interface InvoiceRunDependencies {
  database: Database;
  mails: InvoiceMails;
  emitEvent: EmitEvent;
  /** The calls to be charged, by customer, day and platform. */
  usageOf: (query: ChargedCallsQuery) => Promise<CustomerUsage[]>;
  platformTitle: (platform: string) => string;
  /** Whom invoices come from today. */
  issuer: Issuer;
  newId: NewId;
  /** What this process is called in the lock, for whoever waits for it: a host and a process id unless told otherwise. */
  processName?: string;
  now: () => Date;
  onError: (error: unknown, context: { customer: string; period: Period }) => void;
  /** How long a run that died keeps others away; tests shorten it. */
  lockTtlMs?: number;
  batchMax?: number;
}

export interface RunCounts {
  created: number;
  /** Customers that had their invoice already. */
  skipped: number;
  /** Customers whose invoice could not be made, or whose mail has not gone out. */
  failed: number;
  /** Customers who are left to a later run, because calls of the month are under way; absent where there are none. */
  waiting?: number;
}

export type RunOutcome =
  | ({ kind: 'done' } & RunCounts)
  /** `by` is undefined when the other was done before it could be asked for. */
  | { kind: 'locked'; by: HeldLease | undefined }
  | { kind: 'not_ended' }
  /** The process is stopping, or another took the lock over: what is left is for the next run. */
  | { kind: 'interrupted' };

export type DryRunOutcome = ({ kind: 'done'; totalCents: number } & RunCounts) | { kind: 'not_ended' };

export interface InvoiceRun {
  run(period: Period, options: { signal: AbortSignal }): Promise<RunOutcome>;
  /** What a run would do now; nothing is written. */
  dryRun(period: Period): Promise<DryRunOutcome>;
}

export const LOCK_NAME = 'invoices';
export const LOCK_TTL_MS = 60 * 60_000;
const BATCH_MAX = 50;

export function createInvoiceRun(deps: InvoiceRunDependencies): InvoiceRun {
  const { database, now } = deps;
  const lockTtlMs = deps.lockTtlMs ?? LOCK_TTL_MS;
  const batchMax = deps.batchMax ?? BATCH_MAX;
  const processName = deps.processName ?? `${hostname()}:${process.pid}`;

  async function* batches(period: Period): AsyncGenerator<readonly Candidate[]> {
    for (let after = ''; ; ) {
      const batch = await listCandidates(database, { period, after, limit: batchMax });
      if (batch.length > 0) yield batch;
      if (batch.length < batchMax) return;
      after = batch.at(-1)?.id ?? after;
    }
  }

  /**
   * Whose month can be priced: nobody knows yet what calls will cost that are under way, or wait for a database that was away to be
   * counted. It is asked before usage is read; what a process held that died is given back within 15 minutes.
   */
  async function withoutCalling(period: Period, customers: readonly Candidate[]): Promise<Candidate[]> {
    const customerIds = customers.map(({ id }) => id);
    const calling = await findCalling(database, { customerIds, month: firstDayOf(period) });
    return customers.filter(({ id }) => !calling.has(id));
  }

  /** The price of each customer's month; one that cannot be read or told is reported and fails nobody else. */
  async function priceBatch(
    period: Period,
    customers: readonly Candidate[],
    versions: readonly PlanVersion[],
  ): Promise<Map<Candidate, PricedMonth>> {
    try {
      return priceRead(period, customers, { versions, ...(await readMonth(period, customers)) });
    } catch (error) {
      // Then nobody's can be read.
      if (isAwayFrom(database, error)) throw error;
      return priceApart(period, customers, versions, error);
    }
  }

  async function priceApart(
    period: Period,
    customers: readonly Candidate[],
    versions: readonly PlanVersion[],
    error: unknown,
  ): Promise<Map<Candidate, PricedMonth>> {
    const priced: [Candidate, PricedMonth][] = [];
    const [alone, ...others] = customers;
    if (alone !== undefined && others.length === 0) {
      deps.onError(error, { customer: alone.id, period });
      return new Map();
    }
    for (const customer of customers) priced.push(...(await priceBatch(period, [customer], versions)));
    return new Map(priced);
  }

  async function readMonth(
    period: Period,
    customers: readonly Candidate[],
  ): Promise<{ changes: CustomerChange[]; usage: CustomerUsage[] }> {
    const customerIds = customers.map(({ id }) => id);
    const range = { from: firstDayOf(period), to: firstDayOf(nextPeriod(period)) };
    const [changes, usage] = await Promise.all([
      listPlanChanges(database, { customerIds, period }),
      deps.usageOf({ customerIds, ...range }),
    ]);
    return { changes, usage };
  }

  function priceRead(
    period: Period,
    customers: readonly Candidate[],
    read: { versions: readonly PlanVersion[]; changes: CustomerChange[]; usage: CustomerUsage[] },
  ): Map<Candidate, PricedMonth> {
    const changesOf = Map.groupBy(read.changes, ({ customerId }) => customerId);
    const usageOf = Map.groupBy(read.usage, ({ customerId }) => customerId);
    const priced = new Map<Candidate, PricedMonth>();
    for (const customer of customers) {
      try {
        const history = { ...customer, changes: changesOf.get(customer.id) ?? [] };
        const days = termsByDay(period, history, read.versions);
        const calls = usageOf.get(customer.id) ?? [];
        const { platformTitle } = deps;
        priced.set(customer, priceMonth({ period, days, usage: calls, platformTitle }));
      } catch (error) {
        deps.onError(error, { customer: customer.id, period });
      }
    }
    return priced;
  }

  /**
   * Invoices, numbers, events and the mails to be sent commit together. Who closed the account meanwhile gets none, and who
   * verified it waits: it may have been taken back, with another name, plan and address than were read.
   */
  function writeBatch(
    period: Period,
    priced: ReadonlyMap<Candidate, PricedMonth>,
  ): Promise<{ created: number; skipped: number; waiting: number }> {
    return database.transaction(async (tx) => {
      const lastNumber = await lockSeries(tx);
      const customerIds = [...priced.keys()].map(({ id }) => id);
      const invoiced = await findInvoiced(tx, { customerIds, period });
      const held = await holdCustomers(
        tx,
        customerIds.filter((id) => !invoiced.has(id)),
      );
      const missing = [...priced].filter(([{ id, isVerified }]) => held.get(id)?.isVerified === isVerified);
      const outcome = {
        created: missing.length,
        skipped: invoiced.size,
        waiting: held.size - missing.length,
      };
      if (missing.length === 0) return outcome;
      const issuedAt = now();
      const invoices = missing.map(([customer, month], index) =>
        newInvoice(deps, customer, month, { period, number: lastNumber + index + 1, issuedAt }),
      );
      await insertInvoices(tx, invoices);
      await advanceSeries(tx, lastNumber + invoices.length);
      for (const invoice of invoices) await announce(tx, invoice);
      return outcome;
    });
  }

  async function announce(tx: Queryable, invoice: Invoice): Promise<void> {
    await deps.emitEvent(tx, {
      customerId: invoice.customerId,
      type: 'invoice.created',
      data: {
        invoice_id: invoice.id,
        number: formatNumber(invoice.number),
        period: invoice.period,
        status: invoice.status,
        currency: invoice.currency,
        total_cents: invoice.totalCents,
        issued_at: invoice.issuedAt.toISOString(),
      },
    });
  }

  /** Each step begins by moving the end of the lock on: who has lost it stops before it writes. */
  async function work(period: Period, lock: Lock, signal: AbortSignal): Promise<RunOutcome> {
    const mayGoOn = async () => !signal.aborted && (await renewLock(database, lock, lockTtlMs));
    const counts: RunCounts = { created: 0, skipped: 0, failed: 0 };
    const versions = await listPlanVersions(database);
    for await (const batch of batches(period)) {
      if (!(await mayGoOn())) return { kind: 'interrupted' };
      const missing = batch.filter(({ hasInvoice }) => !hasInvoice);
      const ready = await withoutCalling(period, missing);
      const priced = await priceBatch(period, ready, versions);
      const written = await writeBatch(period, priced);
      counts.created += written.created;
      counts.skipped += batch.length - missing.length + written.skipped;
      counts.failed += ready.length - priced.size;
      addWaiting(counts, missing.length - ready.length + written.waiting);
    }
    await rearmFailedMails(database, period);
    for (let isMoreDue = true; isMoreDue; ) {
      if (!(await mayGoOn())) return { kind: 'interrupted' };
      ({ isMoreDue } = await deps.mails.sendDue({ period, mailsMax: batchMax, signal }));
    }
    if (counts.failed === 0 && counts.waiting === undefined) await markFinished(database, period, now());
    counts.failed += await countUnsent(database, period);
    return { kind: 'done', ...counts };
  }

  return {
    async run(period, { signal }) {
      if (!hasEnded(period, now())) return { kind: 'not_ended' };
      const lock = { name: LOCK_NAME, holder: `${deps.newId('run')}@${processName}` };
      if (!(await acquireLock(database, lock, lockTtlMs)))
        return { kind: 'locked', by: await findLock(database, LOCK_NAME) };
      try {
        return await work(period, lock, signal);
      } finally {
        await releaseLock(database, lock);
      }
    },

    async dryRun(period) {
      if (!hasEnded(period, now())) return { kind: 'not_ended' };
      const counts: RunCounts = { created: 0, skipped: 0, failed: 0 };
      let sumCents = 0;
      const versions = await listPlanVersions(database);
      for await (const batch of batches(period)) {
        const missing = batch.filter(({ hasInvoice }) => !hasInvoice);
        const ready = await withoutCalling(period, missing);
        const priced = await priceBatch(period, ready, versions);
        counts.created += priced.size;
        counts.skipped += batch.length - missing.length;
        counts.failed += ready.length - priced.size;
        addWaiting(counts, missing.length - ready.length);
        for (const { totalCents } of priced.values()) sumCents += totalCents;
      }
      return { kind: 'done', ...counts, totalCents: sumCents };
    },
  };
}

function addWaiting(counts: RunCounts, waiting: number): void {
  if (waiting > 0) counts.waiting = (counts.waiting ?? 0) + waiting;
}

import type { Database } from '@libs/db';
import { type CronEntry, everyMinutes, type Handler, monthlyAt } from '@libs/jobs';
import { baseErrors } from '@libs/runtime';
import type { Standing } from '../customers/standing.ts';
import { errors } from '../errors.ts';
import { findDetails, writeDetails } from './details-store.ts';
import { listDuePeriods } from './due-periods.ts';
import type { Invoice } from './invoice.ts';
import { isLockInUse } from './lock-store.ts';
import { createInvoiceMails, type InvoiceMailsDependencies } from './mails.ts';
import type { CountRun } from './metrics.ts';
import { printInvoice } from './paper/print.ts';
import { type BillingDetails, NO_DETAILS, type Seller } from './parties.ts';
import type { Period } from './period.ts';
import { type PlanPreview, previewPlan } from './preview.ts';
import {
  createInvoiceRun,
  type DryRunOutcome,
  type InvoiceRunDependencies,
  LOCK_NAME,
  LOCK_TTL_MS,
  type RunOutcome,
} from './run.ts';
import { findFirstCustomerAt } from './run-store.ts';
import { type InvoiceStatus, next } from './states.ts';
import { findInvoice, listAllInvoices, listInvoices, lockInvoice, updateStatus } from './store.ts';
import { readUsage } from './usage-store.ts';

export interface InvoiceServiceDependencies
  extends Omit<InvoiceMailsDependencies, 'onError'>,
    Omit<InvoiceRunDependencies, 'mails' | 'onError' | 'usageOf' | 'issuer'> {
  database: Database;
  /** The rollups of billing, unless told otherwise. */
  usageOf?: InvoiceRunDependencies['usageOf'];
  countRun?: CountRun;
  onError: (error: unknown, context: object) => void;
}

export interface InvoiceService {
  list(query: { customerId: string; before: string | undefined; limit: number }): Promise<Invoice[]>;
  /** Of all customers, for the operator. */
  listAll(query: {
    status: InvoiceStatus | undefined;
    before: string | undefined;
    limit: number;
  }): Promise<Invoice[]>;
  find(key: { customerId: string; id: string }): Promise<Invoice>;
  render(invoice: Invoice): Promise<Buffer>;
  /** Who sends invoices, and how they are paid. */
  readonly seller: Seller;
  details(customerId: string): Promise<BillingDetails>;
  changeDetails(customerId: string, details: BillingDetails, standing: Standing): Promise<void>;
  /** What this month comes to with another plan from now on. */
  preview(wanted: { customerId: string; plan: string }): Promise<PlanPreview>;
  run(period: Period, options: { signal: AbortSignal }): Promise<RunOutcome>;
  dryRun(period: Period): Promise<DryRunOutcome>;
  /** A repeat changes nothing. */
  markPaid(id: string): Promise<Invoice>;
  void(id: string): Promise<Invoice>;
  readonly jobs: { handlers: readonly Handler[]; cron: readonly CronEntry[] };
}

/** Months that a server which was off may have missed; older ones are an admin's business. */
const CATCH_UP_MONTHS_MAX = 12;
const MAIL_MINUTES = 1;
const MAILS_PER_TURN = 8;
const MAIL_TURNS_MAX = 60;
/** A run that has taken no step for this long is dead or stuck: mails do not wait until its lock runs out. */
const RUN_QUIET_MS = 5 * 60_000;
/** How soon the monthly job looks again while another run holds the lock, or calls of the month are under way. */
const PENDING_RETRY_MS = 30_000;

export function createInvoiceService(deps: InvoiceServiceDependencies): InvoiceService {
  const { database, now } = deps;
  const mails = createInvoiceMails(deps);
  const usageOf = deps.usageOf ?? ((query) => readUsage(database, query));
  const runs = createInvoiceRun({ ...deps, issuer: deps.seller.issuer, mails, usageOf });

  const run: InvoiceService['run'] = async (period, options) => {
    try {
      const outcome = await runs.run(period, options);
      deps.countRun?.(outcome);
      return outcome;
    } catch (error) {
      deps.countRun?.({ kind: 'error' });
      throw error;
    }
  };

  function move(id: string, event: 'pay' | 'void'): Promise<Invoice> {
    return database.transaction(async (tx) => {
      const invoice = await lockInvoice(tx, id);
      if (invoice === undefined) throw baseErrors.not_found();
      const status = next(invoice.status, event);
      if (status === null)
        throw event === 'pay' ? errors.invoice_not_payable() : errors.invoice_not_voidable();
      const paidAt = status === 'paid' ? (invoice.paidAt ?? now()) : invoice.paidAt;
      const moved = { ...invoice, status, paidAt };
      await updateStatus(tx, moved);
      return moved;
    });
  }

  async function runMonthly(signal: AbortSignal): Promise<void> {
    const due = await listDuePeriods(database, {
      ...{ at: now(), monthsMax: CATCH_UP_MONTHS_MAX },
      firstCustomerAt: () => findFirstCustomerAt(database),
    });
    for (const period of due) {
      const outcome = await run(period, { signal });
      // The job comes back by itself until the other run is over, or its lock is.
      if (outcome.kind !== 'done') throw new InvoiceRunPending(pendingText(period, outcome));
      if (outcome.waiting !== undefined)
        throw new InvoiceRunPending(
          `invoices of ${period}: ${outcome.waiting} customers have calls of that month under way, or were just verified`,
        );
    }
  }

  /** A run that is at work sends its own mails and tells how many failed, so nobody takes them away from it. */
  async function sendLeftMails(signal: AbortSignal): Promise<void> {
    const times = { ttlMs: deps.lockTtlMs ?? LOCK_TTL_MS, quietMs: RUN_QUIET_MS };
    for (let turns = 0; turns < MAIL_TURNS_MAX; turns += 1) {
      if (await isLockInUse(database, LOCK_NAME, times)) return;
      const { isMoreDue } = await mails.sendDue({ period: null, mailsMax: MAILS_PER_TURN, signal });
      if (!isMoreDue) return;
    }
  }

  return {
    list: (query) => listInvoices(database, query),
    listAll: (query) => listAllInvoices(database, query),
    async find(key) {
      const invoice = await findInvoice(database, key);
      if (invoice === undefined) throw baseErrors.not_found();
      return invoice;
    },
    render: (invoice) => printInvoice(invoice, deps.seller),
    seller: deps.seller,
    details: async (customerId) => (await findDetails(database, customerId)) ?? NO_DETAILS,
    changeDetails: (customerId, details, standing) =>
      database.transaction(async (tx) => {
        await standing(tx);
        await writeDetails(tx, { ...details, customerId, at: now() });
      }),
    preview: (wanted) => previewPlan({ ...deps, usageOf }, wanted),
    run,
    dryRun: runs.dryRun,
    markPaid: (id) => move(id, 'pay'),
    void: (id) => move(id, 'void'),
    jobs: {
      handlers: [
        {
          name: 'invoices.monthly',
          handle: (_jobs, { signal }) => runMonthly(signal),
          retryDelayMs: () => PENDING_RETRY_MS,
        },
        { name: 'invoices.mail', handle: (_jobs, { signal }) => sendLeftMails(signal) },
      ],
      cron: [
        { name: 'invoices.monthly', schedule: monthlyAt(1, 0, 10) },
        { name: 'invoices.mail', schedule: everyMinutes(MAIL_MINUTES) },
      ],
    },
  };
}

/** For the operator, who sees it as the last error of the job. */
function pendingText(period: Period, outcome: Exclude<RunOutcome, { kind: 'done' }>): string {
  const by = outcome.kind === 'locked' ? outcome.by : undefined;
  const holder = by === undefined ? '' : ` by ${by.holder} until ${by.until.toISOString()} at the latest`;
  return `invoices of ${period}: ${outcome.kind}${holder}`;
}

/** The monthly job has to come back: another run or a call of the month is under way, or this process is stopping. */
class InvoiceRunPending extends Error {
  override readonly name = 'InvoiceRunPending';
}

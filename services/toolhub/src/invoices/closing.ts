import type { Queryable } from '@libs/db';
import { listDuePeriods } from './due-periods.ts';
import { type BilledCustomer, type IssueDependencies, newInvoice } from './issue.ts';
import { endOf, firstDayOf, nextPeriod, type Period, periodOf } from './period.ts';
import { type DayTerms, priceMonth } from './prices/pricing.ts';
import { termsByDay } from './prices/timeline.ts';
import {
  advanceSeries,
  type Candidate,
  findCandidate,
  findInvoiced,
  listPlanChanges,
  listPlanVersions,
  lockSeries,
} from './run-store.ts';
import { holdCustomers, insertInvoices } from './store.ts';
import { hasCallsUnderWay, readUsage } from './usage-store.ts';

export interface ClosingDependencies extends IssueDependencies {
  platformTitle: (platform: string) => string;
  now: () => Date;
}

/** What is needed to invoice an account that is gone, as JSON keeps it. */
export interface OpenAccount {
  readonly customer: BilledCustomer;
  readonly isVerified: boolean;
  readonly months: readonly OpenMonth[];
}

interface OpenMonth {
  readonly period: Period;
  /** Up to the closing. */
  readonly days: readonly DayTerms[];
}

/** Whatever a closed account owes is invoiced here, because no run will find it any more. */
export interface InvoiceClosing {
  /**
   * In the transaction that closes the account, and before it goes. While calls are under way nobody knows what they will
   * cost: then nothing is written, and what is given back has to be settled later.
   */
  settle(tx: Queryable, customerId: string): Promise<OpenAccount | null>;
  /** False where it waits for calls that are under way still. Harmless when it is done twice. */
  settleLate(tx: Queryable, open: OpenAccount, how: { waits: boolean }): Promise<boolean>;
}

/** Nobody closes an account that is older and has a month that no run ever went through. */
const MONTHS_MAX = 120;

/** Earlier months as well: their runs may be yet to come. Nobody gets an invoice of nothing as a farewell. */
export function createInvoiceClosing(deps: ClosingDependencies): InvoiceClosing {
  async function findOpen(tx: Queryable, customerId: string): Promise<OpenAccount | null> {
    const at = deps.now();
    const months: OpenMonth[] = [];
    let found: Candidate | undefined;
    const due = await listDuePeriods(tx, {
      ...{ at, monthsMax: MONTHS_MAX },
      // Of the others none is asked for: the server of one may be away.
      firstCustomerAt: async () => (await findCandidate(tx, { period: periodOf(at), customerId }))?.createdAt,
    });
    for (const period of [...due, periodOf(at)]) {
      found = await findCandidate(tx, { period, customerId });
      if (found === undefined || found.hasInvoice || found.createdAt >= endOf(period)) continue;
      months.push({ period, days: await daysUntil(tx, { customer: found, period, at }) });
    }
    if (found === undefined) return null;
    const { id, name, email, details, isVerified } = found;
    return { customer: { id, name, email, details }, isVerified, months };
  }

  async function daysUntil(
    tx: Queryable,
    { customer, period, at }: { customer: Candidate; period: Period; at: Date },
  ): Promise<DayTerms[]> {
    const changes = await listPlanChanges(tx, { customerIds: [customer.id], period });
    const days = termsByDay(period, { ...customer, changes }, await listPlanVersions(tx));
    // The day of the closing counts as a whole one, as that of a change of plan does.
    return period === periodOf(at) ? days.filter(({ day }) => day <= at.getUTCDate()) : days;
  }

  async function issue(tx: Queryable, open: OpenAccount, gone?: { isVerified: boolean }): Promise<void> {
    const { customer } = open;
    const customerIds = [customer.id];
    for (const { period, days } of open.months) {
      const range = { from: firstDayOf(period), to: firstDayOf(nextPeriod(period)) };
      const usage = await readUsage(tx, { customerIds, ...range });
      const month = priceMonth({ period, days, usage, platformTitle: deps.platformTitle });
      if (month.totalCents === 0) continue;
      const lastNumber = await lockSeries(tx);
      // A run, or a try before this one, may have written it while this one waited for the series.
      if ((await findInvoiced(tx, { customerIds, period })).has(customer.id)) continue;
      // Closed at the same moment by another, who has what is owed written.
      if (gone === undefined && !(await holdCustomers(tx, customerIds)).has(customer.id)) continue;
      const number = lastNumber + 1;
      const invoice = newInvoice(deps, customer, month, { period, number, issuedAt: deps.now() });
      await insertInvoices(tx, [invoice], gone);
      await advanceSeries(tx, number);
    }
  }

  return {
    async settle(tx, customerId) {
      const open = await findOpen(tx, customerId);
      if (open === null) return null;
      if (await hasCallsUnderWay(tx, customerId)) return open;
      await issue(tx, open);
      return null;
    },

    async settleLate(tx, open, { waits }) {
      if (waits && (await hasCallsUnderWay(tx, open.customer.id))) return false;
      await issue(tx, open, open);
      return true;
    },
  };
}

import type { Queryable } from '@libs/db';
import { type IssueDependencies, newInvoice } from './issue.ts';
import { endOf, firstDayOf, nextPeriod, type Period, periodBefore, periodOf } from './period.ts';
import { type PricedMonth, priceMonth } from './prices/pricing.ts';
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
import { insertInvoices } from './store.ts';
import { readUsage } from './usage-store.ts';

export interface ClosingDependencies extends IssueDependencies {
  platformTitle: (platform: string) => string;
  now: () => Date;
}

/** In the transaction that closes an account: whatever it owes is invoiced, because no run will find it any more. */
export type InvoiceClosing = (tx: Queryable, customerId: string) => Promise<void>;

/** The month before as well: its run may be yet to come. Nobody gets an invoice of nothing as a farewell. */
export function createInvoiceClosing(deps: ClosingDependencies): InvoiceClosing {
  return async (tx, customerId) => {
    const at = deps.now();
    for (const period of [periodBefore(at), periodOf(at)]) {
      const customer = await findCandidate(tx, { period, customerId });
      if (customer === undefined || customer.hasInvoice || customer.createdAt >= endOf(period)) continue;
      const month = await priceUntil(tx, { customer, period, at });
      if (month.totalCents > 0) await issue(tx, { customer, month, period, at });
    }
  };

  async function priceUntil(
    tx: Queryable,
    { customer, period, at }: { customer: Candidate; period: Period; at: Date },
  ): Promise<PricedMonth> {
    const customerIds = [customer.id];
    const changes = await listPlanChanges(tx, { customerIds, period });
    const all = termsByDay(period, { ...customer, changes }, await listPlanVersions(tx));
    // The day of the closing counts as a whole one, as that of a change of plan does.
    const days = period === periodOf(at) ? all.filter(({ day }) => day <= at.getUTCDate()) : all;
    const range = { from: firstDayOf(period), to: firstDayOf(nextPeriod(period)) };
    const usage = await readUsage(tx, { customerIds, ...range });
    return priceMonth({ period, days, usage, platformTitle: deps.platformTitle });
  }

  async function issue(
    tx: Queryable,
    { customer, month, period, at }: { customer: Candidate; month: PricedMonth; period: Period; at: Date },
  ): Promise<void> {
    const lastNumber = await lockSeries(tx);
    // A run may have written it while this one waited for the series.
    const invoiced = await findInvoiced(tx, { customerIds: [customer.id], period });
    if (invoiced.has(customer.id)) return;
    const number = lastNumber + 1;
    await insertInvoices(tx, [newInvoice(deps, customer, month, { period, number, issuedAt: at })]);
    await advanceSeries(tx, number);
  }
}

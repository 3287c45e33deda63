import type { Queryable } from '@libs/db';
import { baseErrors } from '@libs/runtime';
import { errors } from '../errors.ts';
import { daysIn, firstDayOf, nextPeriod, type Period, periodOf, startOf } from './period.ts';
import { type PlanTerms, type PricedMonth, priceMonth } from './pricing.ts';
import { findCandidate, listPlanChanges, listPlanVersions } from './run-store.ts';
import { currentTerms, termsByDay } from './timeline.ts';
import type { ChargedCallsQuery, CustomerUsage } from './usage-store.ts';

export interface PreviewDependencies {
  database: Queryable;
  usageOf: (query: ChargedCallsQuery) => Promise<CustomerUsage[]>;
  platformTitle: (platform: string) => string;
  now: () => Date;
}

/** What the month comes to with the calls made so far: as it is, and with another plan from now on. */
export interface PlanPreview {
  period: Period;
  /** Days of the month on which the new plan would hold, today included. */
  daysLeft: number;
  terms: PlanTerms;
  asItIs: PricedMonth;
  changed: PricedMonth;
}

const DAY_MS = 24 * 60 * 60_000;

export async function previewPlan(
  deps: PreviewDependencies,
  wanted: { customerId: string; plan: string },
): Promise<PlanPreview> {
  const { database } = deps;
  const at = deps.now();
  const period = periodOf(at);
  const { customerId } = wanted;
  const [customer, changes, versions, usage] = await Promise.all([
    findCandidate(database, { period, customerId }),
    listPlanChanges(database, { customerIds: [customerId], period }),
    listPlanVersions(database),
    deps.usageOf({ customerIds: [customerId], from: firstDayOf(period), to: firstDayOf(nextPeriod(period)) }),
  ]);
  if (customer === undefined) throw baseErrors.not_found();
  const terms = currentTerms(versions, wanted.plan, at);
  if (terms === undefined) throw errors.unknown_plan();
  const price = (more: readonly { at: Date; previousPlan: string; plan: string }[]): PricedMonth => {
    const history = { ...customer, changes: [...changes, ...more] };
    const days = termsByDay(period, history, versions);
    return priceMonth({ period, days, usage, platformTitle: deps.platformTitle });
  };
  const daysGone = Math.floor((at.getTime() - startOf(period).getTime()) / DAY_MS);
  return {
    ...{ period, terms, daysLeft: daysIn(period) - daysGone },
    asItIs: price([]),
    changed:
      wanted.plan === customer.plan
        ? price([])
        : price([{ at, previousPlan: customer.plan, plan: wanted.plan }]),
  };
}

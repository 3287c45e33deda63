import type { Queryable } from '@libs/db';
import { baseErrors } from '@libs/runtime';
import { errors } from '../errors.ts';
import { firstDayOf, nextPeriod, type Period, periodOf, startOf } from './period.ts';
import { type DayTerms, type PlanTerms, type PricedMonth, priceMonth } from './prices/pricing.ts';
import { currentTerms, type PlanChange, termsByDay } from './prices/timeline.ts';
import { findCandidate, listPlanChanges, listPlanVersions } from './run-store.ts';
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
  /** Days of the month that the new plan would be counted for; today belongs to the dearer of the two. */
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
  const daysWith = (more: readonly PlanChange[]) =>
    termsByDay(period, { ...customer, changes: [...changes, ...more] }, versions);
  const price = (days: readonly DayTerms[]) =>
    priceMonth({ period, days, usage, platformTitle: deps.platformTitle });
  const isAnother = wanted.plan !== customer.plan;
  const changed = daysWith(isAnother ? [{ at, previousPlan: customer.plan, plan: wanted.plan }] : []);
  const today = Math.floor((at.getTime() - startOf(period).getTime()) / DAY_MS) + 1;
  const isCounted = ({ day, terms: { plan } }: DayTerms) => day >= today && plan === wanted.plan;
  return {
    ...{ period, terms, daysLeft: changed.filter(isCounted).length },
    asItIs: price(daysWith([])),
    changed: price(changed),
  };
}

export interface Plan {
  id: string;
  name: string;
  priceCents: number;
  includedCalls: number;
  overageCentsPer1000: number;
  hardStop: boolean;
}

/** Where a customer stands in the current month. */
export interface PlanState {
  plan: string;
  /** Where the gate closes; for a plan that goes on at a price, the calls that it includes. */
  limit: number;
  /** Whether the gate closes at `limit`. */
  stopsAtLimit: boolean;
  /** Calls that were kept, and those that run right now. */
  used: number;
  spendCapCents: number | null;
  monthlyCalls: number | null;
  resetsAt: Date;
}

/** Where a customer stands after a change. */
export interface ChangedPlan extends PlanState {
  previousPlan: string;
}

/** What the spend cap has to pay for on one day of a month with several plans. */
export interface CapReckoning {
  /** By whose terms the day's calls are priced: the dearest plan that held on it. */
  plan: string;
  /** Up to here calls of the month cost nothing more on the day. */
  freeCalls: number;
  /** What calls beyond cost on the day. */
  overageCentsPer1000: number;
  /** What the month costs without the day's calls, in thousandths of a cent. */
  spentMillicents: number;
}

export interface UsageGroup {
  key: string;
  calls: number;
  errors: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

export const USAGE_GROUPS = ['platform', 'day', 'tool'] as const;
export type UsageGrouping = (typeof USAGE_GROUPS)[number];

/** Shares of the limit, in percent, that customers are told of, in rising order. */
export const THRESHOLDS_PERCENT = [80, 100] as const;

/** The thresholds that are passed and not yet told of. */
export function dueThresholds(counter: {
  kept: number;
  limit: number;
  notifiedPercent: number;
  notifiedLimit: number | null;
}): number[] {
  const { kept, limit } = counter;
  if (limit <= 0) return [];
  const toldPercent = counter.notifiedLimit === limit ? counter.notifiedPercent : 0;
  return THRESHOLDS_PERCENT.filter((percent) => percent > toldPercent && kept * 100 >= limit * percent);
}

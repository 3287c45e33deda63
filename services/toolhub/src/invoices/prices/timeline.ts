import { daysIn, endOf, type Period, startOf } from '../period.ts';
import type { DayTerms, PlanTerms } from './pricing.ts';

export interface PlanChange {
  at: Date;
  previousPlan: string;
  plan: string;
}

/** What a plan cost, and gave, from a moment on. Kept for plans that were changed or removed since. */
export interface PlanVersion extends PlanTerms {
  effectiveAt: Date;
}

export interface PlanHistory {
  createdAt: Date;
  /** The plan today. */
  plan: string;
  /** All changes since the period began, in order, later ones than the period included. */
  changes: readonly PlanChange[];
}

interface Segment {
  from: Date;
  terms: PlanTerms;
}

const DAY_MS = 24 * 60 * 60_000;

/**
 * The terms of each day on which the customer existed. A day belongs to the dearest plan that held on it: who takes a
 * large plan for an hour pays it for a day. Terms are those of the moment at which the customer's time under the plan
 * began, at the earliest the start of the month, so a new price reaches nobody in the middle of one.
 */
export function termsByDay(
  period: Period,
  history: PlanHistory,
  versions: readonly PlanVersion[],
): DayTerms[] {
  const segments = segmentsOf(period, history, versions);
  const start = startOf(period).getTime();
  const days: DayTerms[] = [];
  let first = 0;
  for (let day = 1; day <= daysIn(period); day += 1) {
    const dayStart = start + (day - 1) * DAY_MS;
    while (hasBegun(segments[first + 1], dayStart)) first += 1;
    if (history.createdAt.getTime() >= dayStart + DAY_MS) continue;
    let after = first + 1;
    while (hasBegun(segments[after], dayStart + DAY_MS - 1)) after += 1;
    days.push({ day, terms: dearest(segments.slice(first, after).map(({ terms }) => terms)) });
  }
  return days;
}

/** False where there is none. */
function hasBegun(segment: Segment | undefined, moment: number): boolean {
  return segment !== undefined && segment.from.getTime() <= moment;
}

/** Those of the plan that the customer has now, whatever plan the day belongs to. */
export function presentTerms(
  period: Period,
  history: PlanHistory,
  versions: readonly PlanVersion[],
): PlanTerms {
  return (segmentsOf(period, history, versions).at(-1) as Segment).terms;
}

function segmentsOf(
  period: Period,
  { plan, changes }: PlanHistory,
  versions: readonly PlanVersion[],
): Segment[] {
  const start = startOf(period);
  const end = endOf(period);
  const first = changes[0]?.previousPlan ?? plan;
  const versionsOf = Map.groupBy(versions, (version) => version.plan);
  return [
    { from: start, plan: first },
    ...changes.filter(({ at }) => at < end).map((change) => ({ from: change.at, plan: change.plan })),
  ].map(({ from, plan: held }) => ({ from, terms: versionOf(versionsOf.get(held) ?? [], held, from) }));
}

/** What a plan costs and gives at the moment; undefined where there is none of the name. */
export function currentTerms(
  versions: readonly PlanVersion[],
  plan: string,
  at: Date,
): PlanTerms | undefined {
  return versions.some((version) => version.plan === plan) ? versionOf(versions, plan, at) : undefined;
}

/** The version that held at the moment; for a moment before the first one, the first. */
function versionOf(versions: readonly PlanVersion[], plan: string, at: Date): PlanTerms {
  const known = versions
    .filter((version) => version.plan === plan)
    .sort((a, b) => a.effectiveAt.getTime() - b.effectiveAt.getTime());
  const found = known.findLast(({ effectiveAt }) => effectiveAt <= at) ?? known[0];
  if (found === undefined) throw new RangeError(`the terms of the plan ${plan} are not known`);
  const { effectiveAt: _, ...terms } = found;
  return terms;
}

function dearest(terms: readonly PlanTerms[]): PlanTerms {
  return terms.reduce((best, next) => (next.priceCents >= best.priceCents ? next : best));
}

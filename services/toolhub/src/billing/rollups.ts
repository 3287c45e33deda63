import type { Database } from '@libs/db';
import { type CronEntry, dailyAt, type Handler } from '@libs/jobs';
import { classDurationMs, percentileMs } from './durations.ts';
import type { UsageGroup, UsageGrouping } from './plan.ts';
import { addDays, type DayRange, earlier, nextMonth, sourcesOf } from './rollup-ranges.ts';
import {
  advanceRolledBefore,
  findFirstDay,
  findRolledBefore,
  listCustomerIds,
  listRolledDays,
  listRolledGroups,
  rollUp,
} from './rollups-store.ts';
import { sumUsage } from './store.ts';

export interface UsageQuery {
  customerId: string;
  from: string;
  to: string;
  group: UsageGrouping;
}

/** Usage for the charts, in a time that does not grow with the calls. */
export interface Rollups {
  usage(query: UsageQuery): Promise<{ groups: UsageGroup[]; totalCalls: number }>;
  /** Adds up the days that are over; a repeat changes nothing. */
  roll(signal: AbortSignal): Promise<void>;
  readonly jobs: { handlers: readonly Handler[]; cron: readonly CronEntry[] };
}

const JOB = 'billing.rollups';
/** A call that ended yesterday may be counted late, by a process that hung: each night looks at these days once more. */
const DAYS_AGAIN = 2;
const CUSTOMERS_AT_ONCE = 100;
/** Parts of a month that one run adds up: more than any database has when it first gets this table. */
const PARTS_MAX = 240;

export function createRollups(deps: { database: Database; now: () => Date }): Rollups {
  const { database, now } = deps;

  async function forAllCustomers(
    work: (customerIds: readonly string[]) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    for (let after = ''; ; ) {
      signal.throwIfAborted();
      const ids = await listCustomerIds(database, { after, limit: CUSTOMERS_AT_ONCE });
      if (ids.length > 0) await work(ids);
      if (ids.length < CUSTOMERS_AT_ONCE) return;
      after = ids.at(-1) ?? after;
    }
  }

  /** The edge moves on when all customers have the days before it, so that nobody reads half of them. */
  async function roll(signal: AbortSignal): Promise<void> {
    const target = now().toISOString().slice(0, 10);
    const rolledBefore = await findRolledBefore(database);
    let from =
      rolledBefore === null ? ((await findFirstDay(database)) ?? target) : addDays(rolledBefore, -DAYS_AGAIN);
    for (let part = 0; from < target && part < PARTS_MAX; part += 1) {
      const monthEnd = nextMonth(from);
      const to = earlier(monthEnd, target);
      const month = { from: `${from.slice(0, 7)}-01`, to };
      const days = { from, to };
      await forAllCustomers(
        (customerIds) =>
          database.transaction(
            async (tx) => {
              await rollUp(tx, { ...days, customerIds, span: 'day' });
              if (to === monthEnd) await rollUp(tx, { ...month, customerIds, span: 'month' });
            },
            { report: true },
          ),
        signal,
      );
      await advanceRolledBefore(database, to);
      from = to;
    }
  }

  async function usageOfDays({ customerId }: UsageQuery, rolled: DayRange, live: DayRange) {
    const [days, rows] = await Promise.all([
      listRolledDays(database, { customerId, ...rolled }),
      sumUsage(database, { customerId, ...live, group: 'day' }),
    ]);
    const ready = days.map(({ key, calls, errors, p50Class, p95Class }) => ({
      ...{ key, calls, errors, p50Ms: classDurationMs(p50Class), p95Ms: classDurationMs(p95Class) },
    }));
    const sums = createSums();
    for (const { key, durationClass, calls, errors } of rows) {
      sums.addCalls(key, durationClass, calls);
      sums.addErrors(key, errors);
    }
    return [...ready, ...sums.groups()];
  }

  async function usageOfGroups({ customerId, group }: UsageQuery, sources: ReturnType<typeof sourcesOf>) {
    const rolled = (range: DayRange, span: 'day' | 'month') =>
      listRolledGroups(database, { ...range, customerId, grouping: group, span });
    const [live, ...parts] = await Promise.all([
      sumUsage(database, { customerId, ...sources.live, group }),
      rolled(sources.months, 'month'),
      ...sources.days.map((range) => rolled(range, 'day')),
    ]);
    const sums = createSums();
    for (const { key, errors, classes, classCalls } of parts.flat()) {
      sums.addErrors(key, errors);
      for (const [index, durationClass] of classes.entries())
        sums.addCalls(key, durationClass, classCalls[index] ?? 0);
    }
    for (const { key, durationClass, calls, errors } of live) {
      sums.addCalls(key, durationClass, calls);
      sums.addErrors(key, errors);
    }
    return sums.groups();
  }

  return {
    async usage(query) {
      const sources = sourcesOf(query, await findRolledBefore(database));
      const rolled = { from: query.from, to: sources.live.from };
      const groups =
        query.group === 'day'
          ? await usageOfDays(query, rolled, sources.live)
          : await usageOfGroups(query, sources);
      return { groups, totalCalls: groups.reduce((sum, { calls }) => sum + calls, 0) };
    },
    roll,
    jobs: {
      handlers: [{ name: JOB, handle: (_jobs, { signal }) => roll(signal) }],
      cron: [{ name: JOB, schedule: dailyAt(1, 30) }],
    },
  };
}

/** Adds up calls by key and class of duration. */
function createSums() {
  const byKey = new Map<string, { errors: number; calls: Map<number, number> }>();
  function sumOf(key: string) {
    let sum = byKey.get(key);
    if (sum === undefined) {
      sum = { errors: 0, calls: new Map() };
      byKey.set(key, sum);
    }
    return sum;
  }
  return {
    addErrors(key: string, errors: number): void {
      sumOf(key).errors += errors;
    },
    addCalls(key: string, durationClass: number, count: number): void {
      const { calls } = sumOf(key);
      calls.set(durationClass, (calls.get(durationClass) ?? 0) + count);
    },
    /** By key. */
    groups(): UsageGroup[] {
      return [...byKey]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, { errors, calls }]) => {
          const counts = [...calls].map(([durationClass, number]) => ({ durationClass, calls: number }));
          return {
            ...{ key, errors, calls: counts.reduce((sum, each) => sum + each.calls, 0) },
            ...{ p50Ms: percentileMs(counts, 0.5), p95Ms: percentileMs(counts, 0.95) },
          };
        });
    },
  };
}

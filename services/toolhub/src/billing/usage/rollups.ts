import type { Database } from '@libs/db';
import { type CronEntry, dailyAt, type Handler } from '@libs/jobs';
import { LRUCache } from 'lru-cache';
import type { UsageGroup, UsageGrouping } from '../plan.ts';
import { classDurationMs } from './durations.ts';
import { createRecentDays } from './recent-days.ts';
import { deleteRecent, type ToolDay } from './recent-store.ts';
import { addDays, type DayRange, earlier, nextMonth, sourcesOf, type UsageSources } from './rollup-ranges.ts';
import {
  advanceRolledBefore,
  findFirstDay,
  findProgress,
  findTimesCounted,
  listCustomerIds,
  listRolledDays,
  listRolledGroups,
  type RollupProgress,
  rollUp,
} from './rollups-store.ts';
import { UsageCounts } from './usage-counts.ts';

export interface UsageQuery {
  customerId: string;
  from: string;
  to: string;
  group: UsageGrouping;
}

export interface UsageSums {
  groups: readonly UsageGroup[];
  totalCalls: number;
}

/** Usage for the charts, in a time that does not grow with the calls. */
export interface Rollups {
  usage(query: UsageQuery): Promise<UsageSums>;
  /** Adds up the days that are over; a repeat changes nothing. */
  roll(signal: AbortSignal): Promise<void>;
  readonly jobs: { handlers: readonly Handler[]; cron: readonly CronEntry[] };
}

const JOB = 'billing.rollups';
/** A call that ended yesterday may be counted late, by a process that hung: each night looks at these days once more. */
const DAYS_AGAIN = 2;
const CUSTOMERS_AT_ONCE = 100;
/** Under which calls of sessions are counted that belong to no customer. */
const NO_CUSTOMER = 'internal';
/** Parts of a month that one run adds up: more than any database has when it first gets this table. */
const PARTS_MAX = 240;
/** Charts that are remembered: those of pages that are open, or opened again. */
const ANSWERS_MAX = 200;
/** Platforms and tools, each of some kilobyte, whose whole days are remembered. */
const ROLLED_KEYS_MAX = 4_000;
const DAYS_AS_LARGE_AS_A_KEY = 10;

/** What whole days come to. */
interface RolledPart {
  ready: readonly UsageGroup[];
  sums: UsageCounts;
}

const keyOf = ({ day, platform, tool }: ToolDay, group: UsageGrouping) => ({ day, platform, tool })[group];

export function createRollups(deps: { database: Database; now: () => Date }): Rollups {
  const { database, now } = deps;
  const recentDays = createRecentDays({ database });
  const answers = new LRUCache<string, { runs: number; timesCounted: number; sums: UsageSums }>({
    max: ANSWERS_MAX,
  });
  const rolledParts = new LRUCache<string, RolledPart>({
    maxSize: ROLLED_KEYS_MAX,
    sizeCalculation: ({ ready, sums }) => 1 + sums.size + Math.ceil(ready.length / DAYS_AS_LARGE_AS_A_KEY),
  });

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
    const { rolledBefore } = await findProgress(database);
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
    const forget = (customerIds: readonly string[]) => deleteRecent(database, { customerIds, before: from });
    await forAllCustomers(forget, signal);
    await forget([NO_CUSTOMER]);
  }

  /** Chart of days: each of them is ready. */
  async function readDays(customerId: string, range: DayRange): Promise<RolledPart> {
    const days = await listRolledDays(database, { customerId, ...range });
    const ready = days.map(({ key, calls, errors, p50Class, p95Class }) => ({
      ...{ key, calls, errors, p50Ms: classDurationMs(p50Class), p95Ms: classDurationMs(p95Class) },
    }));
    return { ready, sums: new UsageCounts() };
  }

  async function readGroups(query: UsageQuery, sources: UsageSources): Promise<RolledPart> {
    const { customerId, group: grouping } = query;
    const rolled = (range: DayRange, span: 'day' | 'month') =>
      listRolledGroups(database, { ...range, customerId, grouping, span });
    const parts = await Promise.all([
      rolled(sources.months, 'month'),
      ...sources.days.map((range) => rolled(range, 'day')),
    ]);
    const sums = new UsageCounts();
    for (const { key, errors, calls } of parts.flat()) sums.add(key, errors, calls);
    return { ready: [], sums };
  }

  /** Whole days are the same until the next night. */
  async function rolledPart(query: UsageQuery, sources: UsageSources, runs: number): Promise<RolledPart> {
    const { customerId, from, group } = query;
    const part = [customerId, group, from, sources.live.from, runs].join(' ');
    const known = rolledParts.get(part);
    if (known !== undefined) return known;
    const read =
      group === 'day'
        ? await readDays(customerId, { from, to: sources.live.from })
        : await readGroups(query, sources);
    rolledParts.set(part, read);
    return read;
  }

  async function read(query: UsageQuery, { rolledBefore, runs }: RollupProgress): Promise<UsageSums> {
    const { customerId, group } = query;
    const sources = sourcesOf(query, rolledBefore);
    const [rolled, live] = await Promise.all([
      rolledPart(query, sources, runs),
      recentDays.read({ customerId, ...sources.live }),
    ]);
    const sums = new UsageCounts(rolled.sums);
    for (const toolDay of live) sums.add(keyOf(toolDay, group), toolDay.errors, toolDay.calls);
    const groups = [...rolled.ready, ...sums.groups()];
    return { groups, totalCalls: groups.reduce((sum, { calls }) => sum + calls, 0) };
  }

  return {
    /** The numbers are read before the rows, so that what is remembered is never older than they say. */
    async usage(query) {
      const { customerId, from, to, group } = query;
      const [progress, timesCounted] = await Promise.all([
        findProgress(database),
        findTimesCounted(database, customerId),
      ]);
      const question = [customerId, group, from, to].join(' ');
      const { runs } = progress;
      const known = answers.get(question);
      if (known?.runs === runs && known.timesCounted === timesCounted) return known.sums;
      const sums = await read(query, progress);
      answers.set(question, { runs, timesCounted, sums });
      return sums;
    },
    roll,
    jobs: {
      handlers: [{ name: JOB, handle: (_jobs, { signal }) => roll(signal) }],
      cron: [{ name: JOB, schedule: dailyAt(1, 30) }],
    },
  };
}

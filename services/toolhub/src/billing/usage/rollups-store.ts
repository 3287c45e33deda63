import type { Queryable } from '@libs/db';
import type { UsageGrouping } from '../plan.ts';
import type { DayRange } from './rollup-ranges.ts';
import { type ClassCalls, classCallsOf } from './usage-counts.ts';

export type RollupSpan = 'day' | 'month';

const PROGRESS = 'usage';

export interface RollupProgress {
  /** The first day that is not in the rollups; null before the first run. */
  rolledBefore: string | null;
  /** Rises whenever rows of the rollups may have changed. */
  runs: number;
}

export async function findProgress(db: Queryable): Promise<RollupProgress> {
  const { rows } = await db.query<{ rolled_before: string; runs: number }>(
    { name: 'usage.progress', text: 'select rolled_before, runs from usage_rollup_progress where name = $1' },
    [PROGRESS],
  );
  return { rolledBefore: rows[0]?.rolled_before ?? null, runs: rows[0]?.runs ?? 0 };
}

/** Rises with every write to the customer's days. */
export async function findTimesCounted(db: Queryable, customerId: string): Promise<number> {
  const { rows } = await db.query<{ settled: number }>(
    {
      name: 'usage.times_counted',
      text: 'select coalesce(sum(settled), 0)::bigint as settled from usage_counters where customer_id = $1',
    },
    [customerId],
  );
  return rows[0]?.settled ?? 0;
}

/** Never back. */
export async function advanceRolledBefore(db: Queryable, day: string): Promise<void> {
  await db.query(
    `insert into usage_rollup_progress as p (name, rolled_before, runs) values ($1, $2, 1)
     on conflict (name) do update set rolled_before = greatest(p.rolled_before, excluded.rolled_before),
       runs = p.runs + 1`,
    [PROGRESS, day],
  );
}

/** The day on which the first customer came; null where there is none. */
export async function findFirstDay(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ day: string | null }>(
    `select (min(created_at) at time zone 'UTC')::date as day from customers`,
  );
  return rows[0]?.day ?? null;
}

export async function listCustomerIds(
  db: Queryable,
  query: { after: string; limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    'select id from customers where id > $1 order by id limit $2',
    [query.after, query.limit],
  );
  return rows.map(({ id }) => id);
}

// Shares are multiplied as floating point numbers, as `percentileMs` does it, so that both name the same class.
const ROLL = `
with raw as (
  select customer_id, case when $4 = 'month' then $2::date else day end as starts_on, day, platform, tool,
    duration_class, calls, errors
  from usage_daily where customer_id = any($1) and day >= $2 and day < $3
), keyed as (
  select customer_id, 'day' as grouping, starts_on, day::text as key, duration_class, sum(calls) as calls,
    sum(errors) as errors
  from raw where $4 = 'day' group by 1, 3, 4, 5
  union all
  select customer_id, 'platform', starts_on, platform, duration_class, sum(calls), sum(errors)
  from raw group by 1, 3, 4, 5
  union all
  select customer_id, 'tool', starts_on, tool, duration_class, sum(calls), sum(errors)
  from raw group by 1, 3, 4, 5
), ranked as (
  select *, sum(calls) over (partition by customer_id, grouping, starts_on, key order by duration_class) as running,
    sum(calls) over (partition by customer_id, grouping, starts_on, key) as total
  from keyed where calls > 0
)
insert into usage_rollups (customer_id, grouping, span, starts_on, key, calls, errors, p50_class, p95_class, classes,
  class_calls)
select customer_id, grouping, $4, starts_on, key, total, sum(errors),
  min(duration_class) filter (where running >= ceil(total::float8 * 0.5::float8)),
  min(duration_class) filter (where running >= ceil(total::float8 * 0.95::float8)),
  array_agg(duration_class order by duration_class), array_agg(calls::bigint order by duration_class)
from ranked group by customer_id, grouping, starts_on, key, total
order by customer_id, grouping, starts_on, key
on conflict (customer_id, grouping, span, starts_on, key) do update set calls = excluded.calls,
  errors = excluded.errors, p50_class = excluded.p50_class, p95_class = excluded.p95_class,
  classes = excluded.classes, class_calls = excluded.class_calls`;

/** Adds up the days of these customers, each by itself, or all of them as the month that they are. */
export async function rollUp(
  db: Queryable,
  { customerIds, from, to, span }: DayRange & { customerIds: readonly string[]; span: RollupSpan },
): Promise<void> {
  await db.query(ROLL, [customerIds, from, to, span]);
}

export interface RolledDay {
  key: string;
  calls: number;
  errors: number;
  p50Class: number;
  p95Class: number;
}

/** For the chart of days: one row of each. */
export async function listRolledDays(
  db: Queryable,
  query: DayRange & { customerId: string },
): Promise<RolledDay[]> {
  const { rows } = await db.query<{
    key: string;
    calls: number;
    errors: number;
    p50_class: number;
    p95_class: number;
  }>(
    {
      name: 'usage.rolled_days',
      text: `select key, calls, errors, p50_class, p95_class from usage_rollups
             where customer_id = $1 and grouping = 'day' and span = 'day' and starts_on >= $2 and starts_on < $3
             order by starts_on`,
    },
    [query.customerId, query.from, query.to],
  );
  return rows.map((row) => ({
    ...{ key: row.key, calls: row.calls, errors: row.errors },
    ...{ p50Class: row.p50_class, p95Class: row.p95_class },
  }));
}

export interface RolledGroup {
  key: string;
  errors: number;
  calls: ClassCalls;
}

/** The rows of whole days, or of whole months, by platform or tool. */
export async function listRolledGroups(
  db: Queryable,
  query: DayRange & { customerId: string; grouping: UsageGrouping; span: RollupSpan },
): Promise<RolledGroup[]> {
  if (query.from >= query.to) return [];
  const { rows } = await db.query<{ key: string; errors: number; classes: string; class_calls: string }>(
    {
      name: 'usage.rolled_groups',
      // As text that one split takes apart: there are tens of thousands of numbers in a year.
      text: `select key, errors, array_to_string(classes, ' ') as classes,
               array_to_string(class_calls, ' ') as class_calls
             from usage_rollups
             where customer_id = $1 and grouping = $2 and span = $3 and starts_on >= $4 and starts_on < $5`,
    },
    [query.customerId, query.grouping, query.span, query.from, query.to],
  );
  return rows.map((row) => ({
    ...{ key: row.key, errors: row.errors },
    calls: classCallsOf(row.classes.split(' ').map(Number), row.class_calls.split(' ').map(Number)),
  }));
}

import type { Queryable } from '@libs/db';

export interface CounterState {
  customerId: string;
  month: string;
  kept: number;
  /** What thresholds are measured against: where the gate closes, else the calls that the plan includes. */
  limit: number;
  /** The highest threshold of `notifiedLimit` that was told. */
  notifiedPercent: number;
  notifiedLimit: number | null;
}

interface SqlMoment {
  month: string;
  /** What was reckoned for this day holds, and for a later one: the clocks of two processes differ at midnight. */
  day: string;
}

const isReckoned = (day: string) =>
  `coalesce(s.reckoned_day >= ${day} and s.reckoned_change = s.updated_at, false)`;

/**
 * Where the gate closes by the plan (p) and the settings (s); null where it never does. The limit of the plan of now holds at
 * once. Only in a month with several plans something was reckoned, and then it closes there where that is less. A plan that stops
 * does so at its own limit, also when an operator has changed that since.
 */
export const stopAt = ({ day }: Pick<SqlMoment, 'day'>) => `least(
  calls_stop_at(s.monthly_calls, s.spend_cap_cents, p.hard_stop, p.included_calls, p.price_cents, p.overage_cents_per_1000),
  case when ${isReckoned(day)} and s.reckoned_plan is not null and s.reckoned_cents_per_1000 > 0
      and not (p.hard_stop and p.id = s.reckoned_plan)
    then s.reckoned_free_calls + greatest(s.spend_cap_cents * 1000 - s.reckoned_millicents, 0) / s.reckoned_cents_per_1000
  end
)`;

/** Whether the settings (s) have a cap and were changed in the month, by which the plan may have been, too. */
export const isUnreckoned = ({ month, day }: SqlMoment) => `(
  s.spend_cap_cents is not null and s.updated_at >= ${month}::timestamp at time zone 'UTC' and not ${isReckoned(day)}
)`;

const ofCounter: SqlMoment = { month: 'n.month', day: 'n.month' };

/** Counters of months, each with what it is measured against; that is 0, and nothing is told, until it is reckoned. */
export const counterStates = (counters: 'counted' | 'usage_counters') => `
select n.customer_id, n.month, n.kept, n.notified_percent, n.notified_limit,
  case when ${isUnreckoned(ofCounter)} then 0 else coalesce(${stopAt(ofCounter)}, p.included_calls) end as "limit"
from ${counters} n
join customers c on c.id = n.customer_id
join plans p on p.id = c.plan
left join billing_settings s on s.customer_id = n.customer_id`;

export interface CounterRow {
  customer_id: string;
  month: string;
  kept: number;
  notified_percent: number;
  notified_limit: number | null;
  limit: number;
}

export function fromCounterRow(row: CounterRow): CounterState {
  return {
    customerId: row.customer_id,
    month: row.month,
    kept: row.kept,
    limit: row.limit,
    notifiedPercent: row.notified_percent,
    notifiedLimit: row.notified_limit,
  };
}

export async function findCounter(
  tx: Queryable,
  counter: { customerId: string; month: string },
): Promise<CounterState | null> {
  const { rows } = await tx.query<CounterRow>(
    `${counterStates('usage_counters')} where n.customer_id = $1 and n.month = $2`,
    [counter.customerId, counter.month],
  );
  return rows[0] === undefined ? null : fromCounterRow(rows[0]);
}

/** Counters whose last threshold was not told, because the process died between counting and telling. */
export async function listUntoldCounters(
  db: Queryable,
  query: { month: string; thresholds: readonly number[]; limit: number },
): Promise<CounterState[]> {
  const { rows } = await db.query<CounterRow>(
    `select * from (${counterStates('usage_counters')} where n.month = $1 and n.kept > 0) as counters
     where "limit" > 0 and exists (
       select from unnest($2::int[]) as t (percent)
       where percent > case when notified_limit = "limit" then notified_percent else 0 end
         and kept * 100 >= "limit" * percent
     )
     order by customer_id limit $3`,
    [query.month, query.thresholds, query.limit],
  );
  return rows.map(fromCounterRow);
}

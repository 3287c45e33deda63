import type { Queryable } from '@libs/db';

export interface CounterState {
  customerId: string;
  month: string;
  kept: number;
  /** What thresholds are measured against: where the gate closes, else the calls that the invoice includes. */
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

const startOf = (month: string) => `${month}::timestamp at time zone 'UTC'`;
const isChangedIn = (month: string) => `s.updated_at >= ${startOf(month)}`;

/** What plans cost and gave, from when until when; moments by milliseconds, as invoices compare them. */
const TERMS = `(
  select plan, included_calls, price_cents, overage_cents_per_1000, hard_stop,
    case when row_number() over versions = 1 then '-infinity' else date_trunc('milliseconds', effective_at) end as since,
    coalesce(date_trunc('milliseconds', lead(effective_at) over versions), 'infinity') as until
  from plan_terms window versions as (partition by plan order by effective_at)
)`;

/** When the customer took the plan, which matters where the settings (s) were changed in the month. */
const takenAt = (month: string, customer: string) => `case when ${isChangedIn(month)} then (
  select max(d.at) from plan_changes d where d.customer_id = ${customer} and d.plan <> d.previous_plan
) end`;

/** The same for all customers: spread tables give it to many of them in no other way. */
const TAKEN = `left join (
  select customer_id, max(at) as taken_at from plan_changes where plan <> previous_plan group by customer_id
) d on d.customer_id = c.id`;

interface OfWhom {
  /** The customer's id, where it is the only one: by it, and not by that of a row, spread tables are asked on one server. */
  customer?: string;
  /** Of many customers, and the tables are spread. */
  isSpreadList?: boolean | undefined;
}

/**
 * The plan (p) of a customer (c), the settings (s), and the terms (t) by which the month under that plan is priced: as in
 * `invoices/prices/timeline.ts` those that held when the customer took it, at the earliest when the month began.
 */
export function joinPlan(
  { month }: Pick<SqlMoment, 'month'>,
  { customer = 'c.id', isSpreadList = false }: OfWhom = {},
): string {
  const taken = isSpreadList ? 'd.taken_at' : takenAt(month, customer);
  const heldAt = `greatest(${startOf(month)}, ${taken})`;
  return `
join plans p on p.id = c.plan
left join billing_settings s on s.customer_id = c.id ${isSpreadList ? TAKEN : ''}
left join ${TERMS} t on t.plan = p.id and t.since <= ${heldAt} and t.until > ${heldAt}`;
}

/** What the invoice counts as included, which for a plan that goes on at a price is what the customer is shown. */
export const includedCalls = 'coalesce(t.included_calls, p.included_calls)';

/** Whether an operator has made the plan go on at a price, which the invoice cannot charge before the terms of the month have one. */
const goesOnUnpriced = '(t.hard_stop and p.overage_cents_per_1000 > 0)';

/**
 * Where the gate closes by what `joinPlan` gives; null where it never does. A plan that stops does so at its own limit, also when
 * an operator has changed that since; one that stopped, and goes on for who takes it now, at the larger of both limits. The cap is measured by the terms of the invoice; in a month with several plans something
 * was reckoned, and it closes there where that is less.
 */
export const stopAt = ({ day }: Pick<SqlMoment, 'day'>) => `least(
  calls_stop_at(s.monthly_calls, null, p.hard_stop or ${goesOnUnpriced},
    case when p.hard_stop then p.included_calls else greatest(p.included_calls, t.included_calls) end,
    p.price_cents, p.overage_cents_per_1000),
  calls_stop_at(null, s.spend_cap_cents, false, t.included_calls, t.price_cents, t.overage_cents_per_1000),
  case when ${isReckoned(day)} and s.reckoned_plan is not null and s.reckoned_cents_per_1000 > 0
    then s.reckoned_free_calls + greatest(s.spend_cap_cents * 1000 - s.reckoned_millicents, 0) / s.reckoned_cents_per_1000
  end
)`;

/** Whether the settings (s) have a cap and were changed in the month, by which the plan may have been, too. */
export const isUnreckoned = ({ month, day }: SqlMoment) => `(
  s.spend_cap_cents is not null and ${isChangedIn(month)} and not ${isReckoned(day)}
)`;

const ofCounter: SqlMoment = { month: 'n.month', day: 'n.month' };

/** Counters of months, each with what it is measured against; that is 0, and nothing is told, until it is reckoned. */
export const counterStates = (counters: 'counted' | 'usage_counters', whom: OfWhom = {}) => `
select n.customer_id, n.month, n.kept, n.notified_percent, n.notified_limit,
  case when ${isUnreckoned(ofCounter)} then 0 else coalesce(${stopAt(ofCounter)}, ${includedCalls}) end as "limit"
from ${counters} n
join customers c on c.id = n.customer_id ${joinPlan(ofCounter, whom)}`;

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
    `${counterStates('usage_counters', { customer: '$1' })} where n.customer_id = $1 and n.month = $2`,
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
    `select * from (${counterStates('usage_counters', { isSpreadList: db.isSpread })} where n.month = $1 and n.kept > 0) as counters
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

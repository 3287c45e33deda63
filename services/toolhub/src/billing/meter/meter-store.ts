import type { Queryable } from '@libs/db';
import {
  type CounterRow,
  type CounterState,
  counterStates,
  fromCounterRow,
  isUnreckoned,
  joinPlan,
  stopAt,
} from '../counter-store.ts';
import { reserveUnitsApart, settleUnitsApart } from './spread-store.ts';
import type { GrantedUnits, SettledBatch, WantedUnits } from './units.ts';

/*
 * All statements below lock in one order: the meter, the holder, then counters by customer and month, then reservations, then
 * each table of usage by its key. Processes that write for the same customers therefore wait for each other but never dead-lock.
 *
 * Options tried for the gate, on 2 cores with durable commits, 64 callers on one customer (bench/toolhub, T3):
 * one UPDATE per call over 16 connections is bound by the row lock, which is held for a whole commit; an advisory lock
 * or SELECT … FOR UPDATE before it only adds a round trip; counting in memory and writing later lets more than N
 * through when two processes count. Written together, a commit carries all calls that wait.
 *
 * The arrays go through a materialized row: where the planner sees their length it plans each statement anew for it,
 * which took longer than running it (1.4 ms against 0.5 ms for settling).
 */

const RESERVE = `
with input as materialized (
  select $2::text[] as customers, $3::date[] as months, $4::date[] as days, $5::bigint[] as units
), alive as materialized (
  select id from call_holders where id = $1 for key share
), wanted as (
  select w.customer_id, w.month, w.units, ${stopAt({ day: 'w.day' })} as stop_at,
    ${isUnreckoned({ month: 'w.month', day: 'w.day' })} as is_unreckoned
  from input, unnest(customers, months, days, input.units) as w (customer_id, month, day, units)
  join customers c on c.id = w.customer_id ${joinPlan({ month: 'w.month' })}
  where exists (select from alive)
), counted as (
  insert into usage_counters as u (customer_id, month, used, asked, granted, stop_at)
  select customer_id, month, least(units, coalesce(stop_at, units)), units, least(units, coalesce(stop_at, units)), stop_at
  from wanted where not is_unreckoned order by customer_id, month
  on conflict (customer_id, month) do update set
    asked = excluded.asked,
    stop_at = excluded.stop_at,
    granted = greatest(least(excluded.asked, coalesce(excluded.stop_at - u.used, excluded.asked)), 0),
    used = u.used + greatest(least(excluded.asked, coalesce(excluded.stop_at - u.used, excluded.asked)), 0)
  returning customer_id, month, granted, used, stop_at
), held as (
  insert into usage_reservations as r (customer_id, month, holder, units)
  select customer_id, month, $1, granted from counted where granted > 0 order by customer_id, month
  on conflict (customer_id, month, holder) do update set units = r.units + excluded.units
)
select customer_id, month, granted, used, stop_at, false as is_unreckoned, true as alive from counted
union all select customer_id, month, 0, 0, null, true, true from wanted where is_unreckoned
union all select null, null, null, null, null, false, exists (select from alive)`;

interface GrantRow {
  customer_id: string | null;
  month: string;
  granted: number;
  used: number;
  stop_at: number | null;
  is_unreckoned: boolean;
  alive: boolean;
}

/** Grants each customer as many of the wanted units as the limit leaves; null when the holder's lease is gone. */
export async function reserveUnits(
  db: Queryable,
  holder: string,
  wanted: readonly WantedUnits[],
): Promise<GrantedUnits[] | null> {
  if (db.isSpread) return reserveUnitsApart(db, holder, wanted);
  const { rows } = await db.query<GrantRow>({ name: 'billing.reserve', text: RESERVE }, [
    holder,
    wanted.map(({ customerId }) => customerId),
    wanted.map(({ month }) => month),
    wanted.map(({ day }) => day),
    wanted.map(({ units }) => units),
  ]);
  if (!rows.some(({ alive }) => alive)) return null;
  return rows.flatMap((row) =>
    row.customer_id === null
      ? []
      : {
          customerId: row.customer_id,
          month: row.month,
          granted: row.granted,
          used: row.used,
          stopAt: row.stop_at,
          isUnreckoned: row.is_unreckoned,
        },
  );
}

/*
 * Where no answer came, nobody knows whether a batch was counted, and the first try may even be at work still when the
 * second comes. Both begin at the row of their meter, one waits there for the other, and who finds its number there counts
 * nothing. The rows that settling changes anyway cannot tell that: a counter belongs to all processes, and holders and
 * their reservations are gone after a sweep. The row costs some 25 µs of 440, for all calls of a batch together; a number
 * in the holder's row instead, which is locked anyway, cost the same.
 *
 * A holder that is gone was swept: its units are back already, so what it kept is counted anew and nothing is closed.
 * The key share lock makes the sweep wait for us, or us for the sweep, never both at once.
 */
const SETTLE = `
with batch as (
  insert into meters as m (id, batch, counted_at) values ($14, $15, statement_timestamp())
  on conflict (id) do update set batch = excluded.batch, counted_at = excluded.counted_at where m.batch < excluded.batch
  returning id
), input as materialized (
  select $1::text[] as customers, $2::date[] as months, $3::text[] as holders, $4::bigint[] as kept,
    $5::bigint[] as returned, $6::text[] as usage_customers, $7::date[] as days, $8::text[] as platforms,
    $9::text[] as tools, $10::smallint[] as classes, $11::bigint[] as calls, $12::bigint[] as errors,
    $13::bigint[] as given_back
  from batch
), alive as materialized (
  select h.id from input, call_holders h where h.id = any(input.holders) for key share of h
), settled as (
  select s.customer_id, s.month, s.holder, s.kept, s.returned, a.id is not null as alive
  from input, unnest(customers, months, holders, input.kept, input.returned)
    as s (customer_id, month, holder, kept, returned)
  left join alive a on a.id = s.holder
), counted as (
  insert into usage_counters as u (customer_id, month, used, kept, settled)
  select customer_id, month, sum(case when alive then -returned else kept end), sum(kept), 1
  from settled group by customer_id, month order by customer_id, month
  on conflict (customer_id, month) do update set used = u.used + excluded.used, kept = u.kept + excluded.kept,
    settled = u.settled + 1
  returning customer_id, month, kept, notified_percent, notified_limit
), closed as (
  update usage_reservations r set units = r.units - s.kept - s.returned
  from settled s join counted c on c.customer_id = s.customer_id and c.month = s.month
  where s.alive and r.customer_id = s.customer_id and r.month = s.month and r.holder = s.holder
), rolled as (
  insert into usage_daily as d (customer_id, day, platform, tool, duration_class, calls, errors, given_back)
  select n.customer_id, n.day, n.platform, n.tool, n.duration_class, n.calls, n.errors, n.given_back
  from input, unnest(usage_customers, days, platforms, tools, classes, input.calls, input.errors, input.given_back)
    as n (customer_id, day, platform, tool, duration_class, calls, errors, given_back)
  order by customer_id, day, tool, duration_class
  on conflict (customer_id, day, tool, duration_class) do update set
    calls = d.calls + excluded.calls, errors = d.errors + excluded.errors,
    given_back = d.given_back + excluded.given_back
), told as (
  insert into usage_recent as r (customer_id, day, tool, calls)
  select n.customer_id, n.day, n.tool, sum(n.calls)
  from input, unnest(usage_customers, days, tools, input.calls) as n (customer_id, day, tool, calls)
  group by n.customer_id, n.day, n.tool order by n.customer_id, n.day, n.tool
  on conflict (customer_id, day, tool) do update set calls = r.calls + excluded.calls
)
select counters.* from batch left join (${counterStates('counted')}) as counters on true`;

/** Keeps or gives back reserved units and adds up usage, in one statement; null where this batch was counted before. */
export async function settleUnits(db: Queryable, batch: SettledBatch): Promise<CounterState[] | null> {
  if (db.isSpread) return settleUnitsApart(db, batch);
  const { settled, usage } = batch;
  const { rows } = await db.query<CounterRow | NoCounter>({ name: 'billing.settle', text: SETTLE }, [
    settled.map(({ customerId }) => customerId),
    settled.map(({ month }) => month),
    settled.map(({ holder }) => holder),
    settled.map(({ kept }) => kept),
    settled.map(({ returned }) => returned),
    usage.map(({ customerId }) => customerId),
    usage.map(({ day }) => day),
    usage.map(({ platform }) => platform),
    usage.map(({ tool }) => tool),
    usage.map(({ durationClass }) => durationClass),
    usage.map(({ calls }) => calls),
    usage.map(({ errors }) => errors),
    usage.map(({ givenBack }) => givenBack),
    ...[batch.meter, batch.number],
  ]);
  return rows.length === 0
    ? null
    : rows.flatMap((row) => (row.customer_id === null ? [] : fromCounterRow(row)));
}

/** Of a batch that was counted and had no counter, such as the calls of internal sessions. */
interface NoCounter {
  customer_id: null;
}

/** Forgets how far processes had counted that count no more. */
export async function deleteMeters(db: Queryable, options: { idleMs: number; limit: number }): Promise<void> {
  await db.query(
    `delete from meters where id in (
       select id from meters where counted_at < statement_timestamp() - $1 * interval '1 millisecond' limit $2
     )`,
    [options.idleMs, options.limit],
  );
}

/** Makes the lease, or moves its end on; false when it had run out and the sweep took it. */
export async function renewHolder(
  db: Queryable,
  holder: string,
  options: { leaseMs: number; create: boolean },
): Promise<boolean> {
  const text = options.create
    ? `insert into call_holders (id, expires_at) values ($1, statement_timestamp() + $2 * interval '1 millisecond')`
    : `update call_holders set expires_at = statement_timestamp() + $2 * interval '1 millisecond' where id = $1`;
  const { rowCount } = await db.query(text, [holder, options.leaseMs]);
  return rowCount === 1;
}

/** Ends a lease at once: the next sweep gives back what the holder still had open. */
export async function expireHolder(db: Queryable, holder: string): Promise<void> {
  await db.query(`update call_holders set expires_at = '-infinity' where id = $1`, [holder]);
}

const GIVE_BACK = `
with gone as (
  delete from usage_reservations where holder = any($1) returning customer_id, month, units
)
insert into usage_counters as u (customer_id, month, used)
select customer_id, month, sum(units) from gone where units <> 0
group by customer_id, month order by customer_id, month
on conflict (customer_id, month) do update set used = u.used - excluded.used`;

/** Deletes the leases that ran out and gives their units back; call it in a transaction. */
export async function sweepHolders(tx: Queryable, holdersMax: number): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(
    `delete from call_holders where id in (
       select id from call_holders where expires_at < statement_timestamp() order by id limit $1 for update skip locked
     ) returning id`,
    [holdersMax],
  );
  if (rows.length > 0) await tx.query(GIVE_BACK, [rows.map(({ id }) => id)]);
  return rows.length;
}

/**
 * True for the one caller that may tell of this threshold: a limit that was set before in this month was told of then.
 * A month has room for so many limits, so that setting ever new ones sends no end of mail.
 */
export async function markNotified(
  tx: Queryable,
  told: { customerId: string; month: string; limit: number; percent: number; toldMax: number },
): Promise<boolean> {
  const { customerId, month, limit, percent } = told;
  await tx.query(
    `update usage_counters set notified_limit = $3,
       notified_percent = case when notified_limit = $3 then greatest(notified_percent, $4) else $4 end
     where customer_id = $1 and month = $2`,
    [customerId, month, limit, percent],
  );
  // By what came back: where tables are spread, the count has rows that were there before, too.
  const { rows } = await tx.query(
    `insert into told_thresholds (customer_id, month, calls_limit, percent)
     select $1, $2, $3, $4
     where (select count(*) from told_thresholds where customer_id = $1 and month = $2) < $5
     on conflict do nothing returning percent`,
    [customerId, month, limit, percent, told.toldMax],
  );
  return rows.length === 1;
}

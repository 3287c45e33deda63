import { type Queryable, withinTransaction } from '@libs/db';
import { type CounterState, findCounter, isUnreckoned, joinPlan, stopAt } from '../counter-store.ts';
import type { GrantedUnits, SettledBatch, SettledUnits, UsageCount, WantedUnits } from './units.ts';

/*
 * The statements of the gate for tables that are spread over servers: each customer by statements of its own, in the one
 * order that everybody locks in (the meter, the holder, counters by customer and month, reservations, days), in one transaction.
 */

export function reserveUnitsApart(
  db: Queryable,
  holder: string,
  wanted: readonly WantedUnits[],
): Promise<GrantedUnits[] | null> {
  return withinTransaction(db, async (tx) => {
    if ((await lockAlive(tx, [holder])).size === 0) return null;
    const granted: GrantedUnits[] = [];
    for (const one of wanted.toSorted(compareMonths)) {
      const limit = await findLimit(tx, one);
      if (limit !== undefined) granted.push(await reserve(tx, holder, one, limit));
    }
    return granted;
  });
}

interface OfMonth {
  customerId: string;
  month: string;
}

function compareMonths(a: OfMonth, b: OfMonth): number {
  if (a.customerId !== b.customerId) return a.customerId < b.customerId ? -1 : 1;
  if (a.month === b.month) return 0;
  return a.month < b.month ? -1 : 1;
}

async function lockAlive(tx: Queryable, holders: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    {
      name: 'billing.lock_holders',
      text: 'select id from call_holders where id = any($1) order by id for key share',
    },
    [holders],
  );
  return new Set(rows.map(({ id }) => id));
}

interface LimitRow {
  stop_at: number | null;
  is_unreckoned: boolean;
}

/** Undefined where there is no such customer. */
async function findLimit(tx: Queryable, one: WantedUnits): Promise<LimitRow | undefined> {
  const { rows } = await tx.query<LimitRow>(
    {
      name: 'billing.limit',
      text: `select ${stopAt({ day: '$3::date' })} as stop_at,
               ${isUnreckoned({ month: '$2::date', day: '$3::date' })} as is_unreckoned
             from customers c ${joinPlan({ month: '$2::date' }, { customer: '$1' })}
             where c.id = $1`,
    },
    [one.customerId, one.month, one.day],
  );
  return rows[0];
}

async function reserve(
  tx: Queryable,
  holder: string,
  { customerId, month, units }: WantedUnits,
  { stop_at: closesAt, is_unreckoned: unreckoned }: LimitRow,
): Promise<GrantedUnits> {
  const grant = { customerId, month, stopAt: closesAt, isUnreckoned: unreckoned };
  if (unreckoned) return { ...grant, granted: 0, used: 0 };
  const first = Math.min(units, closesAt ?? units);
  const { rows } = await tx.query<{ granted: number; used: number }>(
    { name: 'billing.count_units', text: COUNT },
    [customerId, month, first, units, closesAt],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('an upsert answers its row');
  if (row.granted > 0)
    await tx.query({ name: 'billing.hold_units', text: HOLD }, [customerId, month, holder, row.granted]);
  return { ...grant, granted: row.granted, used: row.used };
}

const COUNT = `
insert into usage_counters as u (customer_id, month, used, asked, granted, stop_at) values ($1, $2, $3, $4, $3, $5)
on conflict (customer_id, month) do update set
  asked = excluded.asked,
  stop_at = excluded.stop_at,
  granted = greatest(least(excluded.asked, coalesce(excluded.stop_at - u.used, excluded.asked)), 0),
  used = u.used + greatest(least(excluded.asked, coalesce(excluded.stop_at - u.used, excluded.asked)), 0)
returning granted, used`;

const HOLD = `
insert into usage_reservations as r (customer_id, month, holder, units) values ($1, $2, $3, $4)
on conflict (customer_id, month, holder) do update set units = r.units + excluded.units`;

/** Null where this batch was counted before. */
export function settleUnitsApart(db: Queryable, batch: SettledBatch): Promise<CounterState[] | null> {
  const { settled, usage } = batch;
  return withinTransaction(db, async (tx) => {
    const { rowCount } = await tx.query({ name: 'billing.begin_batch', text: BEGIN_BATCH }, [
      ...[batch.meter, batch.number],
    ]);
    if (rowCount === 0) return null;
    const alive = await lockAlive(tx, [...new Set(settled.map(({ holder }) => holder))]);
    const ordered = settled.toSorted(compareMonths);
    const months = Map.groupBy(ordered, ({ customerId, month }) => `${customerId} ${month}`);
    for (const ofMonth of months.values()) await countSettled(tx, ofMonth, alive);
    for (const one of ordered) if (alive.has(one.holder)) await closeReservation(tx, one);
    for (const count of usage.toSorted(compareUsage)) await addUsage(tx, count);
    const states: CounterState[] = [];
    for (const [one] of months.values()) {
      const state = one && (await findCounter(tx, one));
      if (state) states.push(state);
    }
    return states;
  });
}

const BEGIN_BATCH = `
insert into meters as m (id, batch, counted_at) values ($1, $2, statement_timestamp())
on conflict (id) do update set batch = excluded.batch, counted_at = excluded.counted_at where m.batch < excluded.batch`;

async function countSettled(
  tx: Queryable,
  ofMonth: readonly SettledUnits[],
  alive: ReadonlySet<string>,
): Promise<void> {
  const [first] = ofMonth;
  if (first === undefined) return;
  const kept = ofMonth.reduce((sum, one) => sum + one.kept, 0);
  const used = ofMonth.reduce((sum, one) => sum + (alive.has(one.holder) ? -one.returned : one.kept), 0);
  await tx.query(
    {
      name: 'billing.count_settled',
      text: `insert into usage_counters as u (customer_id, month, used, kept, settled) values ($1, $2, $3, $4, 1)
             on conflict (customer_id, month) do update set used = u.used + excluded.used,
               kept = u.kept + excluded.kept, settled = u.settled + 1`,
    },
    [first.customerId, first.month, used, kept],
  );
}

async function closeReservation(tx: Queryable, one: SettledUnits): Promise<void> {
  await tx.query(
    {
      name: 'billing.close_reservation',
      text: `update usage_reservations set units = units - $4 where customer_id = $1 and month = $2 and holder = $3`,
    },
    [one.customerId, one.month, one.holder, one.kept + one.returned],
  );
}

function compareUsage(a: UsageCount, b: UsageCount): number {
  const key = ({ customerId, day, tool, durationClass }: UsageCount) =>
    `${customerId} ${day} ${tool} ${String(durationClass).padStart(6, '0')}`;
  return key(a) < key(b) ? -1 : 1;
}

async function addUsage(tx: Queryable, count: UsageCount): Promise<void> {
  await tx.query({ name: 'billing.add_usage', text: ADD_USAGE }, [
    ...[count.customerId, count.day, count.platform, count.tool, count.durationClass],
    ...[count.calls, count.errors, count.givenBack],
  ]);
  await tx.query({ name: 'billing.tell_usage', text: TELL_USAGE }, [
    ...[count.customerId, count.day, count.tool, count.calls],
  ]);
}

const ADD_USAGE = `
insert into usage_daily as d (customer_id, day, platform, tool, duration_class, calls, errors, given_back)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (customer_id, day, tool, duration_class) do update set
  calls = d.calls + excluded.calls, errors = d.errors + excluded.errors,
  given_back = d.given_back + excluded.given_back`;

const TELL_USAGE = `
insert into usage_recent as r (customer_id, day, tool, calls) values ($1, $2, $3, $4)
on conflict (customer_id, day, tool) do update set calls = r.calls + excluded.calls`;

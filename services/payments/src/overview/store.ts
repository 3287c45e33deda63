import { type Database, int8Array, type Queryable, textArray, timestamptzArray } from '@libs/db';
import { type Horizon, horizonAfter, readHorizon } from '../horizon-store.ts';
import { type Figure, type SettleTime, type Span, STEPS_PER_DOUBLING } from './overview.ts';

/** A place in the order of transactions: everything up to this event is counted. */
export interface OverviewPlace {
  txid: string;
  eventId: string;
}

const HOUR = `date_trunc('hour', created_at, 'UTC')`;

/** In milliseconds, at least one, so that there is a logarithm. */
const stepOf = (ms: string) => `floor(ln(greatest(${ms}, 1)) / ln(2) * ${STEPS_PER_DOUBLING})::smallint`;

/**
 * What events changed in the figures: each adds its payment where it is from then on, and takes it away from where it was.
 * `$1` is the tenant; `which` chooses the events.
 */
const changesOf = (which: string) => `
  seen as materialized (
    select txid, id, type, data::jsonb as data from events where tenant_id = $1 and ${which}
  ), told as materialized (
    select type, data, (data ->> 'created_at')::timestamptz as created_at, (data ->> 'amount')::bigint as amount,
      data ->> 'rail_selected' as rail, data ->> 'status' as status
    from seen where starts_with(type, 'payment.') and type <> 'payment.owed'
  ), changes as (
    select created_at, rail, status, 1 as n, amount from told
    union all
    select created_at, case type when 'payment.rerouted' then data #>> '{attempts,-2,rail}' else rail end,
      case type when 'payment.rerouted' then status else data #>> '{timeline,-2,status}' end, -1, amount
    from told where type <> 'payment.pending'
  ), completed as (
    select created_at, extract(epoch from (data #>> '{timeline,-1,timestamp}')::timestamptz - created_at) * 1000 as ms
    from told where type = 'payment.completed'
  )`;

/** What there is in the tables, by figure, without what the events from the horizon on have changed. */
const FIGURES = `
  select hour, rail, status, sum(n) as payments, sum(amount) as amount from (
    select ${HOUR} as hour, rail_selected as rail, status, count(*) as n, sum(amount) as amount
    from payments where tenant_id = $1 group by 1, 2, 3
    union all select ${HOUR}, rail, status, -n, -n * amount from changes
  ) as counted group by hour, rail, status having sum(n) <> 0 or sum(amount) <> 0`;
const SETTLE_TIMES = `
  select hour, step, sum(n) as payments from (
    select ${HOUR.replace('created_at', 'p.created_at')} as hour,
      ${stepOf('extract(epoch from t.created_at - p.created_at) * 1000')} as step, 1 as n
    from payments p join ledger_transfers t on t.tenant_id = p.tenant_id and t.payment_id = p.id and t.kind = 'post'
    where p.tenant_id = $1
    union all select ${HOUR}, ${stepOf('ms')}, -1 from completed
  ) as counted group by hour, step having sum(n) <> 0`;

/**
 * Counts what a tenant has, once. The events of transactions at and after the place are in the tables already or will be:
 * those that this snapshot sees are taken out again, because they are counted when their turn comes.
 */
export async function countAll(tx: Queryable, tenantId: string, horizon: Horizon): Promise<void> {
  const { text, values } = horizonAfter(1, horizon);
  const claim = `insert into overview_places (tenant_id, txid, event_id)
    values ($1, ${text}, '') on conflict do nothing returning txid`;
  const changes = changesOf(`txid >= ${text}`);
  if (tx.isSpread) return countApart(tx, { tenantId, claim, changes, values });
  await tx.query(
    `with claimed as (${claim}), ${changes}, figures as (
       insert into payment_figures (tenant_id, hour, rail, status, payments, amount)
       select $1, figure.* from (${FIGURES}) as figure, claimed
     )
     insert into payment_settle_times (tenant_id, hour, step, payments)
     select $1, time.* from (${SETTLE_TIMES}) as time, claimed`,
    [tenantId, ...values],
  );
}

interface CountedApart {
  tenantId: string;
  claim: string;
  changes: string;
  values: readonly string[];
}

/** On spread tables a statement that writes is taken to pieces, each with its own snapshot; one that only reads is not. */
async function countApart(tx: Queryable, { tenantId, claim, changes, values }: CountedApart): Promise<void> {
  const { rowCount } = await tx.query(claim, [tenantId, ...values]);
  if (rowCount === 0) return;
  const { rows } = await tx.query<CountedRow>(
    `with ${changes}, figures as (${FIGURES}), times as (${SETTLE_TIMES})
     select hour, rail, status, null::smallint as step, payments::bigint, amount::bigint from figures
     union all select hour, null, null, step, payments::bigint, null from times`,
    [tenantId, ...values],
  );
  const [times, figures] = [
    rows.filter(({ step }) => step !== null),
    rows.filter(({ step }) => step === null),
  ];
  await tx.query(
    `insert into payment_figures (tenant_id, hour, rail, status, payments, amount)
     select $1, * from unnest($2::timestamptz[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])`,
    [
      tenantId,
      timestamptzArray(figures.map(({ hour }) => hour)),
      textArray(figures.map(({ rail }) => rail)),
      textArray(figures.map(({ status }) => status)),
      int8Array(figures.map(({ payments }) => payments)),
      int8Array(figures.map(({ amount }) => amount ?? 0)),
    ],
  );
  await tx.query(
    `insert into payment_settle_times (tenant_id, hour, step, payments)
     select $1, * from unnest($2::timestamptz[], $3::smallint[], $4::bigint[])`,
    [
      tenantId,
      timestamptzArray(times.map(({ hour }) => hour)),
      times.map(({ step }) => step),
      int8Array(times.map(({ payments }) => payments)),
    ],
  );
}

/** A figure, or a time to settle, which has a step and no amount. */
interface CountedRow {
  hour: Date;
  rail: string | null;
  status: string | null;
  step: number | null;
  payments: number;
  amount: number | null;
}

/** Locks the place until the transaction ends; undefined where there is none, or another is at it. */
export async function lockOverviewPlace(tx: Queryable, tenantId: string): Promise<OverviewPlace | undefined> {
  const { rows } = await tx.query<{ txid: string; event_id: string }>(
    'select txid::text as txid, event_id from overview_places where tenant_id = $1 for update skip locked',
    [tenantId],
  );
  return rows[0] && { txid: rows[0].txid, eventId: rows[0].event_id };
}

export async function hasOverviewPlace(db: Queryable, tenantId: string): Promise<boolean> {
  const { rows } = await db.query('select 1 from overview_places where tenant_id = $1', [tenantId]);
  return rows.length > 0;
}

/** Counts the next events of transactions that have surely ended. Answers how many there were. */
export async function countNext(
  tx: Queryable,
  tenantId: string,
  { place, limit, until }: { place: OverviewPlace; limit: number; until: Horizon },
): Promise<number> {
  const horizon = horizonAfter(4, until);
  const next = `txid >= $2::xid8 and txid < ${horizon.text} and (txid > $2::xid8 or id > $3)
    order by events.txid, id limit $4`;
  const { rows } = await tx.query<{ seen: number }>(
    `with ${changesOf(next)}, figures as (
       insert into payment_figures as f (tenant_id, hour, rail, status, payments, amount)
       select $1, ${HOUR}, rail, status, sum(n), sum(n * amount) from changes group by 2, 3, 4
       on conflict (tenant_id, hour, rail, status) do update
         set payments = f.payments + excluded.payments, amount = f.amount + excluded.amount
     ), times as (
       insert into payment_settle_times as t (tenant_id, hour, step, payments)
       select $1, ${HOUR}, ${stepOf('ms')}, count(*) from completed group by 2, 3
       on conflict (tenant_id, hour, step) do update set payments = t.payments + excluded.payments
     ), moved as (
       update overview_places set (txid, event_id) = (select txid, id from seen order by txid desc, id desc limit 1)
       where tenant_id = $1 and exists (select from seen)
     )
     select count(*)::int as seen from seen`,
    [tenantId, place.txid, place.eventId, limit, ...horizon.values],
  );
  return rows[0]?.seen ?? 0;
}

/** Tenants whose figures are behind their events. */
export async function findBehind(db: Database, limit: number): Promise<string[]> {
  const horizon = horizonAfter(1, await readHorizon(db));
  const { rows } = await db.query<{ tenant_id: string }>(
    `select p.tenant_id from overview_places p where exists (select from events e where e.tenant_id = p.tenant_id
       and e.txid >= p.txid and e.txid < ${horizon.text}
       and (e.txid > p.txid or e.id > p.event_id)) limit $1`,
    [limit, ...horizon.values],
  );
  return rows.map(({ tenant_id }) => tenant_id);
}

export async function readFigures(db: Queryable, tenantId: string, { from, to }: Span): Promise<Figure[]> {
  const { rows } = await db.query<Figure>(
    `select date_trunc('day', hour, 'UTC') as hour, rail, status, sum(payments)::bigint as payments,
       sum(amount)::bigint as amount
     from payment_figures where tenant_id = $1 and hour >= $2 and hour < $3
     group by 1, 2, 3 having sum(payments) > 0 order by 1, 2, 3`,
    [tenantId, from, to],
  );
  return rows;
}

export async function readSettleTimes(
  db: Queryable,
  tenantId: string,
  { from, to }: Span,
): Promise<SettleTime[]> {
  const { rows } = await db.query<SettleTime>(
    `select step, sum(payments)::bigint as payments from payment_settle_times
     where tenant_id = $1 and hour >= $2 and hour < $3 group by step`,
    [tenantId, from, to],
  );
  return rows;
}

/** What balances and outside accounts owe together. */
export async function sumOwed(db: Queryable, tenantId: string): Promise<number> {
  const { rows } = await db.query<{ owed: number }>(
    `select ((select coalesce(sum(case kind when 'owe' then amount else -amount end), 0) from ledger_transfers
         where tenant_id = $1 and kind in ('owe', 'repay'))
       + (select coalesce(sum(owed), 0) from ledger_balances where tenant_id = $1 and owed > 0))::bigint as owed`,
    [tenantId],
  );
  return rows[0]?.owed ?? 0;
}

/** Removes at most `limit` hours of figures that are older than that. */
export async function removeFigures(db: Queryable, before: Date, limit: number): Promise<number> {
  const { rowCount: figures } = await db.query(
    `delete from payment_figures where (tenant_id, hour, rail, status) in (
       select tenant_id, hour, rail, status from payment_figures where hour < $1 limit $2)`,
    [before, limit],
  );
  const { rowCount: times } = await db.query(
    `delete from payment_settle_times where (tenant_id, hour, step) in (
       select tenant_id, hour, step from payment_settle_times where hour < $1 limit $2)`,
    [before, limit],
  );
  return Math.max(figures, times);
}

import type { Queryable } from '@libs/db';

/*
 * The horizon of the order of commits: every transaction before it has ended, and what it wrote can be read. Where the
 * tables are spread, only the first server numbers the transactions that events are kept with, so it is asked before the
 * server of the tenant is. There a transaction is not over when its number is: its rows appear on the other servers one
 * after the other, and only then does it give up its last lock, the one on its own number.
 */

const OF_ONE_SERVER = 'pg_snapshot_xmin(pg_current_snapshot())';

const OF_FIRST_SERVER = `
with seen as materialized (
  select pg_snapshot_xmin(now)::text::bigint as xmin, pg_snapshot_xmax(now)::text::bigint as xmax
  from pg_current_snapshot() as now
), held as (
  -- Locks name the lower half of a number: the whole one is the nearest to the newest.
  select xmax - ((xmax - transactionid::text::bigint + 3 * (1::bigint << 31)) % (1::bigint << 32)) + (1::bigint << 31) as xid
  from seen, pg_locks where locktype = 'transactionid' and transactionid is not null
)
select least((select xmin from seen), (select min(xid) from held))::text as horizon`;

export interface Horizon {
  /** In SQL. */
  readonly text: string;
  /** What has to follow the statement's other values. */
  readonly values: readonly string[];
}

/** For a statement that has `count` values of its own. */
export async function readHorizon(db: Queryable, count: number): Promise<Horizon> {
  if (!db.isSpread) return { text: OF_ONE_SERVER, values: [] };
  return { text: `$${count + 1}::xid8`, values: [await findHorizon(db)] };
}

export async function findHorizon(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ horizon: string }>(
    db.isSpread ? OF_FIRST_SERVER : `select ${OF_ONE_SERVER}::text as horizon`,
  );
  return rows[0]?.horizon ?? '0';
}

import { CommitsUnsettled, type Database } from '@libs/db';

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

/** Where it is: in SQL on one server, and otherwise a number that was asked for before. */
export type Horizon = { readonly xid: string } | { readonly xid: undefined };

/** How a statement that has `count` values of its own names the horizon, and what has to follow those values. */
export function horizonAfter(count: number, { xid }: Horizon): { text: string; values: readonly string[] } {
  return xid === undefined
    ? { text: OF_ONE_SERVER, values: [] }
    : { text: `$${count + 1}::xid8`, values: [xid] };
}

/** To be asked before a transaction begins that reads up to it. While a server is away, nothing is surely over. */
export async function readHorizon(db: Database): Promise<Horizon> {
  if (!db.isSpread) return { xid: undefined };
  try {
    return { xid: await findHorizon(db) };
  } catch (error) {
    if (error instanceof CommitsUnsettled) return { xid: '0' };
    throw error;
  }
}

/** What a crash has cut in two is finished after it was found, so that nothing before it appears later. */
export async function findHorizon(db: Database): Promise<string> {
  const { rows } = await db.query<{ horizon: string }>(
    db.isSpread ? OF_FIRST_SERVER : `select ${OF_ONE_SERVER}::text as horizon`,
  );
  await db.settleCommits();
  return rows[0]?.horizon ?? '0';
}

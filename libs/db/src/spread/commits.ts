import type { Database, Queryable } from '../database.ts';
import { CommitsUnsettled } from './settle.ts';

/*
 * Where tables are spread, a transaction commits in two phases: every server promises to keep what it wrote, the first one
 * commits, and then tells the others. Until they are told, what was written there is not seen.
 */

const WAIT_MS = 10;
const WAITS_MAX = 200;

/**
 * A row of a queue can be seen on the first server a moment before what was written with it can be seen on the others.
 * Until then its transaction has ended, and still keeps the lock on its own number: such are waited for. On one server
 * everything is seen at once, and nothing is asked.
 */
export async function awaitCommits(db: Database): Promise<void> {
  if (!db.isSpread) return;
  let open = await readHeld(db, null);
  for (let turn = 0; turn < WAITS_MAX && open.length > 0; turn += 1) {
    await new Promise((done) => setTimeout(done, WAIT_MS));
    open = await readHeld(db, open);
  }
  // Who went on would find a row of a queue without what was written with it, and take that for gone.
  if (open.length > 0)
    throw new CommitsUnsettled(
      `${open.length} ${open.length === 1 ? 'transaction' : 'transactions'} committed here and not yet on every server`,
    );
  await db.settleCommits();
}

async function readHeld(db: Queryable, among: readonly string[] | null): Promise<string[]> {
  const { rows } = await db.query<{ xid: string }>(HELD_NUMBERS, [among]);
  return rows.map(({ xid }) => xid);
}

const HELD_NUMBERS = `
with seen as materialized (
  select now, pg_snapshot_xmax(now)::text::bigint as newest from pg_current_snapshot() as now
), held as (
  -- Locks name the lower half of a number: the whole one is the nearest to the newest.
  select transactionid::text as xid, now,
    newest - ((newest - transactionid::text::bigint + 3 * (1::bigint << 31)) % (1::bigint << 32)) + (1::bigint << 31) as whole
  from seen, pg_locks
  where locktype = 'transactionid' and granted and ($1::text[] is null or transactionid::text = any($1))
)
select xid from held where pg_visible_in_snapshot(whole::text::xid8, now)`;

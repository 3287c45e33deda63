import type { Queryable } from './database.ts';

const WAIT_MS = 10;
const WAITS_MAX = 200;

/**
 * Where tables are spread, a row of a queue can be seen on the first server a moment before what was written with it can
 * be seen on the others. Until then its transaction keeps the lock on its own number: those that are held now are waited
 * for. On one server everything is seen at once, and nothing is asked.
 */
export async function awaitCommits(db: Queryable): Promise<void> {
  if (!db.isSpread) return;
  let open = await readHeld(db, null);
  for (let turn = 0; turn < WAITS_MAX && open.length > 0; turn += 1) {
    await new Promise((done) => setTimeout(done, WAIT_MS));
    open = await readHeld(db, open);
  }
}

async function readHeld(db: Queryable, among: readonly string[] | null): Promise<string[]> {
  const { rows } = await db.query<{ xid: string }>(HELD_NUMBERS, [among]);
  return rows.map(({ xid }) => xid);
}

const HELD_NUMBERS = `
select transactionid::text as xid from pg_locks
where locktype = 'transactionid' and granted and ($1::text[] is null or transactionid::text = any($1))`;

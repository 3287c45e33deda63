import type { Queryable } from '@libs/db';

export interface Lock {
  name: string;
  /** Made anew for every try, so that nobody takes another's lock for its own. */
  holder: string;
}

/** Takes a lock that is free or whose time is over; false while another holds it. */
export async function acquireLock(db: Queryable, lock: Lock, ttlMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into job_locks as held (name, holder, expires_at)
     values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
     on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
       where held.expires_at <= clock_timestamp()`,
    [lock.name, lock.holder, ttlMs],
  );
  return rowCount === 1;
}

/** Moves the end on; false when the lock is another's by now, and whatever it protects must stop. */
export async function renewLock(db: Queryable, lock: Lock, ttlMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update job_locks set expires_at = clock_timestamp() + $3 * interval '1 millisecond'
     where name = $1 and holder = $2`,
    [lock.name, lock.holder, ttlMs],
  );
  return rowCount === 1;
}

/** Compares and deletes in one statement: a latecomer whose lock was taken over releases nothing. */
export async function releaseLock(db: Queryable, lock: Lock): Promise<boolean> {
  const { rowCount } = await db.query('delete from job_locks where name = $1 and holder = $2', [
    lock.name,
    lock.holder,
  ]);
  return rowCount === 1;
}

export interface HeldLock {
  holder: string;
  until: Date;
}

/** Who holds the lock now; undefined when it is free, or when whoever held it ran out of time. */
export async function findLock(db: Queryable, name: string): Promise<HeldLock | undefined> {
  const { rows } = await db.query<{ holder: string; expires_at: Date }>(
    'select holder, expires_at from job_locks where name = $1 and expires_at > clock_timestamp()',
    [name],
  );
  return rows[0] && { holder: rows[0].holder, until: rows[0].expires_at };
}

/** Whether the lock was taken or moved on within the last `quietMs`: its holder is at work and not dead. */
export async function isLockInUse(
  db: Queryable,
  name: string,
  { ttlMs, quietMs }: { ttlMs: number; quietMs: number },
): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from job_locks where name = $1 and expires_at > clock_timestamp() + $2 * interval '1 millisecond'`,
    [name, Math.max(ttlMs - quietMs, 0)],
  );
  return rows.length > 0;
}

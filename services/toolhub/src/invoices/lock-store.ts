import { type HeldLease, leasesOn, type Queryable } from '@libs/db';

export interface Lock {
  name: string;
  /** Made anew for every try, so that nobody takes another's lock for its own. */
  holder: string;
}

const leases = leasesOn({
  table: 'job_locks',
  key: ['name'],
  holder: 'holder',
  until: 'expires_at',
  rowIs: 'deleted',
});

/** Takes a lock that is free or whose time is over; false while another holds it. */
export function acquireLock(db: Queryable, { name, holder }: Lock, ttlMs: number): Promise<boolean> {
  return leases.acquire(db, [name], { holder, ms: ttlMs });
}

/** Moves the end on; false when the lock is another's by now, and whatever it protects must stop. */
export function renewLock(db: Queryable, { name, holder }: Lock, ttlMs: number): Promise<boolean> {
  return leases.extend(db, [name], { holder, ms: ttlMs });
}

/** A latecomer whose lock was taken over releases nothing. */
export function releaseLock(db: Queryable, { name, holder }: Lock): Promise<boolean> {
  return leases.release(db, [name], { holder });
}

/** Who holds the lock now; undefined when it is free, or when whoever held it ran out of time. */
export function findLock(db: Queryable, name: string): Promise<HeldLease | undefined> {
  return leases.find(db, [name]);
}

/** Whether the lock was taken or moved on within the last `quietMs`: its holder is at work and not dead. */
export async function isLockInUse(
  db: Queryable,
  name: string,
  { ttlMs, quietMs }: { ttlMs: number; quietMs: number },
): Promise<boolean> {
  return (await leases.find(db, [name], { leftMs: Math.max(ttlMs - quietMs, 0) })) !== undefined;
}

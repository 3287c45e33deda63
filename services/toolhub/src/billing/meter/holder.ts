import type { Database } from '@libs/db';
import type { NewId } from '@libs/seal';
import { CALL_LONGEST_MS } from '../../calls/call-times.ts';
import { expireHolder, renewHolder, sweepHolders } from './meter-store.ts';

/**
 * The lease under which this process holds reservations and runs calls. As long as the process lives it renews the
 * lease; when it is killed, the lease runs out and whoever sweeps next gives back what it held.
 */
export interface Holder {
  /** The id to write into rows; makes the lease where there is none. */
  current(): Promise<string>;
  /**
   * Takes no new rows under a lease that was lost or whose rows are in doubt. It is renewed as long as calls that run under it
   * can take, and then ends by itself, which gives back what is in doubt.
   */
  abandon(id: string): void;
  close(): Promise<void>;
}

export interface HolderDependencies {
  database: Database;
  newId: NewId;
  onError: (error: unknown) => void;
  leaseMs?: number;
  /** How long calls run on under a lease that is abandoned; tests shorten it. */
  runOnMs?: number;
}

/** Killed processes are found out after this time; the contract allows 15 minutes. */
const HOLDER_LEASE_MS = 60_000;
const RENEWALS_PER_LEASE = 4;
/** A database that refuses every reservation would have ever more of them renewed: beyond so many they are not, since calls run under the older ones. */
const ABANDONED_MAX = 100;

export function createHolder(deps: HolderDependencies): Holder {
  const { database, newId, onError, leaseMs = HOLDER_LEASE_MS, runOnMs = CALL_LONGEST_MS } = deps;
  let lease: { id: string; ready: Promise<string> } | undefined;
  /** Until when each is renewed. */
  const abandoned = new Map<string, number>();
  let closed = false;
  let renewing: Promise<unknown> | undefined;

  const timer = setInterval(() => {
    if (renewing !== undefined) return;
    renewing = Promise.all([renewCurrent().catch(onError), renewAbandoned().catch(onError)]).finally(() => {
      renewing = undefined;
    });
  }, leaseMs / RENEWALS_PER_LEASE).unref();

  const renew = (id: string) => renewHolder(database, id, { leaseMs, create: false });

  async function renewCurrent(): Promise<void> {
    const held = lease;
    if (held !== undefined && !(await renew(await held.ready))) forget(held.id);
  }

  async function renewAbandoned(): Promise<void> {
    for (const [id, untilMs] of abandoned)
      if (performance.now() >= untilMs || !(await renew(id))) abandoned.delete(id);
  }

  function current(): Promise<string> {
    if (lease !== undefined) return lease.ready;
    if (closed) return Promise.reject(new Error('this process has given up its lease'));
    const id = newId('hld');
    const made = { id, ready: renewHolder(database, id, { leaseMs, create: true }).then(() => id) };
    made.ready.catch(() => forget(id));
    lease = made;
    return made.ready;
  }

  function forget(id: string): void {
    if (lease?.id === id) lease = undefined;
  }

  function abandon(id: string): void {
    if (lease?.id !== id) return;
    forget(id);
    if (abandoned.size < ABANDONED_MAX) abandoned.set(id, performance.now() + runOnMs);
  }

  return {
    current,
    abandon,
    async close() {
      closed = true;
      clearInterval(timer);
      const held = lease;
      lease = undefined;
      // A renewal that is under way would bring back the lease that ends here.
      await renewing;
      const ids = [...abandoned.keys()].map((id) => Promise.resolve(id));
      if (held !== undefined) ids.push(held.ready);
      if (ids.length === 0) return;
      for (const id of ids) await id.then((ended) => expireHolder(database, ended)).catch(onError);
      await sweepExpired(database).catch(onError);
    },
  };
}

const SWEEP_HOLDERS_MAX = 100;

/** Gives back what processes held that are gone; any process may do it, at any time. */
export function sweepExpired(database: Database): Promise<number> {
  return database.transaction((tx) => sweepHolders(tx, SWEEP_HOLDERS_MAX));
}

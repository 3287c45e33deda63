import type { Database } from '@libs/db';
import type { NewId } from '@libs/seal';
import { expireHolder, renewHolder, sweepHolders } from './meter-store.ts';

/**
 * The lease under which this process holds reservations and runs calls. As long as the process lives it renews the
 * lease; when it is killed, the lease runs out and whoever sweeps next gives back what it held.
 */
export interface Holder {
  /** The id to write into rows; makes the lease where there is none. */
  current(): Promise<string>;
  /** Forgets a lease that was lost or whose rows are in doubt: it is not renewed any more. */
  abandon(id: string): void;
  close(): Promise<void>;
}

export interface HolderDependencies {
  database: Database;
  newId: NewId;
  onError: (error: unknown) => void;
  leaseMs?: number;
}

/** Killed processes are found out after this time; the contract allows 15 minutes. */
const HOLDER_LEASE_MS = 60_000;
const RENEWALS_PER_LEASE = 4;

export function createHolder(deps: HolderDependencies): Holder {
  const { database, newId, onError, leaseMs = HOLDER_LEASE_MS } = deps;
  let lease: { id: string; ready: Promise<string> } | undefined;
  let closed = false;
  let renewing: Promise<void> | undefined;

  const timer = setInterval(() => {
    const held = lease;
    if (held === undefined || renewing !== undefined) return;
    renewing = held.ready
      .then((id) => renewHolder(database, id, { leaseMs, create: false }))
      .then((renewed) => {
        if (!renewed) abandon(held.id);
      })
      .catch(onError)
      .finally(() => {
        renewing = undefined;
      });
  }, leaseMs / RENEWALS_PER_LEASE).unref();

  function current(): Promise<string> {
    if (lease !== undefined) return lease.ready;
    if (closed) return Promise.reject(new Error('this process has given up its lease'));
    const id = newId('hld');
    const made = { id, ready: renewHolder(database, id, { leaseMs, create: true }).then(() => id) };
    made.ready.catch(() => abandon(id));
    lease = made;
    return made.ready;
  }

  function abandon(id: string): void {
    if (lease?.id === id) lease = undefined;
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
      if (held === undefined) return;
      await held.ready.then((id) => expireHolder(database, id)).catch(onError);
      await sweepExpired(database).catch(onError);
    },
  };
}

const SWEEP_HOLDERS_MAX = 100;

/** Gives back what processes held that are gone; any process may do it, at any time. */
export function sweepExpired(database: Database): Promise<number> {
  return database.transaction((tx) => sweepHolders(tx, SWEEP_HOLDERS_MAX));
}

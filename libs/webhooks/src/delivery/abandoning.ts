import type { Database, Queryable } from '@libs/db';
import { type Abandonment, createAbandonStore, type Emptying } from './abandon-store.ts';
import { announceOff } from './announcement.ts';
import type { DeliveryStatus, EndpointRef } from './delivery.ts';
import { createQueueStore } from './queue-store.ts';
import type { TenantServers } from './tenant-servers.ts';

export interface AbandoningOptions {
  readonly schema: string;
  readonly now: () => Date;
  readonly statusWhenAbandoned: DeliveryStatus;
  /** How long abandoned rows are kept; without it they stay. */
  readonly keepUndeliveredMs?: number | undefined;
}

export interface EmptyingOptions {
  readonly mayGoOn: () => boolean;
  /** What fails for one endpoint holds up no other. */
  readonly onError: (error: unknown) => void;
  readonly servers: Pick<TenantServers, 'findAway'>;
}

export type Abandoning = ReturnType<typeof createAbandoning>;

const ENDPOINTS_PER_TURN_MAX = 100;
const STEPS_PER_TURN_MAX = 100;

/**
 * Gives up what waits for an endpoint. Whoever switches it off moves a bounded number of rows, so that a queue of any length keeps
 * neither them nor the results of others waiting; dispatchers move the rest in steps.
 */
export function createAbandoning(options: AbandoningOptions) {
  const { now, keepUndeliveredMs } = options;
  const store = createAbandonStore(options.schema);
  const queue = createQueueStore(options.schema);

  function abandonmentAt(at: Date): Abandonment {
    const expiresAt = keepUndeliveredMs === undefined ? null : new Date(at.getTime() + keepUndeliveredMs);
    return { status: options.statusWhenAbandoned, at, expiresAt };
  }

  /** Gives whether more is there. */
  async function emptySome(tx: Queryable, emptying: Emptying): Promise<boolean> {
    if (!(await store.isOurs(tx, emptying))) return false;
    const { isFull } = await store.moveSome(tx, emptying, abandonmentAt(now()));
    if (!isFull) await store.forget(tx, emptying);
    return isFull;
  }

  return {
    /** Gives the number of rows that went at once. */
    async abandonEndpoint(tx: Queryable, ref: EndpointRef): Promise<number> {
      const at = now();
      // The queue first and the rest second, as results are written: the other order ends in a deadlock with them.
      const { moved, isFull } = await store.moveSome(tx, ref, abandonmentAt(at));
      if (isFull) await store.note(tx, { ...ref, addedUntil: at });
      await queue.forgetFailures(tx, ref);
      await queue.notify(tx, announceOff(ref));
      return moved;
    },

    /** Moves what is left, a step at a time for each endpoint in turn. */
    async emptyEndpoints(database: Database, { mayGoOn, onError, servers }: EmptyingOptions): Promise<void> {
      let left = await store.list(database, ENDPOINTS_PER_TURN_MAX);
      for (let step = 0; step < STEPS_PER_TURN_MAX && left.length > 0; step += 1) {
        const more: Emptying[] = [];
        const away = await servers.findAway(left);
        for (const emptying of left) {
          if (!mayGoOn()) return;
          if (away.has(emptying.tenantId)) continue;
          const isMore = await database.transaction((tx) => emptySome(tx, emptying)).catch(onError);
          if (isMore === true) more.push(emptying);
        }
        left = more;
      }
    },
  };
}

import type { Queryable } from '@libs/db';
import { currentTrace, formatTraceparent } from '@libs/runtime';
import { createAbandoning } from './abandoning.ts';
import { announce } from './announcement.ts';
import type { Delivery, DeliveryStatus, EndpointRef, NewDelivery } from './delivery.ts';
import {
  createQueueStore,
  type DeliveryFilter,
  type EventDeliveryFilter,
  type UndeliveredFilter,
} from './queue-store.ts';

export interface DeliveryQueueOptions {
  /** The schema that `deliveryMigrations` was given. */
  readonly schema: string;
  readonly now: () => Date;
  readonly newId: (prefix: string) => string;
  /** The status of deliveries whose endpoint is gone or switched off. */
  readonly statusWhenAbandoned: DeliveryStatus;
  /** How long abandoned rows are kept; without it they stay. */
  readonly keepUndeliveredMs?: number;
  /**
   * Announces new rows to every dispatcher at commit. A process that has its own dispatcher may switch this off and call
   * `dispatcher.offer` after the commit instead: commits that notify wait for each other in Postgres.
   */
  readonly notify?: boolean;
}

export interface EnqueueOptions {
  /** Instead of the queue's own setting, for rows that are, or are not, offered to a dispatcher after the commit. */
  readonly notify?: boolean;
}

export interface DeliveryQueue {
  /** Adds rows in the caller's transaction, in one statement; gives their ids in order. */
  enqueue(tx: Queryable, rows: readonly NewDelivery[], options?: EnqueueOptions): Promise<string[]>;
  /** Tries one again now: a dead letter, a delivered one, or one that waits. Undefined when there is none. */
  retry(tx: Queryable, key: { tenantId: string; id: string }): Promise<Delivery | undefined>;
  find(db: Queryable, key: { tenantId: string; id: string }): Promise<Delivery | undefined>;
  list(db: Queryable, filter: DeliveryFilter): Promise<Delivery[]>;
  /** What became of an event at one endpoint. */
  findOfEvent(db: Queryable, filter: EventDeliveryFilter): Promise<Delivery | undefined>;
  listDead(db: Queryable, filter: Omit<DeliveryFilter, 'endpointId'>): Promise<Delivery[]>;
  /** How many were given up in a time. */
  countUndelivered(db: Queryable, filter: UndeliveredFilter): Promise<number>;
  /**
   * For an endpoint that is deleted or switched off by its owner. Gives the number of rows that went at once; dispatchers take the
   * rest, and send none of it but what is under way.
   */
  abandonEndpoint(tx: Queryable, ref: EndpointRef): Promise<number>;
  /** For an endpoint that is switched on again: its days of failure start anew. */
  forgetFailures(tx: Queryable, ref: EndpointRef): Promise<void>;
}

const ROWS_PER_STATEMENT_MAX = 5_000;

/** What services call; sending is the dispatcher's. */
export function createDeliveryQueue(options: DeliveryQueueOptions): DeliveryQueue {
  const store = createQueueStore(options.schema);
  const { now, newId } = options;
  const { abandonEndpoint } = createAbandoning(options);
  const notifyAlways = options.notify ?? true;

  return {
    async enqueue(tx, rows, { notify = notifyAlways } = {}) {
      const trace = currentTrace();
      const traceparent = trace === undefined ? null : formatTraceparent(trace);
      const queued = rows.map((row) => ({ traceparent, ...row, id: newId('dlv') }));
      for (let start = 0; start < queued.length; start += ROWS_PER_STATEMENT_MAX) {
        const part = queued.slice(start, start + ROWS_PER_STATEMENT_MAX);
        await store.insert(tx, part, now(), notify ? announce(part) : []);
      }
      return queued.map((row) => row.id);
    },

    async retry(tx, { tenantId, id }) {
      const at = now();
      const hurry = () => store.hurry(tx, tenantId, id, at);
      const delivery =
        (await hurry()) ?? ((await store.revive(tx, tenantId, id, at)) ? await hurry() : undefined);
      // Rare, and nobody has the event at hand to offer it: always announced.
      if (delivery !== undefined) for (const message of announce([delivery])) await store.notify(tx, message);
      return delivery;
    },

    find: (db, { tenantId, id }) => store.find(db, tenantId, id, now()),
    list: (db, filter) => store.list(db, filter, now()),
    findOfEvent: (db, filter) => store.findOfEvent(db, filter, now()),
    listDead: (db, filter) => store.listDead(db, filter, now()),
    countUndelivered: (db, filter) => store.countUndelivered(db, filter),

    abandonEndpoint,
    forgetFailures: (tx, ref) => store.forgetFailures(tx, ref),
  };
}

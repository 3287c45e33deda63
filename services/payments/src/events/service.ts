import { type Database, type Queryable, renewParts } from '@libs/db';
import { errors } from '../errors.ts';
import type { ByMode, Tenant } from '../tenant.ts';
import { EVENT_RETENTION_DAYS, type PaymentsEvent, type ToldEvent } from './event.ts';
import {
  deleteStrayEventsBefore,
  EVENTS_TABLE,
  type EventFilter,
  type EventKey,
  findEvent,
  findEvents,
  insertEvents,
  listEvents,
} from './store.ts';

/** Events alone: the caller adds their deliveries itself, in the same transaction. */
export function writeEvents(tx: Queryable, events: readonly PaymentsEvent[]): Promise<void> {
  return insertEvents(tx, events);
}

/** Adds what subscribers get for these events, in the caller's transaction. */
export type DeliverEvents = (tx: Queryable, events: readonly PaymentsEvent[]) => Promise<void>;

export interface EventService {
  /**
   * Stores events and the deliveries that follow from them, in the caller's transaction. Of those in `stored` the caller
   * has written the events itself, and only their deliveries are added.
   */
  record(tx: Queryable, events: readonly PaymentsEvent[], stored?: readonly PaymentsEvent[]): Promise<void>;
  /** What is told of events of any tenants, in no order; those that are past their time are absent. */
  findTold(keys: readonly EventKey[]): Promise<ToldEvent[]>;
  get(tenant: Tenant, id: string): Promise<PaymentsEvent>;
  list(tenant: Tenant, filter: EventFilter): Promise<PaymentsEvent[]>;
  /** Drops the parts that are past their time, and removes a bounded number of events that have none; answers how many. */
  sweep(limit: number): Promise<number>;
}

export interface EventServiceDependencies {
  database: Database;
  /** For requests. */
  databases: ByMode<Database>;
  now: () => Date;
  deliver: DeliverEvents;
}

export function createEventService({
  database,
  databases,
  now,
  deliver,
}: EventServiceDependencies): EventService {
  /** What was made before is told of no more, though it goes later, with all of its part. */
  const since = () => new Date(now().getTime() - EVENT_RETENTION_DAYS * 86_400_000);

  return {
    async record(tx, events, stored = []) {
      await insertEvents(tx, events);
      const all = stored.length === 0 ? events : [...stored, ...events];
      if (all.length > 0) await deliver(tx, all);
    },

    findTold: (keys) => findEvents(database, keys),

    async get(tenant, id) {
      const event = await findEvent(databases[tenant.mode], { tenantId: tenant.id, id }, since());
      if (event === undefined) throw errors.not_found({ detail: 'There is no such event.' });
      return event;
    },

    list: (tenant, filter) => listEvents(databases[tenant.mode], tenant.id, filter, since()),

    async sweep(limit) {
      await renewParts(database, EVENTS_TABLE, now());
      return deleteStrayEventsBefore(database, since(), limit);
    },
  };
}

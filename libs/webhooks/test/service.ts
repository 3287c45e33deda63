import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, type MigrationSource, openDatabase } from '@libs/db';
import { createEgressPolicy, createPoster, type Poster } from '@libs/egress';
import { createIdFactory } from '@libs/seal';
import {
  createDeliveryDispatcher,
  createDeliveryQueue,
  type DeliveryDispatcher,
  type DeliveryDispatcherOptions,
  type DeliveryQueue,
  type DeliveryQueueOptions,
  deliveryMigrations,
  type EndpointRef,
  newWebhookSecret,
  type ResultRules,
} from '../src/index.ts';

// The least that a service adds to the library: a table of events and one of endpoints.

export const SCHEMA = 'shop_webhooks';
export const TENANT = 'org_1';

export const MIGRATIONS: MigrationSource = { schema: SCHEMA, series: [deliveryMigrations(SCHEMA)] };

export const TABLES = `
create table ${SCHEMA}.events (tenant_id text, id text, body text not null, primary key (tenant_id, id));
create table ${SCHEMA}.endpoints (
  tenant_id text, id text, url text not null, secrets text[] not null, enabled boolean not null default true,
  primary key (tenant_id, id)
);`;

export const RULES: ResultRules = {
  retryDelaysMs: [50, 100, 150],
  jitter: 0,
  honourRetryAfter: true,
  disableOnGone: true,
  statusWhenExhausted: 'dead',
  statusWhenAbandoned: 'abandoned',
};

export interface Shop {
  readonly database: Database;
  readonly url: string;
  readonly queue: DeliveryQueue;
  readonly errors: unknown[];
  newId(prefix: string): string;
  addEndpoint(url: string, options?: { tenantId?: string; secrets?: string[] }): Promise<EndpointRef>;
  /** Commits events and their deliveries in one transaction; gives the events' ids. */
  emit(ref: EndpointRef, count: number, offerTo?: DeliveryDispatcher): Promise<string[]>;
  dispatcher(options?: Partial<DeliveryDispatcherOptions>): DeliveryDispatcher;
  close(): Promise<void>;
}

const newId = createIdFactory({ now: () => new Date(), randomBytes });

export interface ShopOptions {
  readonly now?: () => Date;
  readonly queue?: Partial<DeliveryQueueOptions>;
}

function loaders(database: Database) {
  return {
    async loadEndpoints(refs: readonly EndpointRef[]) {
      const { rows } = await database.query<{
        tenantId: string;
        endpointId: string;
        url: string;
        secrets: string[];
      }>(
        `select e.tenant_id as "tenantId", e.id as "endpointId", e.url, e.secrets
from ${SCHEMA}.endpoints e join unnest($1::text[], $2::text[]) as wanted (tenant_id, id) using (tenant_id, id)
where e.enabled`,
        [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.endpointId)],
      );
      return rows;
    },
    async loadEvents(refs: readonly { tenantId: string; eventId: string }[]) {
      const { rows } = await database.query<{ tenantId: string; eventId: string; body: string }>(
        `select e.tenant_id as "tenantId", e.id as "eventId", e.body
from ${SCHEMA}.events e join unnest($1::text[], $2::text[]) as wanted (tenant_id, id) using (tenant_id, id)`,
        [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.eventId)],
      );
      return rows;
    },
  };
}

/** A shop over a database that has the tables already. */
export function createShop(
  database: Database,
  poster: Poster,
  options: ShopOptions = {},
): Omit<Shop, 'close'> {
  const now = options.now ?? (() => new Date());
  const errors: unknown[] = [];
  const queue = createDeliveryQueue({
    schema: SCHEMA,
    now,
    newId,
    statusWhenAbandoned: RULES.statusWhenAbandoned,
    ...options.queue,
  });
  return {
    database,
    url: database.url,
    queue,
    errors,
    newId,
    async addEndpoint(url, endpoint = {}) {
      const ref = { tenantId: endpoint.tenantId ?? TENANT, endpointId: newId('we') };
      const secrets = endpoint.secrets ?? [newWebhookSecret(randomBytes)];
      await database.query(
        `insert into ${SCHEMA}.endpoints (tenant_id, id, url, secrets) values ($1, $2, $3, $4)`,
        [ref.tenantId, ref.endpointId, url, secrets],
      );
      return ref;
    },
    async emit(ref, count, offerTo) {
      const ids = Array.from({ length: count }, () => newId('evt'));
      const bodies = new Map(ids.map((id) => [id, JSON.stringify({ id, type: 'order.paid' })]));
      const rows = ids.map((eventId) => ({ ...ref, eventId, eventType: 'order.paid' }));
      const deliveryIds = await database.transaction(async (tx) => {
        await tx.query(
          `insert into ${SCHEMA}.events (tenant_id, id, body)
select $1, * from unnest($2::text[], $3::text[])`,
          [ref.tenantId, ids, [...bodies.values()]],
        );
        return queue.enqueue(tx, rows);
      });
      const offered = rows.map((row, index) => ({
        ...row,
        id: deliveryIds[index] ?? '',
        body: bodies.get(row.eventId) ?? '',
      }));
      offerTo?.offer(offered);
      return ids;
    },
    dispatcher: (changes = {}) =>
      createDeliveryDispatcher({
        database,
        schema: SCHEMA,
        poster,
        userAgent: 'Shop-Webhooks/1',
        rules: RULES,
        timeoutMs: 5_000,
        ...loaders(database),
        now,
        random: Math.random,
        onError: (error) => errors.push(error),
        ...changes,
      }),
  };
}

/** A second process' view of the same shop. */
export async function joinShop(url: string): Promise<Shop> {
  const database = await openDatabase({ url, schema: 'public' });
  const poster = createPoster(createEgressPolicy({ development: true }));
  return {
    ...createShop(database, poster),
    async close() {
      await poster.destroy();
      await database.close();
    },
  };
}

const WAIT_MS_MAX = 18_000;

/** Waits for something to become true, and says what it waited for when it does not. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAtMs = performance.now() + WAIT_MS_MAX;
  while (!(await holds())) {
    if (performance.now() > giveUpAtMs) throw new Error(`waited in vain until ${what}`);
    await sleep(10);
  }
}

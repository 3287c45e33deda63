// While the server of some tenants is away, webhooks of the others are delivered, and theirs when it is back: each is sent once.
import { randomBytes } from 'node:crypto';
import type { Database } from '@libs/db';
import { createEgressPolicy, createPoster, type Poster } from '@libs/egress';
import { createIdFactory } from '@libs/seal';
import {
  createDeliveryDispatcher,
  createDeliveryQueue,
  type DeliveryDispatcher,
  newWebhookSecret,
  type ResultRules,
} from '@libs/webhooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { PAYMENTS_TABLES } from '../../services/payments/src/spreading/tables.ts';
import { DELIVERY_SCHEMA } from '../../services/payments/src/webhooks/rules.ts';
import { answer, type Receiver, startReceiver } from '../contract/payments/receiver.ts';
import { createNotes, cutCommit } from './cut-commits.ts';
import { createWiredDatabase, tenantOn, type WiredDatabase, type WiredServer } from './worker-wires.ts';

const RULES: ResultRules = {
  ...{ retryDelaysMs: [50], jitter: 0, honourRetryAfter: true, disableOnGone: false },
  ...{ statusWhenExhausted: 'dead', statusWhenAbandoned: 'abandoned' },
};
const newId = createIdFactory({ now: () => new Date(), randomBytes });
const secrets = [newWebhookSecret(randomBytes)];

let made: WiredDatabase;
let database: Database;
let away: WiredServer;
let awayTenant: string;
let thereTenant: string;
let receiver: Receiver;
let poster: Poster;
let dispatcher: DeliveryDispatcher;

const queue = createDeliveryQueue({
  ...{ schema: DELIVERY_SCHEMA, now: () => new Date(), newId, statusWhenAbandoned: 'abandoned' },
});

beforeAll(async () => {
  made = await createWiredDatabase(paymentsMigrations(), PAYMENTS_TABLES);
  database = made.database;
  await createNotes(database);
  const [first, second] = made.servers as [WiredServer, WiredServer];
  away = first;
  [awayTenant, thereTenant] = [await tenantOn(database, first), await tenantOn(database, second)];
  receiver = await startReceiver();
  poster = createPoster(createEgressPolicy({ development: true }));
});
afterAll(async () => {
  await poster.destroy();
  await receiver.stop();
  await made.drop();
});

/** As a service loads them: by their tenant, one after the other. */
async function readEach<Ref extends { tenantId: string }>(
  refs: readonly Ref[],
  noteOf: (ref: Ref) => string,
): Promise<Ref[]> {
  const found: Ref[] = [];
  for (const ref of refs) {
    const values = [ref.tenantId, noteOf(ref)];
    const { rowCount } = await database.query('select from notes where tenant_id = $1 and id = $2', values);
    if (rowCount === 1) found.push(ref);
  }
  return found;
}

const newDispatcher = () =>
  createDeliveryDispatcher({
    ...{ database, schema: DELIVERY_SCHEMA, poster, userAgent: 'Tests/1', rules: RULES, timeoutMs: 5_000 },
    loadEndpoints: async (refs) =>
      (await readEach(refs, ({ endpointId }) => endpointId)).map((ref) => ({
        ...{ ...ref, secrets, url: `${receiver.url}/${ref.tenantId === awayTenant ? 'away' : 'there'}` },
      })),
    loadEvents: async (refs) =>
      (await readEach(refs, ({ eventId }) => eventId)).map((ref) => ({ ...ref, body: '{}' })),
    ...{ now: () => new Date(), random: Math.random, pollMs: 1_000, onError: () => {} },
  });

beforeEach(async () => {
  dispatcher = newDispatcher();
  await dispatcher.start();
});
afterEach(async () => {
  away.comeBack();
  await dispatcher.stop();
});

async function addEndpoint(tenantId: string): Promise<string> {
  const endpointId = newId('we');
  await database.query('insert into notes values ($1, $2)', [tenantId, endpointId]);
  return endpointId;
}

/** Of an event that is there since before, so that its tenant's server is not needed. */
function enqueue(tenantId: string, endpointId: string, eventId: string) {
  return database.transaction((tx) =>
    queue.enqueue(tx, [{ tenantId, endpointId, eventId, eventType: 'note.made' }]),
  );
}

async function emit(tenantId: string, endpointId: string): Promise<string> {
  const eventId = newId('evt');
  await database.query('insert into notes values ($1, $2)', [tenantId, eventId]);
  await enqueue(tenantId, endpointId, eventId);
  return eventId;
}

const idsAt = (path: string) => receiver.at(`/${path}`).map(({ headers }) => headers['webhook-id']);

async function waitingFor(tenantId: string): Promise<unknown[]> {
  const text = `select tries from ${DELIVERY_SCHEMA}.queue where tenant_id = $1`;
  return (await database.query(text, [tenantId])).rows;
}

test.each([
  ['stopped', () => away.stop()],
  ['stands still', () => away.freeze()],
])('a server that %s keeps the webhooks of its own tenants alone', async (_how, leave) => {
  const [awayEndpoint, thereEndpoint] = [await addEndpoint(awayTenant), await addEndpoint(thereTenant)];
  const late = newId('evt');
  await database.query('insert into notes values ($1, $2)', [awayTenant, late]);
  const first = await emit(awayTenant, awayEndpoint);
  await expect.poll(() => idsAt('away')).toContain(first);
  await expect.poll(() => waitingFor(awayTenant)).toEqual([]);
  leave();
  await enqueue(awayTenant, awayEndpoint, late);
  for (let round = 0; round < 3; round += 1) {
    const eventId = await emit(thereTenant, thereEndpoint);
    await expect.poll(() => idsAt('there'), { timeout: 8_000 }).toContain(eventId);
    await expect.poll(() => waitingFor(thereTenant), { timeout: 8_000 }).toEqual([]);
  }
  expect(idsAt('away')).not.toContain(late);
  expect(await waitingFor(awayTenant)).toEqual([{ tries: 0 }]);
  away.comeBack();
  await expect.poll(() => waitingFor(awayTenant)).toEqual([]);
  expect(idsAt('away').filter((id) => id === late)).toEqual([late]);
});

test('what was sent is written down when its server is back, and results of others meanwhile', async () => {
  const [awayEndpoint, thereEndpoint] = [await addEndpoint(awayTenant), await addEndpoint(thereTenant)];
  receiver.respond = (response, received) => {
    // Between the request and its answer.
    if (received.path === '/away') away.stop();
    answer(204)(response, received);
  };
  const sent = await emit(awayTenant, awayEndpoint);
  await expect.poll(() => idsAt('away')).toContain(sent);
  const other = await emit(thereTenant, thereEndpoint);
  await expect.poll(() => idsAt('there'), { timeout: 8_000 }).toContain(other);
  await expect.poll(() => waitingFor(thereTenant), { timeout: 8_000 }).toEqual([]);
  expect(await waitingFor(awayTenant)).toEqual([{ tries: 0 }]);
  receiver.respond = answer(204);
  away.comeBack();
  await expect.poll(() => waitingFor(awayTenant)).toEqual([]);
  expect(idsAt('away').filter((id) => id === sent)).toEqual([sent]);
});

test('a webhook finds what a crash has cut off at its server, also while another one is away', async () => {
  const endpointId = await addEndpoint(thereTenant);
  away.stop();
  const eventId = newId('evt');
  await cutCommit(made, { tenantId: thereTenant, note: eventId }, (tx) =>
    queue.enqueue(tx, [{ tenantId: thereTenant, endpointId, eventId, eventType: 'note.made' }]),
  );
  await expect.poll(() => idsAt('there')).toContain(eventId);
});

test('a process that ends while a server is away gives its name back at once', async () => {
  const count = async () =>
    (await database.query(`select 1 from ${DELIVERY_SCHEMA}.dispatchers`)).rows.length;
  const ending = newDispatcher();
  await ending.start();
  expect(await count()).toBe(2);
  away.stop();
  await ending.stop();
  expect(await count()).toBe(1);
});

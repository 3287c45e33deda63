import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createIdFactory, createSealer } from '@libs/seal';
import { verifyMessage } from '@libs/webhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startReceiver } from '../../../../libs/webhooks/test/receiver.ts';
import { createEmitEvent } from '../events/service.ts';
import { migrationSource } from '../schema.ts';
import { createWebhooks, type Webhooks, type WebhooksDependencies } from './service.ts';
import { findConfig } from './store.ts';

// The service alone, on a real database and with a real receiver.

const DAY_MS = 86_400_000;
const OLD_KEY = Buffer.alloc(32, 1);
const NEW_KEY = Buffer.alloc(32, 2);
const ALL = { beforeId: undefined, limit: 100 };
const standing = async () => {};

let offsetMs = 0;
const now = () => new Date(Date.now() + offsetMs);
const newId = createIdFactory({ now: () => new Date(), randomBytes });
let db: TestDatabase;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
const running: Webhooks[] = [];
const errors: unknown[] = [];

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await db.drop();
});
afterEach(async () => {
  for (const webhooks of running.splice(0)) await webhooks.dispatcher.stop();
  offsetMs = 0;
});

async function start(changes: Partial<WebhooksDependencies> = {}): Promise<Webhooks> {
  const webhooks = createWebhooks({
    database: db.database,
    sealer: createSealer({ keys: [OLD_KEY] }),
    egressAllow: [receiver.place],
    newId,
    randomBytes,
    now,
    onError: (error) => errors.push(error),
    rules: { retryDelaysMs: [20], drainMs: 100 },
    ...changes,
  });
  await webhooks.dispatcher.start();
  running.push(webhooks);
  return webhooks;
}

let customers = 0;

async function addCustomer(): Promise<{ customerId: string; path: string; webhookUrl: string }> {
  const customerId = newId('cus');
  customers += 1;
  await db.database.query(
    `insert into customers (id, email, name, password_hash, created_at) values ($1, $1, 'Ada', '', now())`,
    [customerId],
  );
  const path = `/${customers}`;
  return { customerId, path, webhookUrl: receiver.url + path };
}

const emitterOf = (webhooks: Webhooks) => createEmitEvent({ newId, now, deliver: webhooks.deliver });
const arrivals = (path: string, count: number) =>
  expect.poll(() => receiver.to(path).length, { interval: 10 }).toBe(count);
const statuses = async (webhooks: Webhooks, customerId: string) =>
  (await webhooks.listDeliveries(customerId, ALL)).map(({ status }) => status);

describe('an event', () => {
  it('is delivered when its transaction commits, and only then', async () => {
    const webhooks = await start();
    const { customerId, path, webhookUrl } = await addCustomer();
    await webhooks.configure({ customerId, webhookUrl, events: null, standing });
    const emitEvent = emitterOf(webhooks);
    const event = { customerId, type: 'credential.expired', data: { platform: 'slack' } } as const;
    const failing = db.database.transaction(async (tx) => {
      await emitEvent(tx, event);
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    const id = await db.database.transaction(async (tx) => {
      const emitted = await emitEvent(tx, event);
      expect(receiver.to(path)).toEqual([]);
      return emitted;
    });
    await arrivals(path, 1);
    expect(receiver.to(path)[0]?.id).toBe(id);
    expect(await webhooks.listDeliveries(customerId, ALL)).toHaveLength(1);
  });

  it('goes to its own customer, and only if subscribed to', async () => {
    const webhooks = await start();
    const [one, other, none] = [await addCustomer(), await addCustomer(), await addCustomer()];
    await webhooks.configure({ ...one, standing, events: ['usage.threshold', 'invoice.created'] });
    await webhooks.configure({ ...other, standing, events: null });
    const emitEvent = emitterOf(webhooks);
    for (const { customerId } of [one, other, none]) {
      for (const type of ['usage.threshold', 'tool.call.failed', 'invoice.created'] as const) {
        await db.database.transaction((tx) => emitEvent(tx, { customerId, type, data: { customerId } }));
      }
    }
    await arrivals(other.path, 3);
    await arrivals(one.path, 2);
    const types = receiver.to(one.path).map(({ body }) => JSON.parse(body));
    expect(types.map(({ type }) => type).sort()).toEqual(['invoice.created', 'usage.threshold']);
    for (const { data } of types) expect(data).toEqual({ customerId: one.customerId });
    expect(await webhooks.listDeliveries(none.customerId, ALL)).toEqual([]);
  });

  it('is sent with the bytes that were emitted', async () => {
    const webhooks = await start();
    const { customerId, path, webhookUrl } = await addCustomer();
    const { secret } = await webhooks.configure({ customerId, webhookUrl, events: null, standing });
    const data = { zebra: 1, ape: '\u0000 \u2028 é 🦓 \ud83d', nested: { b: [1e21, 0.1, -0], a: null } };
    await db.database.transaction((tx) =>
      emitterOf(webhooks)(tx, { customerId, type: 'whatsapp.message.received', data }),
    );
    await arrivals(path, 1);
    const [received] = receiver.to(path);
    expect(received?.body).toMatch(/^\{"type":"whatsapp\.message\.received","timestamp":"[^"]+Z","data":\{/);
    expect(received?.body.endsWith(`"data":${JSON.stringify(data)}}`)).toBe(true);
    const { headers, body } = received as NonNullable<typeof received>;
    expect(verifyMessage({ headers, body, secrets: [secret], now: new Date() })).toEqual({ ok: true });
  });

  it('is removed when nobody can need it any more', async () => {
    const webhooks = await start();
    const { customerId } = await addCustomer();
    const count = async () =>
      (await db.database.query('select 1 from events where customer_id = $1', [customerId])).rowCount;
    const purge = () =>
      webhooks.jobs.handlers[0]?.handle([], { signal: new AbortController().signal }) as Promise<void>;
    await db.database.transaction((tx) =>
      emitterOf(webhooks)(tx, { customerId, type: 'invoice.created', data: {} }),
    );
    offsetMs = 89 * DAY_MS;
    await purge();
    expect(await count()).toBe(1);
    // The part that it is in is there for two months at most, from its first event to its last.
    offsetMs = (90 + 60) * DAY_MS + 1_000;
    await purge();
    expect(await count()).toBe(0);
  });
});

describe('a dead letter', () => {
  it('is there at 6 d 23 h, and its row is gone after 7 d', async () => {
    const webhooks = await start();
    const { customerId, path, webhookUrl } = await addCustomer();
    receiver.on(path, (_request, response) => response.writeHead(500).end());
    await webhooks.configure({ customerId, webhookUrl, events: null, standing });
    await webhooks.sendTest(customerId);
    await expect.poll(() => statuses(webhooks, customerId)).toEqual(['dead']);
    const rows = async () =>
      (
        await db.database.query('select 1 from toolhub_webhooks.deliveries where tenant_id = $1', [
          customerId,
        ])
      ).rowCount;
    offsetMs = 7 * DAY_MS - 3_600_000;
    await webhooks.dispatcher.sweep();
    expect([await rows(), (await webhooks.listDeadLetters(customerId, ALL)).length]).toEqual([1, 1]);
    offsetMs = 7 * DAY_MS + 1_000;
    expect(await webhooks.listDeadLetters(customerId, ALL)).toEqual([]);
    await webhooks.dispatcher.sweep();
    expect(await rows()).toBe(0);
  });

  it('without its event is still listed', async () => {
    const webhooks = await start();
    const { customerId, path, webhookUrl } = await addCustomer();
    receiver.on(path, (_request, response) => response.writeHead(500).end());
    await webhooks.configure({ customerId, webhookUrl, events: null, standing });
    await webhooks.sendTest(customerId);
    await expect.poll(() => statuses(webhooks, customerId)).toEqual(['dead']);
    await db.database.query('delete from events where customer_id = $1', [customerId]);
    const [letter] = await webhooks.listDeadLetters(customerId, ALL);
    expect(letter).toMatchObject({ payload: null, webhookUrl, eventType: 'webhook.test' });
    await webhooks.replay(customerId, letter?.id ?? '');
    await expect.poll(() => statuses(webhooks, customerId)).toEqual(['failed']);
  });
});

describe('the key that seals secrets', () => {
  it('is rotated: what the old one sealed still signs, and is left to the rotation', async () => {
    const before = await start();
    const { customerId, path, webhookUrl } = await addCustomer();
    const { secret } = await before.configure({ customerId, webhookUrl, events: null, standing });
    const stored = () => findConfig(db.database, customerId);
    const sealed = await stored();
    await before.dispatcher.stop();
    running.splice(0);
    const after = await start({ sealer: createSealer({ keys: [NEW_KEY, OLD_KEY] }) });
    await after.sendTest(customerId);
    await arrivals(path, 1);
    const { headers, body } = receiver.to(path)[0] as never;
    expect(verifyMessage({ headers, body, secrets: [secret], now: new Date() })).toEqual({ ok: true });
    await after.dispatcher.stop();
    expect(await stored()).toEqual(sealed);
  });

  it('is lost: the event dies as a letter that can be replayed, and is never sent without a signature', async () => {
    const good = await start();
    const { customerId, path, webhookUrl } = await addCustomer();
    await good.configure({ customerId, webhookUrl, events: null, standing });
    await good.dispatcher.stop();
    running.splice(0);
    const keyless = await start({ sealer: createSealer({ keys: [NEW_KEY] }) });
    await keyless.sendTest(customerId);
    await expect.poll(() => statuses(keyless, customerId)).toEqual(['dead']);
    expect(receiver.to(path)).toEqual([]);
    expect(errors.splice(0).length).toBeGreaterThan(0);
    await keyless.dispatcher.stop();
    running.splice(0);
    const mended = await start();
    const [letter] = await mended.listDeadLetters(customerId, ALL);
    await mended.replay(customerId, letter?.id ?? '');
    await arrivals(path, 1);
  });
});

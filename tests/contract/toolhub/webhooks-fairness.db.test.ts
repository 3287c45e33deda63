// Addresses that hang or refuse keep nobody else waiting.
import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '@libs/db/testing';
import { freePort } from '@libs/runtime/testing';
import { createIdFactory, createSealer } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmitEvent } from '../../../services/toolhub/src/events/service.ts';
import { deliveryRules } from '../../../services/toolhub/src/webhooks/rules.ts';
import { createWebhooks, type Webhooks } from '../../../services/toolhub/src/webhooks/service.ts';
import { createToolhubDatabase } from '../../../services/toolhub/test/instance.ts';
import { hang, type Receiver, startReceiver, verify } from './receiver.ts';

const HEALTHY = 40;
const HANGING = 5;
const REFUSING = 5;
/** `npm run faults` sends ten thousand; the short form keeps `npm test` short. */
const EVENTS = Number(process.env.FAULTS_EVENTS ?? 2_000);
const EVENTS_EACH = EVENTS / (HEALTHY + HANGING + REFUSING);
const CUSTOMERS_AT_ONCE = 4;

const now = () => new Date();
const newId = createIdFactory({ now, randomBytes });
const errors: unknown[] = [];

let db: TestDatabase;
let receiver: Receiver;
let webhooks: Webhooks;
let closedPlace: string;

beforeAll(async () => {
  db = await createToolhubDatabase();
  receiver = await startReceiver();
  closedPlace = `127.0.0.1:${await freePort()}`;
  webhooks = createWebhooks({
    database: db.database,
    sealer: createSealer({ keys: [Buffer.alloc(32, 3)] }),
    egressAllow: [receiver.place, closedPlace],
    newId,
    randomBytes,
    now,
    onError: (error) => errors.push(error),
    // Those that hang are cut off at the end of the test instead of being waited for.
    rules: { drainMs: 0 },
  });
  await webhooks.dispatcher.start();
});
afterAll(async () => {
  await webhooks.dispatcher.stop();
  await receiver.stop();
  await db.drop();
  expect(errors).toEqual([]);
});

interface Target {
  customerId: string;
  secret: string;
  path: string;
}

async function addCustomer(place: string, path: string): Promise<Target> {
  const customerId = newId('cus');
  await db.database.query(
    `insert into customers (id, email, name, password_hash, created_at) values ($1, $1, 'Ada', '', now())`,
    [customerId],
  );
  const { secret } = await webhooks.configure({
    customerId,
    webhookUrl: `http://${place}${path}`,
    events: null,
    standing: async () => {},
  });
  return { customerId, secret, path };
}

async function addCustomers(count: number, place: string, prefix: string): Promise<Target[]> {
  const targets: Target[] = [];
  for (let nth = 0; nth < count; nth += 1) targets.push(await addCustomer(place, `/${prefix}/${nth}`));
  return targets;
}

const emitEvent = createEmitEvent({ newId, now, deliver: (tx, event) => webhooks.deliver(tx, event) });

/** Each customer's events in a transaction, a few customers at a time; gives when each of them had committed. */
async function emitTo(targets: readonly Target[]): Promise<Map<string, number>> {
  const committedAtMs = new Map<string, number>();
  const waiting = [...targets];
  const work = async () => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
      const { customerId, path } = target;
      await db.database.transaction(async (tx) => {
        for (let nth = 0; nth < EVENTS_EACH; nth += 1) {
          await emitEvent(tx, { customerId, type: 'tool.call.failed', data: { nth } });
        }
      });
      committedAtMs.set(path, performance.now());
    }
  };
  await Promise.all(Array.from({ length: CUSTOMERS_AT_ONCE }, work));
  return committedAtMs;
}

/** How long the events of the healthy took from their commit to their arrival, in ascending order. */
async function measure(all: readonly Target[], healthy: readonly Target[]): Promise<number[]> {
  const paths = new Set(healthy.map(({ path }) => path));
  const committedAtMs = await emitTo(all);
  const arrived = () => receiver.received.filter(({ path }) => paths.has(path));
  await expect.poll(() => arrived().length, { interval: 50 }).toBe(healthy.length * EVENTS_EACH);
  return arrived()
    .map(({ path, atMs }) => atMs - (committedAtMs.get(path) ?? 0))
    .sort((one, other) => one - other);
}

const percentile = (sorted: readonly number[], part: number) =>
  sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;

test(`[TH-8.7] ${EVENTS} events to 50 addresses, 5 hang and 5 refuse: the others get theirs in time`, {
  timeout: 180_000,
}, async () => {
  const alone = await addCustomers(HEALTHY, receiver.place, 'alone');
  const aloneMs = await measure(alone, alone);

  const healthy = await addCustomers(HEALTHY, receiver.place, 'healthy');
  const hanging = await addCustomers(HANGING, receiver.place, 'hanging');
  const refusing = await addCustomers(REFUSING, closedPlace, 'refusing');
  for (const { path } of hanging) receiver.on(path, hang);
  // The bad ones come first, so that everything else is behind them.
  const besideMs = await measure([...hanging, ...refusing, ...healthy], healthy);

  // What is between the two is the noise of a machine with other work.
  expect(percentile(besideMs, 0.95)).toBeLessThan(percentile(aloneMs, 0.95) * 3 + 2_000);
  // Nobody waited for a try to hang until its end.
  expect(percentile(besideMs, 1)).toBeLessThan(deliveryRules.timeoutMs);
  for (const { path, secret, customerId } of healthy) {
    const received = receiver.at(path);
    expect([received.length, new Set(received.map(({ id }) => id)).size]).toEqual([EVENTS_EACH, EVENTS_EACH]);
    for (const one of received) verify(one, secret);
    expect(await webhooks.listDeadLetters(customerId, { beforeId: undefined, limit: 1 })).toEqual([]);
  }
  for (const { customerId } of [...hanging, ...refusing]) {
    const [tried] = await webhooks.listDeliveries(customerId, { beforeId: undefined, limit: 1 });
    expect(tried?.status).not.toBe('delivered');
  }
});

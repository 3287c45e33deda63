// The contract's own times: retries measured at the receiver, and the life of a dead letter by a test clock.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliveryRules } from '../../../services/toolhub/src/webhooks/rules.ts';
import {
  ADMIN_TOKEN,
  createToolhubDatabase,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { apiOf, newCustomer } from './customer.ts';
import { answer, type Receiver, startReceiver, verify } from './receiver.ts';
import { createTime } from './time.ts';

const time = createTime();
const HOUR_MS = 3_600_000;
const EARLY_MS_MAX = 50;
/** On a machine with other work; the next longer wait is still another one. */
const LATE_MS_MAX = 2_500;

let db: TestDatabase;
let service: Instance;
let receiver: Receiver;

beforeAll(async () => {
  db = await createToolhubDatabase();
  receiver = await startReceiver();
  service = await startInstance(db.url, {
    jobs: true,
    env: { TOOLHUB_EGRESS_ALLOW: receiver.place },
    now: time.now,
  });
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
  await db.drop();
});

/** A customer with a webhook that does not work, and what was sent to it. */
async function setUp(path: string) {
  const customer = await newCustomer(service.url);
  const api = apiOf(service.url, customer.token);
  const { body: config } = await api('POST', '/api/webhooks/config', { webhook_url: receiver.url + path });
  receiver.on(path, answer(503));
  const letters = async () => {
    const { body } = await api('GET', '/api/webhooks/dlq');
    const admin = await apiOf(service.url, ADMIN_TOKEN)('GET', `/api/admin/webhooks/dlq/${customer.id}`);
    expect(admin).toEqual({ status: 200, body });
    return body.data;
  };
  const { body: sent } = await api('POST', '/api/webhooks/test');
  return { api, path, letters, sent, secret: config.webhook_secret as string };
}

test('[TH-8.5] a receiver has ten seconds, and neither the time that it asks for nor a 410 changes the schedule', () => {
  expect(deliveryRules).toMatchObject({
    ...{ timeoutMs: 10_000, retryDelaysMs: [1_000, 4_000, 16_000], jitter: 0 },
    ...{ honourRetryAfter: false, disableOnGone: false, keepUndeliveredMs: 7 * 24 * HOUR_MS },
  });
});

test('[TH-8.5] retries after 1, 4 and 16 seconds, then a dead letter for 7 days that can be replayed', {
  timeout: 60_000,
}, async () => {
  const replayed = await setUp('/replayed');
  const forgotten = await setUp('/forgotten');
  for (const { path, letters } of [replayed, forgotten]) {
    await expect.poll(() => receiver.at(path).length).toBe(3);
    expect(await letters()).toEqual([]);
  }
  for (const { path, letters, sent, secret } of [replayed, forgotten]) {
    await expect.poll(async () => (await letters()).length, { interval: 100 }).toBe(1);
    const received = receiver.at(path);
    expect(received.map(({ id }) => id)).toEqual(Array(4).fill(sent.event_id));
    for (const [index, seconds] of [1, 4, 16].entries()) {
      const gapMs = (received[index + 1]?.atMs ?? 0) - (received[index]?.atMs ?? 0);
      expect(gapMs).toBeGreaterThan(seconds * 1_000 - EARLY_MS_MAX);
      expect(gapMs).toBeLessThan(seconds * 1_000 + LATE_MS_MAX);
    }
    for (const one of received) verify(one, secret);
  }

  time.advance((6 * 24 + 23) * HOUR_MS);
  const [letter] = await replayed.letters();
  const [other] = await forgotten.letters();
  receiver.on('/replayed', answer(200));
  expect((await replayed.api('POST', `/api/webhooks/dlq/${letter.id}/replay`)).status).toBe(202);
  await expect.poll(() => receiver.at('/replayed').length).toBe(5);
  expect(receiver.at('/replayed').at(-1)).toMatchObject({ id: letter.event_id, body: letter.payload });
  expect(await replayed.letters()).toEqual([]);

  time.advance(1 * HOUR_MS);
  expect(await forgotten.letters()).toEqual([]);
  expect((await forgotten.api('POST', `/api/webhooks/dlq/${other.id}/replay`)).status).toBe(404);
  expect((await forgotten.api('GET', '/api/webhooks/deliveries')).body.data).toEqual([]);
  expect((await replayed.api('GET', '/api/webhooks/deliveries')).body.data).toMatchObject([
    { event_id: letter.event_id, status: 'delivered' },
  ]);
});

// The contract's own times: retries measured at the receiver, and the life of a dead letter by a test clock.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answer, type Receiver, startReceiver, verify } from './receiver.ts';
import {
  ADMIN_TOKEN,
  apiOf,
  createTime,
  createToolhubDatabase,
  newCustomer,
  type Service,
  startService,
} from './service.ts';

const time = createTime();
const HOUR_MS = 3_600_000;
const TOLERANCE_MS = 500;

let db: TestDatabase;
let service: Service;
let receiver: Receiver;

beforeAll(async () => {
  db = await createToolhubDatabase();
  receiver = await startReceiver();
  service = await startService(db.url, {
    env: { TOOLHUB_EGRESS_ALLOW: receiver.place },
    now: time.now,
  });
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
  await db.drop();
});

test('retries after 1, 4 and 16 seconds, then a dead letter for 7 days that can be replayed', {
  timeout: 60_000,
}, async () => {
  const customer = await newCustomer(service.url);
  const api = apiOf(service.url, customer.token);
  const admin = apiOf(service.url, ADMIN_TOKEN);
  const made = await api('POST', '/api/webhooks/config', { webhook_url: `${receiver.url}/hooks` });
  receiver.on('/hooks', answer(503));
  const letters = async () => {
    const own = (await api('GET', '/api/webhooks/dlq')).body;
    expect((await admin('GET', `/api/admin/webhooks/dlq/${customer.id}`)).body).toEqual(own);
    return own.data;
  };

  // Three of them, of which two die side by side with the one that is measured.
  const sent = [];
  for (let nth = 0; nth < 3; nth += 1) sent.push((await api('POST', '/api/webhooks/test')).body);
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(9);
  expect(await letters()).toEqual([]);
  await expect.poll(async () => (await letters()).length, { timeout: 30_000, interval: 100 }).toBe(3);
  for (const { event_id } of sent) {
    const times = receiver.received.filter(({ id }) => id === event_id).map(({ atMs }) => atMs);
    expect(times.length).toBe(4);
    for (const [index, seconds] of [1, 4, 16].entries()) {
      const gapMs = (times[index + 1] ?? 0) - (times[index] ?? 0);
      expect(Math.abs(gapMs - seconds * 1_000)).toBeLessThan(TOLERANCE_MS);
    }
  }
  for (const received of receiver.received) verify(received, made.body.webhook_secret);

  const ids = (await letters()).map(({ event_id }: { event_id: string }) => event_id);
  expect(ids).toEqual(sent.map(({ event_id }) => event_id).reverse());

  time.advance((6 * 24 + 23) * HOUR_MS);
  const [newest, middle] = await letters();
  expect((await letters()).length).toBe(3);
  receiver.on('/hooks', answer(200));
  expect((await api('POST', `/api/webhooks/dlq/${newest.id}/replay`)).status).toBe(202);
  await expect.poll(() => receiver.received.length).toBe(13);
  expect(receiver.received.at(-1)).toMatchObject({ id: newest.event_id, body: newest.payload });
  expect((await letters()).length).toBe(2);

  time.advance(1 * HOUR_MS);
  expect(await letters()).toEqual([]);
  expect((await api('POST', `/api/webhooks/dlq/${middle.id}/replay`)).status).toBe(404);
  const { data } = (await api('GET', '/api/webhooks/deliveries')).body;
  expect(data.map(({ event_id, status }: Record<string, string>) => [event_id, status])).toEqual([
    [newest.event_id, 'delivered'],
  ]);
});

// A key is lost for good: what it sealed is made anew, and nobody else waits for it.
import { createSealer } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_TOKEN, type Harness, type Instance, startHarness } from '../contract/payments/harness.ts';
import { type Receiver, startReceiver } from '../contract/payments/receiver.ts';

const LOST = Buffer.alloc(32, 1);
const sealerOf = (key: Buffer) => createSealer({ keys: [key] });
const under = (key: Buffer) => ({ secrets: { sealer: sealerOf(key), adminToken: ADMIN_TOKEN } });

let harness: Harness;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  harness = await startHarness({ service: under(LOST) });
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

async function addEndpoint({ call }: Pick<Instance, 'call'>, path: string): Promise<string> {
  const { status, body } = await call('POST', '/v1/webhook_endpoints', {
    body: { url: `${receiver.url}${path}` },
  });
  expect(status).toBe(201);
  return body.id;
}

test('an endpoint whose secrets cannot be opened holds up no other, and works again with a new secret', async () => {
  const lost = await addEndpoint(harness, '/lost');
  await harness.stopServing();
  const after = await harness.another({
    env: { PAYMENTS_LOST_ENCRYPTION_KEYS: sealerOf(LOST).keyIds[0] },
    service: under(Buffer.alloc(32, 2)),
  });
  await addEndpoint(after, '/other');
  const test = await after.call('POST', `/v1/webhook_endpoints/${lost}/test`);
  const paid = await after.call('POST', '/v1/payments', {
    headers: { 'idempotency-key': 'lost' },
    body: {
      ...{ amount: 500, currency: 'USD', rail: 'rtp', source: { payment_method_id: 'pm_a' } },
      destination: { payment_method_id: 'pm_b' },
    },
  });
  expect([test.status, paid.status]).toEqual([202, 202]);
  await expect.poll(() => receiver.at('/other').length).toBeGreaterThan(0);
  const delivery = () => after.call('GET', `/v1/webhook_endpoints/${lost}/deliveries`);
  await expect.poll(async () => (await delivery()).body.data.at(-1)?.attempts.length).toBeGreaterThan(0);
  expect(receiver.at('/lost')).toEqual([]);

  const rotated = await after.call('POST', `/v1/webhook_endpoints/${lost}/rotate_secret`);
  expect([rotated.status, rotated.body.secret]).toEqual([200, expect.stringMatching(/^whsec_/)]);
  expect((await after.call('POST', `/v1/webhook_endpoints/${lost}/test`)).status).toBe(202);
  await expect.poll(() => receiver.at('/lost').length).toBeGreaterThan(0);
});

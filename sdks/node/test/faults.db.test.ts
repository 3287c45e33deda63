// Against the real service, with a network in between that loses, delays and refuses: one payment in the end.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../tests/contract/payments/harness.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../../test/fault-proxy.ts';
import { Payments } from '../src/index.ts';

let harness: Harness;
let proxy: FaultProxy;
let client: Payments;
let direct: Payments;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0' } });
  proxy = await startFaultProxy(harness.url);
  const { test: apiKey } = await harness.organisation();
  direct = new Payments({ apiKey, baseUrl: harness.url });
  client = new Payments({ apiKey, baseUrl: proxy.url, timeoutMs: 1_500, maxRetries: 8 });
});
afterAll(async () => {
  await proxy.close();
  await harness.stop();
});

const faults: Fault[][] = [
  ['cut_before'],
  ['cut_after'],
  ['slow'],
  ['half_body'],
  ['half_body_unmarked'],
  ['408'],
  ['409'],
  ['429'],
  ['503'],
  ['502_after'],
  ['cut_after', '503', 'half_body', '429', 'cut_before'],
];

test.each(faults.map((plan) => ({ plan })))('one payment in the end: $plan', async ({ plan }) => {
  const tag = plan.join('+');
  proxy.plan(plan);
  const payment = await client.payments.create({
    amount: 2500,
    currency: 'USD',
    source: { payment_method_id: 'pm_alice' },
    destination: { payment_method_id: 'pm_bob' },
    metadata: { tag },
  });
  expect(proxy.seen).toHaveLength(plan.length + 1);
  expect(new Set(proxy.seen.map(({ idempotencyKey, body }) => `${idempotencyKey} ${body}`)).size).toBe(1);
  const made = await direct.payments.list({ metadata: { tag } }).toArray({ limit: 10 });
  expect(made.map(({ id }) => id)).toEqual([payment.id]);
});

test('other writes happen once, too: money is put into a balance once', async () => {
  proxy.plan(['cut_after', 'half_body']);
  const balance = await client.paymentMethods.create({ type: 'balance' });
  proxy.plan(['cut_after', 'half_body', '502_after']);
  const funded = await client.sandbox.fund(balance.id, 5_000);
  expect(funded.balance?.available).toBe(5_000);
  expect(await direct.paymentMethods.list({ type: 'balance' }).toArray({ limit: 10 })).toHaveLength(1);
});

test('reads go on over faults, page after page, and so does waiting', async () => {
  proxy.plan(['cut_after', 'half_body', '429']);
  const ids = new Set<string>();
  for await (const { id } of client.payments.list({ limit: 4 })) ids.add(id);
  expect(ids.size).toBe(faults.length);
  const body = {
    amount: 100,
    currency: 'USD',
    source: { payment_method_id: 'pm_alice' },
    destination: { payment_method_id: 'pm_bob' },
    rail: 'rtp',
  } as const;
  const { id } = await client.payments.create(body);
  proxy.plan(['cut_before', '503', 'half_body']);
  expect((await client.payments.waitFor(id, 'completed')).status).toBe('completed');
});

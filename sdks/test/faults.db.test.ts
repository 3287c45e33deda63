// Against the real service, with a network in between that loses, delays and refuses: one payment in the end, with each SDK.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../tests/contract/payments/harness.ts';
import { type Driver, drivers } from './drivers.ts';
import { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts';

const plans: Fault[][] = [
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

let harness: Harness;
let proxy: FaultProxy;
beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0' } });
  proxy = await startFaultProxy(harness.url);
});
afterAll(async () => {
  await proxy.close();
  await harness.stop();
});

const body = {
  amount: 2500,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
};

describe.each(drivers)('$name', ({ start }) => {
  let driver: Driver;
  let apiKey: string;
  beforeAll(async () => {
    apiKey = (await harness.organisation()).test;
    driver = await start({ apiKey, baseUrl: proxy.url, timeoutMs: 1_500, maxRetries: 8 });
  }, 120_000);
  afterAll(() => driver.close());

  const listed = async (query: string) => {
    const { body: page } = await harness.call('GET', `/v1/${query}`, { key: apiKey });
    return page.data.map(({ id }: { id: string }) => id);
  };

  test.each(plans.map((plan) => ({ plan })))('one payment in the end: $plan', async ({ plan }) => {
    const tag = plan.join('+');
    proxy.plan(plan);
    const payment = await driver.run({ call: 'payments.create', fields: { ...body, metadata: { tag } } });
    expect(proxy.seen).toHaveLength(plan.length + 1);
    expect(new Set(proxy.seen.map(({ idempotencyKey, body }) => `${idempotencyKey} ${body}`)).size).toBe(1);
    expect(await listed(`payments?metadata[tag]=${encodeURIComponent(tag)}`)).toEqual([payment.id]);
  });

  test('other writes happen once, too: money is put into a balance once', async () => {
    proxy.plan(['cut_after', 'half_body']);
    const balance = await driver.run({ call: 'paymentMethods.create', fields: { type: 'balance' } });
    proxy.plan(['cut_after', 'half_body', '502_after']);
    const funded = await driver.run({ call: 'sandbox.fund', positional: [balance.id, 5_000] });
    expect(funded.balance.available).toBe(5_000);
    expect(await listed('payment_methods?type=balance')).toEqual([balance.id]);
  });

  test('reads go on over faults, page after page, and so does waiting', async () => {
    proxy.plan(['cut_after', 'half_body', '429']);
    const found = await driver.run({ call: 'payments.list', fields: { limit: 4 }, take: 100 });
    expect(new Set(found.map(({ id }: { id: string }) => id)).size).toBe(plans.length);
    const { id } = await driver.run({ call: 'payments.create', fields: { ...body, rail: 'rtp' } });
    proxy.plan(['cut_before', '503', 'half_body']);
    const completed = await driver.run({ call: 'payments.waitFor', positional: [id, 'completed'] });
    expect(completed.status).toBe('completed');
  });
});

// Against the real service, with a network in between that loses, delays and refuses: one payment in the end, with each SDK.
import { afterAll, beforeAll, expect, test } from 'vitest';
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
/** Each SDK behind a network of its own, so that they wait side by side. */
let clients: { name: string; driver: Driver; proxy: FaultProxy; apiKey: string }[];
beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0' } });
  clients = await Promise.all(
    drivers.map(async ({ name, start }) => {
      const proxy = await startFaultProxy(harness.url);
      const { test: apiKey } = await harness.organisation();
      const driver = await start({ apiKey, baseUrl: proxy.url, timeoutMs: 1_500, maxRetries: 8 });
      return { name, driver, proxy, apiKey };
    }),
  );
}, 120_000);
afterAll(async () => {
  for (const { driver, proxy } of clients) {
    driver.close();
    await proxy.close();
  }
  await harness.stop();
});

const body = {
  amount: 2500,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
};

type Client = (typeof clients)[number];

async function withEach(check: (client: Client) => Promise<void>): Promise<void> {
  await Promise.all(clients.map(check));
}

async function listed({ apiKey }: Client, query: string): Promise<string[]> {
  const { body: page } = await harness.call('GET', `/v1/${query}`, { key: apiKey });
  return page.data.map(({ id }: { id: string }) => id);
}

test.each(plans.map((plan) => ({ plan })))('one payment in the end, with each SDK: $plan', ({ plan }) =>
  withEach(async (client) => {
    const { name, driver, proxy } = client;
    const tag = plan.join('+');
    proxy.plan(plan);
    const payment = await driver.run({ call: 'payments.create', fields: { ...body, metadata: { tag } } });
    expect(proxy.seen, name).toHaveLength(plan.length + 1);
    const sent = new Set(proxy.seen.map(({ idempotencyKey, body }) => `${idempotencyKey} ${body}`));
    expect(sent.size, name).toBe(1);
    const found = await listed(client, `payments?metadata[tag]=${encodeURIComponent(tag)}`);
    expect(found, name).toEqual([payment.id]);
  }),
);

test('other writes happen once, too: money is put into a balance once', () =>
  withEach(async (client) => {
    const { name, driver, proxy } = client;
    proxy.plan(['cut_after', 'half_body']);
    const balance = await driver.run({ call: 'paymentMethods.create', fields: { type: 'balance' } });
    proxy.plan(['cut_after', 'half_body', '502_after']);
    const funded = await driver.run({ call: 'sandbox.fund', positional: [balance.id, 5_000] });
    expect(funded.balance.available, name).toBe(5_000);
    expect(await listed(client, 'payment_methods?type=balance'), name).toEqual([balance.id]);
  }));

test('reads go on over faults, page after page, and so does waiting', () =>
  withEach(async ({ name, driver, proxy }) => {
    proxy.plan(['cut_after', 'half_body', '429']);
    const found = await driver.run({ call: 'payments.list', fields: { limit: 4 }, take: 100 });
    expect(new Set(found.map(({ id }: { id: string }) => id)).size, name).toBe(plans.length);
    const { id } = await driver.run({ call: 'payments.create', fields: { ...body, rail: 'rtp' } });
    proxy.plan(['cut_before', '503', 'half_body']);
    const completed = await driver.run({ call: 'payments.waitFor', positional: [id, 'completed'] });
    expect(completed.status, name).toBe('completed');
  }));

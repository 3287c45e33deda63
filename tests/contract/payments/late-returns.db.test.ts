// Returns that come after everybody has turned away: the balance they concern was deleted meanwhile.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

let harness: Harness;
let key: string;
let keys = 0;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '5', PAYMENTS_SANDBOX_ACH_MS: '50' } });
  key = (await harness.organisation()).test;
});
afterAll(() => harness.stop());

async function call(method: string, path: string, body?: unknown) {
  keys += 1;
  return harness.call(method, path, {
    ...{ key, body },
    headers: method === 'POST' ? { 'idempotency-key': `late ${keys}` } : {},
  });
}

async function pay(source: string, destination: string, { amount = 500, rail = 'ach' } = {}) {
  const made = await call('POST', '/v1/payments', {
    ...{ amount, currency: 'USD', rail },
    source: { payment_method_id: source },
    destination: { payment_method_id: destination },
  });
  expect(made.status, made.text).toBe(202);
  await reach(made.body.id, 'completed');
  return made.body.id as string;
}

const reach = (id: string, status: string) =>
  expect.poll(async () => (await call('GET', `/v1/payments/${id}`)).body.status).toBe(status);

async function open(): Promise<string> {
  return (await call('POST', '/v1/payment_methods', { type: 'balance' })).body.id;
}

const show = (id: string) => call('GET', `/v1/payment_methods/${id}`);
const remove = async (id: string) => (await call('DELETE', `/v1/payment_methods/${id}`)).status;
const fund = (id: string, amount: number) =>
  call('POST', `/v1/sandbox/payment_methods/${id}/fund`, { amount });
const sendBack = (id: string) => call('POST', `/v1/sandbox/payments/${id}/return`, { code: 'R03' });

async function eventTypes(id: string): Promise<string[]> {
  const { data } = (await call('GET', `/v1/events?object_id=${id}`)).body;
  return data.map(({ type }: { type: string }) => type);
}

async function expectProvenBooks(): Promise<void> {
  expect((await call('GET', '/v1/ledger/check')).body).toMatchObject({ ok: true });
}

test('[P-4.25] [P-10.11] money that comes back opens its deleted balance again, to be paid out and deleted anew', async () => {
  const balance = await open();
  await fund(balance, 500);
  const sent = await pay(balance, 'pm_shop');
  expect(await remove(balance)).toBe(204);
  expect((await sendBack(sent)).body.status).toBe('returned');
  const { status, body } = await show(balance);
  expect([status, body.balance]).toMatchObject([200, { posted: 500, available: 500, owed: 0 }]);
  const { data } = (await call('GET', '/v1/payment_methods?type=balance')).body;
  expect(data).toContainEqual(body);
  expect(await eventTypes(balance)).toEqual([
    ...['payment_method.updated', 'payment_method.deleted', 'payment_method.created'],
  ]);
  const [updated] = (await call('GET', `/v1/events?object_id=${balance}`)).body.data;
  expect(updated.data).toEqual(body);
  expect(await remove(balance)).toBe(409);
  await pay(balance, 'pm_shop', { rail: 'rtp' });
  expect(await remove(balance)).toBe(204);
  expect((await show(balance)).status).toBe(404);
  await expectProvenBooks();
});

test('[P-4.25] what a return leaves missing in a deleted balance is shown as owed, and can be paid in', async () => {
  const balance = await open();
  const received = await pay('pm_payer', balance);
  await pay(balance, 'pm_shop', { rail: 'rtp' });
  expect(await remove(balance)).toBe(204);
  expect((await sendBack(received)).body.status).toBe('returned');
  expect((await show(balance)).body.balance).toMatchObject({ posted: -500, available: -500, owed: 500 });
  await pay('pm_payer', balance, { rail: 'rtp' });
  expect((await show(balance)).body.balance).toMatchObject({ posted: 0, owed: 0 });
  expect(await remove(balance)).toBe(204);
  await expectProvenBooks();
});

test('[P-4.29] a balance that is deleted at the moment at which its money comes back has the money, and is there', async () => {
  const sent = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const balance = await open();
      await fund(balance, 500);
      return { balance, payment: await pay(balance, 'pm_shop') };
    }),
  );
  const deletions = await Promise.all(
    sent.map(async ({ balance, payment }) => (await Promise.all([remove(balance), sendBack(payment)]))[0]),
  );
  for (const status of deletions) expect([204, 409]).toContain(status);
  for (const { balance } of sent) expect((await show(balance)).body.balance?.posted).toBe(500);
  await expectProvenBooks();
});

// Returns that come after everybody has turned away: the balance they concern was deleted meanwhile.
import { enqueueJobs } from '@libs/jobs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClocks } from '../../../services/payments/src/clock/service.ts';
import {
  createStrandedBalances,
  STRANDED_JOB,
} from '../../../services/payments/src/payment-methods/stranded.ts';
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

describe('balances that a version before left deleted with their money', () => {
  /** As that version did it: deleted while empty, and changed by a return after that. */
  async function strand(amount: number): Promise<string> {
    const balance = await open();
    if (amount > 0) await fund(balance, amount);
    const sql = 'update payment_methods set deleted_at = now() where id = $1';
    await harness.database.query(sql, [balance]);
    return balance;
  }

  async function owing(): Promise<string> {
    const balance = await open();
    const received = await pay('pm_payer', balance);
    await pay(balance, 'pm_shop', { rail: 'rtp' });
    await sendBack(received);
    await harness.database.query('update payment_methods set deleted_at = now() where id = $1', [balance]);
    return balance;
  }

  const lookDaily = () =>
    enqueueJobs(harness.database, harness.database.schema, [{ name: STRANDED_JOB, payload: {} }]);

  test('[P-10.11] are there again, each once, and those that are empty stay deleted', async () => {
    const [full, owes, empty] = [await strand(700), await owing(), await strand(0)];
    expect((await show(full)).status).toBe(404);
    const now = '2031-05-06T07:08:09.000Z';
    expect((await call('POST', '/v1/sandbox/clock', { now })).status).toBe(200);
    await lookDaily();
    await expect.poll(async () => (await show(owes)).body.balance?.owed).toBe(500);
    await expect.poll(async () => (await show(full)).body.balance?.posted).toBe(700);
    expect((await show(full)).body.updated_at).toBe(now);
    expect((await show(empty)).status).toBe(404);
    const last = await strand(5);
    await lookDaily();
    await expect.poll(async () => (await show(last)).status).toBe(200);
    expect(await eventTypes(full)).toEqual(['payment_method.updated', 'payment_method.created']);
    expect(await eventTypes(empty)).toEqual(['payment_method.created']);
    await expectProvenBooks();
  });

  test('are looked for a little at a time, on from where the work before got to', async () => {
    const stranded: string[] = [];
    for (let made = 0; made < 5; made += 1) stranded.push(await strand(3));
    const { handler } = createStrandedBalances({
      ...{ database: harness.database, clocks: createClocks({ now: () => new Date() }) },
      ...{ reopen: harness.parts.methods.paymentMethods.reopen, rowsPerPage: 1, pagesPerJob: 1 },
    });
    await handler.handle([], { signal: new AbortController().signal });
    const open = async () => (await Promise.all(stranded.map(show))).filter(({ status }) => status === 200);
    await expect.poll(async () => (await open()).length).toBe(stranded.length);
  });
});

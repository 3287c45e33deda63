// While the server of some tenants is away those of the others can pay: no statement of a payment asks more than one server.
import type { Database, Queryable } from '@libs/db';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SHARED_TEST_SCOPE } from '../../services/payments/src/rails/ach/entries/scope.ts';
import { type Answer, type Harness, type Instance, startHarness } from '../contract/payments/harness.ts';
import { type Receiver, startReceiver } from '../contract/payments/receiver.ts';

/** What one process asked, each statement with the values that it last came with. */
type Asked = Map<string, readonly unknown[] | undefined>;

const EXPLAINED = /^\s*(select|with|insert|update|delete|merge)\b/i;

let worker: Harness;
let api: Instance;
let receiver: Receiver;
let keys = 0;
const askedByWorker: Asked = new Map();
const askedByApi: Asked = new Map();

const overhearing = (asked: Asked) => {
  const listening = <Kind extends Queryable>(db: Kind): Kind => ({
    ...db,
    query: (statement: Parameters<Queryable['query']>[0], values?: readonly unknown[]) => {
      asked.set(typeof statement === 'string' ? statement : statement.text, values);
      return db.query(statement, values);
    },
  });
  return (database: Database): Database => ({
    ...listening(database),
    transaction: (work, options) => database.transaction((tx) => work(listening(tx)), options),
  });
};

beforeAll(async () => {
  receiver = await startReceiver();
  const env = { PAYMENTS_SANDBOX_RTP_MS: '1', PAYMENTS_SANDBOX_ACH_MS: '1' };
  worker = await startHarness({ env, overhear: overhearing(askedByWorker) });
  api = await worker.another({
    ...{ env: { ...env, PAYMENTS_ROLE: 'api' }, overhear: overhearing(askedByApi) },
  });
});
afterAll(async () => {
  await worker.stop();
  await receiver.stop();
});

/** How many pieces the first server makes of it, each of which may lie on another one. */
async function countTasks(text: string, values: readonly unknown[] | undefined): Promise<number> {
  const { rows } = await worker.testDatabase.database.query(`explain (format json) ${text}`, values);
  const found = JSON.stringify(rows).matchAll(/"Task Count":\s*(\d+)/g);
  return Math.max(0, ...[...found].map(([, count]) => Number(count)));
}

/** Rows that are added go where they belong each, and such a statement with another in it is explained by no server. */
const addsRows = (text: string) => /\binsert into\b/i.test(text);

async function isWide(text: string, values: readonly unknown[] | undefined): Promise<boolean> {
  try {
    return (await countTasks(text, values)) > 1;
  } catch (error) {
    if (addsRows(text) && String(error).includes('could not create distributed plan')) return false;
    throw error;
  }
}

/** Those that more than one server is asked for, but for what looks at the files in which many tenants' entries travel. */
async function findWide(asked: Asked): Promise<string[]> {
  const wide: string[] = [];
  for (const [text, values] of asked)
    if (EXPLAINED.test(text) && values?.[0] !== SHARED_TEST_SCOPE && (await isWide(text, values)))
      wide.push(text);
  return wide;
}

async function setUpTenant() {
  const { test: key } = await worker.organisation();
  const call = async (method: string, path: string, body?: unknown, idempotencyKey?: string) => {
    keys += 1;
    const answer = await api.call(method, path, {
      ...{ key, headers: method === 'POST' ? { 'idempotency-key': idempotencyKey ?? `key ${keys}` } : {} },
      ...(body === undefined ? {} : { body }),
    });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  const order = (more: object) => ({
    ...{ amount: 1_000, currency: 'USD' },
    ...{ source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: 'pm_bob' } },
    ...more,
  });
  const pay = async (more: object): Promise<Answer['body']> =>
    (await call('POST', '/v1/payments', order(more))).body;
  const completed = (id: string) =>
    expect.poll(async () => (await call('GET', `/v1/payments/${id}`)).body.status).toBe('completed');
  const openFunded = async (amount: number): Promise<{ payment_method_id: string }> => {
    const { body } = await call('POST', '/v1/payment_methods', { type: 'balance' });
    await call('POST', `/v1/sandbox/payment_methods/${body.id}/fund`, { amount });
    return { payment_method_id: body.id };
  };
  return { call, order, pay, completed, openFunded };
}

test('a payment by each rail, from its request to its webhook, asks the server of its tenant alone', async () => {
  const { call, order, pay, completed, openFunded } = await setUpTenant();
  const { body: endpoint } = await call('POST', '/v1/webhook_endpoints', { url: `${receiver.url}/hook` });
  const [source, destination] = [await openFunded(5_000), await openFunded(1)];
  const first = (await call('POST', '/v1/payments', order({ rail: 'rtp' }), 'twice')).body;
  expect((await call('POST', '/v1/payments', order({ rail: 'rtp' }), 'twice')).body.id).toBe(first.id);
  await completed(first.id);
  expect((await call('POST', '/v1/payments', order({ rail: 'rtp' }), 'twice')).body.id).toBe(first.id);
  for (const more of [{ rail: 'ach' }, { source, destination }, { source }])
    await completed((await pay(more)).id);
  await completed((await call('POST', `/v1/payments/${first.id}/refunds`, { amount: 400 })).body.id);
  await call('POST', '/v1/sandbox/clock', { advance: 'PT0S' });
  const waiting = await pay({ rail: 'ach' });
  await call('POST', `/v1/payments/${waiting.id}/cancel`);
  const slow = await pay({ rail: 'ach' });
  await call('POST', '/v1/sandbox/clock', { advance: 'P10D' });
  await completed(slow.id);
  await call('GET', `/v1/payments/${slow.id}/messages`);
  await call('GET', '/v1/payments');
  await call('GET', '/v1/events');
  await call('GET', '/v1/ledger/accounts');
  await expect.poll(() => receiver.at('/hook').length).toBeGreaterThan(10);
  await call('GET', `/v1/webhook_endpoints/${endpoint.id}/deliveries`);
  expect([askedByApi.size, askedByWorker.size].every((statements) => statements > 40)).toBe(true);
  expect(await findWide(askedByApi)).toEqual([]);
  expect(await findWide(askedByWorker)).toEqual([]);
  expect(worker.errors).toEqual([]);
});

// What developers see of their calls afterwards, and what nobody ever sees there.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Harness, Instance } from './harness.ts';
import { startHarness, startInstance } from './harness.ts';
import { type Browser, signUp } from './person.ts';

const DAY_MS = 24 * 60 * 60_000;
const WAIT_MS = 10_000;

let harness: Harness;
let owner: Browser & { organisationId: string; userId: string };
let key: string;

beforeAll(async () => {
  harness = await startHarness();
  owner = await signUp(harness);
  key = (await owner.call('POST', '/v1/keys', { name: 'Server' })).body.key;
}, 60_000);
afterAll(() => harness.stop());

type Log = Record<string, unknown> & { id: string; path: string; status: number };

async function logsOf(browser: Browser, query: string, count: number, mode?: 'live'): Promise<Answer> {
  const deadlineMs = performance.now() + WAIT_MS;
  for (;;) {
    const answer = await browser.call('GET', `/v1/request_logs${query}`, undefined, mode ? { mode } : {});
    if (answer.body.data?.length >= count || performance.now() > deadlineMs) return answer;
    await new Promise((resume) => setTimeout(resume, 50));
  }
}

const BANK_ACCOUNT = {
  type: 'bank_account',
  bank_account: {
    ...{ routing_number: '021000021', account_number: '98765432101', account_type: 'checking' },
    ...{ holder_name: 'Zora Neale', holder_type: 'individual' },
  },
};

test('[P-9.17] a call is found with what was sent and answered, without account numbers, names and secrets', async () => {
  const made = await harness.call('POST', '/v1/payment_methods', {
    ...{ key, body: BANK_ACCOUNT },
    headers: { 'idempotency-key': 'first', 'x-request-id': 'own_request_id_1', 'api-version': '2026-11-15' },
  });
  expect(made.status).toBe(201);
  const found = await logsOf(owner, '?request_id=own_request_id_1', 1);
  expect(found.body).toMatchObject({ object: 'list', next_cursor: null, left_out: 0, kept_days: 7 });
  const [log] = found.body.data as Log[];
  expect(log).toMatchObject({
    ...{ object: 'request_log', method: 'POST', path: '/v1/payment_methods', query: null, status: 201 },
    ...{ request_id: 'own_request_id_1', api_version: '2026-11-15', idempotency_key: 'first', user_id: null },
    key_id: expect.stringMatching(/^key_/),
    ip: '127.0.0.1',
  });
  const { body, text } = await owner.call('GET', `/v1/request_logs/${log?.id}`);
  expect(body.request_body.bank_account).toEqual({
    ...{ routing_number: '[redacted]', account_number: '[redacted]', holder_name: '[redacted]' },
    ...{ account_type: 'checking', holder_type: 'individual' },
  });
  expect(body.response_body).toMatchObject({ id: made.body.id, object: 'payment_method' });
  expect(text).not.toMatch(/98765432101|Zora|021000021/);
  const { rows } = await harness.database.query<{ whole: string }>(
    'select row_to_json(l)::text as whole from request_logs l where tenant_id = $1',
    [`${owner.organisationId}.test`],
  );
  expect(rows.map(({ whole }) => whole).join()).not.toMatch(/98765432101|Zora|021000021|sk_test_/);
});

test('[P-9.17] what people change is there with who did it, new keys are not, and reading pages leaves nothing', async () => {
  await owner.call('GET', '/v1/payments');
  const found = await logsOf(owner, '?path=/v1/keys', 1);
  expect(found.body.data).toMatchObject([{ method: 'POST', user_id: owner.userId, key_id: null }]);
  const { body } = await owner.call('GET', `/v1/request_logs/${found.body.data[0].id}`);
  expect(body.response_body.key).toBe('[redacted]');
  const reads = await logsOf(owner, `?method=GET&key=${owner.userId}`, 0);
  expect(reads.body.data).toEqual([]);
});

test('[P-9.17] refusals are found by status, and pages follow each other without a gap', async () => {
  for (let n = 0; n < 5; n++) await harness.call('GET', `/v1/payments/pay_none${n}?metadata[a]=1`, { key });
  await harness.call('POST', '/v1/payments', {
    key,
    body: { amount: -1 },
    headers: { 'idempotency-key': 'b' },
  });
  await logsOf(owner, '?status=4xx', 6);
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Answer = await owner.call(
      'GET',
      `/v1/request_logs?status=400&path=/v1/payments/&limit=2${cursor && `&cursor=${cursor}`}`,
    );
    seen.push(...(page.body.data as Log[]).map(({ path }) => path));
    cursor = page.body.next_cursor;
  }
  expect(seen).toEqual([4, 3, 2, 1, 0].map((n) => `/v1/payments/pay_none${n}`));
  const refused = await owner.call('GET', '/v1/request_logs?status=422');
  const { body } = await owner.call('GET', `/v1/request_logs/${refused.body.data[0].id}`);
  expect(body).toMatchObject({ request_body: { amount: -1 }, response_body: { code: 'invalid_request' } });
  for (const query of ['status=9xx', 'method=get', 'cursor=none', 'other=1'])
    expect((await owner.call('GET', `/v1/request_logs?${query}`)).status).toBe(400);
});

test('[P-9.14] another organisation and the other mode see none of it, and keys read no log', async () => {
  const [log] = (await logsOf(owner, '', 1)).body.data as Log[];
  const stranger = await signUp(harness);
  expect((await stranger.call('GET', '/v1/request_logs')).body.data).toEqual([]);
  expect((await stranger.call('GET', `/v1/request_logs/${log?.id}`)).status).toBe(404);
  const live = await owner.call('GET', `/v1/request_logs/${log?.id}`, undefined, { mode: 'live' });
  expect(live.status).toBe(404);
  expect((await harness.call('GET', '/v1/request_logs', { key })).status).toBe(403);
  expect((await harness.call('GET', '/v1/request_logs', { key: null })).status).toBe(401);
});

test('[P-9.17] a burst is kept to a share and the rest is counted; failures have a share of their own', async () => {
  const busy = await signUp(harness);
  const { body: made } = await busy.call('POST', '/v1/keys', { name: 'Busy' });
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, n) =>
      harness.call('GET', n % 50 === 0 ? '/v1/payments/pay_none' : '/v1/payments?limit=1', { key: made.key }),
    ),
  );
  const failed = answers.filter(({ status }) => status === 404).length;
  const total = answers.length + 1;
  const deadlineMs = performance.now() + WAIT_MS;
  let kept = 0;
  let leftOut = 0;
  while (kept + leftOut < total && performance.now() < deadlineMs) {
    const page = await busy.call('GET', '/v1/request_logs?limit=100');
    expect(page.body.next_cursor === null || page.body.data.length === 100).toBe(true);
    const { rows } = await harness.database.query<{ n: number }>(
      'select count(*)::int as n from request_logs where tenant_id = $1',
      [`${busy.organisationId}.test`],
    );
    [kept, leftOut] = [rows[0]?.n ?? 0, page.body.left_out];
  }
  expect(kept + leftOut).toBe(total);
  expect(leftOut).toBeGreaterThan(0);
  expect((await busy.call('GET', '/v1/request_logs?status=404&limit=100')).body.data).toHaveLength(failed);
});

test('[P-9.17] a process that ends writes what waits; days that are past are dropped, and 0 keeps nothing', async () => {
  const ending = await startInstance(harness.testDatabase, { env: { PAYMENTS_ROLE: 'api' } });
  await ending.call('GET', '/v1/events', { key, headers: { 'x-request-id': 'last_words_of_it' } });
  await ending.stop();
  const found = await owner.call('GET', '/v1/request_logs?request_id=last_words_of_it');
  expect(found.body.data).toHaveLength(1);

  const silent: Instance = await startInstance(harness.testDatabase, {
    env: { PAYMENTS_ROLE: 'api', PAYMENTS_REQUEST_LOG_DAYS: '0' },
  });
  await silent.call('GET', '/v1/events', { key, headers: { 'x-request-id': 'said_to_nobody' } });
  const none = await owner.call('GET', '/v1/request_logs', undefined, { at: silent });
  expect(none.body.kept_days).toBe(0);
  await silent.stop();
  expect((await owner.call('GET', '/v1/request_logs?request_id=said_to_nobody')).body.data).toEqual([]);

  const days = () =>
    harness.database.query<{ n: number }>(
      `select count(*)::int as n from pg_inherits where inhparent = 'request_logs'::regclass`,
    );
  expect((await days()).rows[0]?.n).toBeGreaterThan(0);
  // Past every day that a sweep of the background may have made ahead, which it does each quarter of an hour.
  harness.time.advance(12 * DAY_MS);
  await harness.parts.requestLog.sweep(100);
  // Only days to come are there.
  expect((await days()).rows[0]?.n).toBe(3);
  await harness.call('GET', '/v1/events', { key, headers: { 'x-request-id': 'twelve_days_later' } });
  expect((await logsOf(owner, '?request_id=twelve_days_later', 1)).body.data).toHaveLength(1);
}, 30_000);

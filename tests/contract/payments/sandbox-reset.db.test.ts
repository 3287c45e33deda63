// Test mode begins anew: what was there is out of sight at once and in every process, and is removed later.
import { createSealer } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLOSED_KEPT_DAYS } from '../../../services/payments/src/sandbox/reset.ts';
import { tenantTables } from '../../../services/payments/src/sandbox/store.ts';
import {
  ADMIN_TOKEN,
  type Answer,
  type Harness,
  type Instance,
  SANDBOX_KEY,
  startHarness,
} from './harness.ts';
import { type Receiver, startReceiver } from './receiver.ts';

let harness: Harness;
let second: Instance;
let receiver: Receiver;
let keys = 0;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '5', PAYMENTS_SANDBOX_ACH_MS: '100' } });
  second = await harness.another();
  receiver = await startReceiver();
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

const order = {
  ...{ amount: 2_500, currency: 'USD', rail: 'auto' },
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
};

function pay(key: string, more: object = {}, { on = harness as Instance, idempotencyKey = '' } = {}) {
  keys += 1;
  return on.call('POST', '/v1/payments', {
    key,
    headers: { 'idempotency-key': idempotencyKey || `reset ${keys}` },
    body: { ...order, ...more },
  });
}

const reset = (key: string, on: Instance = harness) => on.call('POST', '/v1/sandbox/reset', { key });
const get = (key: string, path: string, on: Instance = harness) => on.call('GET', path, { key });
const statusOf = async (key: string, id: string) => (await get(key, `/v1/payments/${id}`)).body.status;

test('[P-7.6] after a reset nothing is left to see but keys and endpoints, in this process and the next', async () => {
  const { test: key, live } = await harness.organisation();
  const endpoint = (
    await harness.call('POST', '/v1/webhook_endpoints', { key, body: { url: `${receiver.url}/hook` } })
  ).body;
  await get(key, '/v1/payments', second);
  const first = (await pay(key, { rail: 'rtp' }, { idempotencyKey: 'again' })).body;
  await expect.poll(() => statusOf(key, first.id)).toBe('completed');
  const { timeline } = (await get(key, `/v1/payments/${first.id}`)).body;
  const fees = async () =>
    (await get(key, `/v1/fees?month=${timeline.at(-1).timestamp.slice(0, 7)}`)).body.total;
  expect(await fees()).toBeGreaterThan(0);
  const waiting = (await pay(key, { rail: 'ach' })).body;
  await harness.call('POST', '/v1/sandbox/clock', { key, body: { advance: 'P30D' } });

  const done = await reset(key);
  expect(done.status, done.text).toBe(200);
  expect(done.body).toEqual({ object: 'sandbox_reset', reset_at: expect.any(String) });

  const empty = [
    '/v1/payments',
    '/v1/payment_methods',
    '/v1/events',
    '/v1/ledger/accounts',
    '/v1/ledger/entries',
  ];
  for (const path of empty) expect((await get(key, path)).body.data, path).toEqual([]);
  for (const id of [first.id, waiting.id]) expect((await get(key, `/v1/payments/${id}`)).status).toBe(404);
  expect((await get(key, '/v1/sandbox/clock')).body.state).toBe('real');
  expect((await get(key, `/v1/webhook_endpoints/${endpoint.id}/deliveries`)).body.data).toEqual([]);
  expect(await fees()).toBe(0);
  await expect.poll(async () => (await get(key, '/v1/payments', second)).body.data).toEqual([]);

  // Keys of requests are forgotten, the endpoint hears of what is new, signed as before, and of nothing else.
  const heard = receiver.received.length;
  const fresh = await pay(key, { rail: 'rtp' }, { idempotencyKey: 'again' });
  expect([fresh.status, fresh.headers.get('idempotent-replayed')]).toEqual([202, null]);
  expect(fresh.body.id).not.toBe(first.id);
  await expect.poll(() => statusOf(key, fresh.body.id)).toBe('completed');
  const types = () => receiver.received.slice(heard).map(({ body }) => `${body.type} ${body.data.id}`);
  await expect.poll(types).toContain(`payment.completed ${fresh.body.id}`);
  expect(types().filter((line) => line.includes(waiting.id))).toEqual([]);
  expect((await get(key, `/v1/webhook_endpoints/${endpoint.id}`)).body).toMatchObject({ status: 'enabled' });
  expect((await get(key, '/v1/ledger/check')).body.ok).toBe(true);
  expect((await reset(live)).status).toBe(403);
});

test('[P-7.6] [P-10.3] a reset that is repeated under its key resets nothing again, in whatever process, and the key of another reset does', async () => {
  const { test: key } = await harness.organisation();
  const { test: other } = await harness.organisation();
  const resetWith = (idempotencyKey: string, { on = harness as Instance, by = key } = {}) =>
    on.call('POST', '/v1/sandbox/reset', {
      key: by,
      headers: { 'idempotency-key': idempotencyKey },
    });
  const first = await resetWith('once');
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null]);
  const { body: kept } = await pay(key);

  for (const on of [harness, second, harness]) {
    const repeat = await resetWith('once', { on });
    expect([repeat.status, repeat.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(repeat.text).toBe(first.text);
  }
  expect((await get(key, `/v1/payments/${kept.id}`)).status).toBe(200);
  expect((await resetWith('once', { by: other })).headers.get('idempotent-replayed')).toBeNull();

  const next = await resetWith('twice');
  expect(next.headers.get('idempotent-replayed')).toBeNull();
  expect((await get(key, `/v1/payments/${kept.id}`)).status).toBe(404);
  // Also the answer of a reset before the last one is kept.
  expect((await resetWith('once')).text).toBe(first.text);

  const crowd = await Promise.all(
    [...Array(8)].map((_, i) => resetWith('crowd', { on: i % 2 ? second : harness })),
  );
  expect(new Set(crowd.map(({ text }) => text)).size).toBe(1);
  expect(crowd.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
});

test('[P-7.6] whatever somebody did to the published sandbox, the first request works again', async () => {
  await pay(SANDBOX_KEY);
  await harness.call('POST', '/v1/sandbox/clock', { body: { advance: 'P9Y' } });
  for (const id of ['pm_alice', 'pm_bob']) {
    await harness.call('POST', '/v1/sandbox/clock', { body: { advance: 'P1M' } });
    await expect
      .poll(async () => (await harness.call('DELETE', `/v1/payment_methods/${id}`)).status)
      .toBe(204);
  }
  expect((await pay(SANDBOX_KEY)).status).toBe(422);
  expect((await reset(SANDBOX_KEY, second)).status).toBe(200);
  await expect.poll(async () => (await pay(SANDBOX_KEY)).status).toBe(202);
  const { body } = await pay(SANDBOX_KEY, { rail: 'ach' });
  await expect.poll(() => statusOf(SANDBOX_KEY, body.id)).toBe('completed');
});

const answered = ({ status, body }: Answer) => (status === 202 ? '202' : `${status} ${body.code}`);

test('[P-7.6] a process that lacks the key of an endpoint’s secrets resets the sandbox, and leaves live ones as they are', async () => {
  const { test: tried, live: key } = await harness.organisation();
  const body = { url: `${receiver.url}/tried` };
  expect((await harness.call('POST', '/v1/webhook_endpoints', { key: tried, body })).status).toBe(201);
  const { id } = (
    await harness.call('POST', '/v1/webhook_endpoints', { key, body: { url: `${receiver.url}/kept` } })
  ).body;
  const stored = async () =>
    (
      await harness.database.query('select tenant_id, secrets_sealed from webhook_endpoints where id = $1', [
        id,
      ])
    ).rows;
  const before = await stored();
  const sealer = createSealer({ keys: [Buffer.alloc(32, 99)] });
  const without = await harness.another({
    env: { PAYMENTS_ROLE: 'api' },
    service: { secrets: { sealer, adminToken: ADMIN_TOKEN } },
  });
  const rotate = await without.call('POST', `/v1/webhook_endpoints/${id}/rotate_secret`, { key });
  expect(rotate).toMatchObject({ status: 503, body: { code: 'not_ready' } });
  expect((await reset(tried, without)).status).toBe(200);
  expect(await stored()).toEqual(before);
});

test('[P-7.6] payments that arrive while the sandbox is reset again and again are all accepted, and none is lost', async () => {
  const { test: key } = await harness.organisation();
  await Promise.all([pay(key), pay(key, {}, { on: second })]);
  let resets = 0;
  const sent: Promise<string>[] = [];
  for (let round = 0; round < 6; round += 1) {
    sent.push(
      ...[harness, second].flatMap((on) => [1, 2, 3].map(async () => answered(await pay(key, {}, { on })))),
    );
    const answers = await Promise.all([reset(key), reset(key, second)]);
    resets += answers.filter(({ status }) => status === 200).length;
  }
  expect(new Set(await Promise.all(sent))).toEqual(new Set(['202']));
  expect(resets).toBe(12);
  const last = await pay(key);
  expect((await get(key, `/v1/payments/${last.body.id}`)).status).toBe(200);
  await expect.poll(async () => (await get(key, `/v1/payments/${last.body.id}`, second)).status).toBe(200);
});

test('[P-7.1] a clock that is set free runs on, and ACH no longer waits for its windows, also where a payment had one', async () => {
  const { test: key } = await harness.organisation();
  const clock = async (method: string, body?: object) =>
    (await harness.call(method, '/v1/sandbox/clock', { key, ...(body ? { body } : {}) })).body;
  await clock('POST', { advance: 'P400D' });
  const waiting = (await pay(key, { rail: 'ach' })).body;
  // Handed to its rail while the clock stands: from then on it has a window. The attempt waits from the start, so it tells nothing.
  const entriesOf = async () =>
    (await harness.database.query('select from ach_entries where payment_id = $1', [waiting.id])).rowCount;
  await expect.poll(entriesOf).toBe(1);
  await clock('DELETE');
  const { now, state } = await clock('GET');
  expect(state).toBe('running');
  const hurried = (await pay(key, { rail: 'ach' })).body;
  for (const { id } of [hurried, waiting]) {
    await expect.poll(() => statusOf(key, id)).toBe('completed');
    const { attempts, updated_at } = (await get(key, `/v1/payments/${id}`)).body;
    for (const at of [attempts[0].submitted_at, attempts[0].settled_at, updated_at]) {
      expect(Date.parse(at) - Date.parse(now)).toBeLessThan(60_000);
      expect(Date.parse(at) - Date.parse(now)).toBeGreaterThan(-1_000);
    }
  }
  const late = (
    await pay(key, { rail: 'ach', destination: { payment_method_id: 'pm_test_ach_late_return_r10' } })
  ).body;
  await expect.poll(() => statusOf(key, late.id)).toBe('returned');
});

test('[P-7.7] what a reset left behind is removed later, in bounded turns, and nothing else is', async () => {
  const { test: key, id } = await harness.organisation();
  await pay(key, { rail: 'rtp' });
  await harness.call('POST', '/v1/sandbox/clock', { key, body: { advance: 'P1D' } });
  const clocked = (await pay(key, { rail: 'ach' })).body;
  await harness.call('POST', '/v1/sandbox/clock', { key, body: { advance: 'P15D' } });
  await expect.poll(() => statusOf(key, clocked.id), { timeout: 45_000 }).toBe('completed');
  await reset(key);
  const kept = (await pay(key, { rail: 'rtp' })).body;
  await expect.poll(() => statusOf(key, kept.id)).toBe('completed');
  const left = async () => {
    const counts = await Promise.all(
      Object.entries(tenantTables).map(async ([table, column]) => {
        const { rows } = await harness.database.query<{ n: number }>(
          `select count(*)::int as n from ${table} where ${column} = $1`,
          [`${id}.test`],
        );
        return rows[0]?.n ?? 0;
      }),
    );
    return counts.reduce((sum, n) => sum + n, 0);
  };
  /** The network knows no tenants; the references, which are kept, do. */
  const atNetwork = async () =>
    (
      await harness.database.query(
        `select from sandbox_rtp_transfers join rail_references on reference = instruction_id where tenant_id = $1`,
        [`${id}.test`],
      )
    ).rowCount;
  expect([(await left()) > 10, await atNetwork()]).toEqual([true, 1]);
  const { resetting } = harness.parts.payments;
  expect(await resetting.sweep(1_000)).toBe(0);
  harness.time.advance((CLOSED_KEPT_DAYS + 1) * 86_400_000);
  for (let turn = 0; turn < 1_000 && (await resetting.sweep(7)) > 0; turn += 1);
  expect([await left(), await atNetwork()]).toEqual([0, 0]);
  expect(await statusOf(key, kept.id)).toBe('completed');
  expect((await get(key, '/v1/ledger/check')).body.ok).toBe(true);
  const forbidden = harness.database.query('delete from ledger_transfers where tenant_id = $1', [
    `${id}.test.1`,
  ]);
  await expect(forbidden).rejects.toThrow('append-only');
}, 60_000);

test('every table that belongs to tenants is known to the removal', async () => {
  const { rows } = await harness.database.query<{ name: string }>(
    `select distinct table_name as name from information_schema.columns
     where table_schema = 'payments' and column_name in ('tenant_id', 'scope', 'mailbox') order by 1`,
  );
  // What lists payments goes with them, by a trigger.
  const others = ['closed_tenants', 'rail_references', 'payments_uncompleted'];
  // Parts of a table that is divided by time go with it.
  const isPart = (name: string) => /_(\d{8}|before|default)$/.test(name);
  expect(rows.map(({ name }) => name).filter((name) => !others.includes(name) && !isPart(name))).toEqual(
    Object.keys(tenantTables).sort(),
  );
});

test('[P-7.8] the clock goes at most ten years ahead, and not back', async () => {
  const { test: key } = await harness.organisation();
  const move = (body: object) => harness.call('POST', '/v1/sandbox/clock', { key, body });
  const years = (count: number, ms: number) => {
    const at = harness.time.now();
    at.setUTCFullYear(at.getUTCFullYear() + count);
    return new Date(at.getTime() + ms).toISOString();
  };
  const advances = ['P10Y1D', 'P99999999D', 'P12345678M'].map((advance) => ({ advance }));
  for (const body of [{ now: years(10, 60_000) }, { now: '2099-12-31T00:00:00Z' }, ...advances]) {
    const refused = await move(body);
    expect([refused.status, refused.body.code]).toEqual([422, 'clock_too_far']);
    const pointer = `/${Object.keys(body)}`;
    expect(refused.body.errors).toMatchObject([{ pointer, code: 'clock_too_far' }]);
  }
  expect((await move({ now: years(10, -60_000) })).status).toBe(200);
  const back = await move({ now: years(9, 0) });
  expect([back.status, back.body.code]).toEqual([422, 'clock_backwards']);
  expect(back.body.errors).toMatchObject([{ pointer: '/now', code: 'clock_backwards' }]);
  const ahead = await move({ advance: 'P1D' });
  expect([ahead.body.code, ahead.body.errors]).toMatchObject(['clock_too_far', [{ pointer: '/advance' }]]);
  expect((await pay(key, { rail: 'rtp' })).status).toBe(202);
});

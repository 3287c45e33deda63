// The figures of the dashboard's first page: exact beside payments of every kind, whoever counts and whenever.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, type Instance, startHarness } from './harness.ts';
import { type Browser, signUp } from './person.ts';

let harness: Harness;
let other: Instance;
let browser: Browser;
let tenantId: string;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_ACH_MS: '100', PAYMENTS_SANDBOX_RTP_MS: '0' } });
  other = await harness.another({ env: { PAYMENTS_ROLE: 'api' } });
  const person = await signUp(harness);
  browser = person;
  tenantId = `${person.organisationId}.test`;
});
afterAll(() => harness.stop());

let keys = 0;
async function pay(destination: string, more: object = {}): Promise<string> {
  keys += 1;
  const body = {
    ...{ amount: 1_000 + keys, currency: 'USD', source: { payment_method_id: 'pm_a' }, rail: 'rtp' },
    ...{ destination: { payment_method_id: destination }, ...more },
  };
  const answer = await browser.call('POST', '/v1/payments', body, {
    headers: { 'idempotency-key': `figures ${keys}` },
  });
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  return answer.body.id;
}

const overview = async (query = '', at: Instance = harness) =>
  (await browser.call('GET', `/v1/overview${query}`, undefined, { at })).body;

/** What the payments themselves say. */
async function counted() {
  const { rows } = await harness.database.query<{ status: string; rail: string; n: number; amount: number }>(
    `select status, rail_selected as rail, count(*)::int as n, sum(amount)::bigint as amount from payments
     where tenant_id = $1 group by 1, 2`,
    [tenantId],
  );
  const by = (name: 'status' | 'rail') =>
    Object.fromEntries(
      [...Map.groupBy(rows, (row) => row[name])].map(([key, group]) => [
        key,
        [group.reduce((sum, { n }) => sum + n, 0), group.reduce((sum, { amount }) => sum + amount, 0)],
      ]),
    );
  return { status: by('status'), rail: by('rail') };
}

function shown(body: Awaited<ReturnType<typeof overview>>) {
  type Row = { status: string; rail: string; payments: number; amount: number };
  const by = (name: 'status' | 'rail', list: Row[]) =>
    Object.fromEntries(list.map((row) => [row[name], [row.payments, row.amount]]));
  return { status: by('status', body.by_status), rail: by('rail', body.by_rail) };
}

async function untilEnded(): Promise<void> {
  await expect
    .poll(
      async () =>
        (
          await harness.database.query(
            `select 1 from payments where tenant_id = $1 and status in ('pending', 'processing')`,
            [tenantId],
          )
        ).rows.length,
    )
    .toBe(0);
}

test('[P-9.12] the overview counts every payment once, by state, rail and day, whatever happened since it was last asked', async () => {
  const empty = await overview();
  expect(empty).toMatchObject({
    object: 'overview',
    payments: 0,
    volume: 0,
    success_rate: null,
    by_status: [],
  });
  expect(empty.by_day).toHaveLength(8);
  const ways = [
    () => pay('pm_b'),
    () => pay('pm_test_rtp_reject_ac04'),
    () => pay('pm_test_rtp_reject_rc04', { rail: 'auto', routing: { prefer: 'speed' } }),
    () => pay('pm_b', { rail: 'ach' }),
    () => pay('pm_test_ach_late_return_r10', { rail: 'ach' }),
    () => pay('pm_test_ach_return_r01', { rail: 'ach' }),
  ];
  for (let round = 0; round < 3; round += 1) {
    await Promise.all([...ways.map((way) => way()), overview(), overview('', other)]);
    // Not at once where a transaction is open elsewhere on the server: what it may yet write comes before.
    await expect.poll(async () => shown(await overview()).status).not.toEqual({});
  }
  await untilEnded();
  await expect.poll(async () => (await counted()).status.returned?.[0]).toBe(3);
  // What a transaction that is still open elsewhere wrote is counted when it has ended.
  await expect.poll(async () => shown(await overview())).toEqual(await counted());
  const body = await overview('', other);
  const { status } = await counted();
  expect(body).toMatchObject({ payments: 18, currency: 'USD', volume: status.completed?.[1] });
  expect(body.success_rate).toBeCloseTo((status.completed?.[0] ?? 0) / 18);
  expect(body.settle_seconds_median).toBeGreaterThan(0);
  expect(body.settle_seconds_p95).toBeGreaterThanOrEqual(body.settle_seconds_median);
  expect(body.attention).toMatchObject({
    returned_payments: 3,
    failed_payments: status.failed?.[0],
    owed: 0,
  });
  const total = body.by_day.reduce((sum: number, day: { payments: number }) => sum + day.payments, 0);
  expect([body.by_day.length, total]).toEqual([8, 18]);
  expect(shown(await overview('?from=2020-01-01&to=2020-01-05')).status).toEqual({});
});

test('[P-9.12] what was there before anybody asked is counted once, also while payments go on', async () => {
  await pay('pm_b', { rail: 'ach' });
  await harness.database.query('delete from overview_places where tenant_id = $1', [tenantId]);
  await harness.database.query('delete from payment_figures where tenant_id = $1', [tenantId]);
  await harness.database.query('delete from payment_settle_times where tenant_id = $1', [tenantId]);
  await Promise.all([
    ...Array.from({ length: 8 }, () => pay('pm_b')),
    ...Array.from({ length: 6 }, (_, n) => overview('', n % 2 === 0 ? harness : other)),
  ]);
  await untilEnded();
  await expect.poll(async () => shown(await overview())).toEqual(await counted());
  const { rows } = await harness.database.query<{ times: number; ended: number }>(
    `select (select sum(payments) from payment_settle_times where tenant_id = $1)::int as times,
       (select count(*) from payments where tenant_id = $1 and status in ('completed', 'returned'))::int as ended`,
    [tenantId],
  );
  expect(rows[0]?.times).toBe(rows[0]?.ended);
});

test('is for people of the organisation, in a time that makes sense', async () => {
  const { test: key } = await harness.organisation();
  expect((await harness.call('GET', '/v1/overview', { key })).status).toBe(403);
  expect((await harness.call('GET', '/v1/overview', { key: null })).status).toBe(401);
  for (const query of [
    'from=2026-02-01&to=2026-01-01',
    'from=2026-01-01&to=2026-01-01',
    'from=2020-01-01',
    'from=soon',
    'days=0',
    'days=367',
    'days=3&from=2026-01-01',
    'span=3',
  ])
    expect([query, (await browser.call('GET', `/v1/overview?${query}`)).status]).toEqual([query, 400]);
});

// The last: the clock never goes back.
test('days are whole ones, up to today by the clock of the sandbox', async () => {
  const days = async (query: string) => (await overview(query)).by_day.map(({ day }: { day: string }) => day);
  const today = new Date().toISOString().slice(0, 10);
  const last = await days('?days=7');
  expect(last).toHaveLength(7);
  // A midnight may have passed since.
  expect([last.at(-1), last.at(-2)]).toContain(today);
  const next = new Date(Date.now() + 40 * 86_400_000).toISOString();
  const moved = await browser.call('POST', '/v1/sandbox/clock', { now: next });
  expect(moved.status).toBe(200);
  expect(await days('?days=1')).toEqual([next.slice(0, 10)]);
  const midnight = `${new Date(Date.now() + 50 * 86_400_000).toISOString().slice(0, 10)}T00:00:00.000Z`;
  expect((await browser.call('POST', '/v1/sandbox/clock', { now: midnight })).status).toBe(200);
  await pay('pm_b');
  // A clock that stands at the very beginning of a day shows what is done then.
  const figures = async () => {
    const { payments, by_day } = await overview('?days=1');
    return [payments, by_day];
  };
  await expect
    .poll(figures)
    .toEqual([1, [{ day: midnight.slice(0, 10), payments: 1, amount: expect.any(Number) }]]);
});

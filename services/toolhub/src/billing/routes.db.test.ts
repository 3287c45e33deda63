// Plans, usage and the admin's limit over real HTTP.
import type { TestDatabase } from '@libs/db/testing';
import { idBorder } from '@libs/seal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testPlatform } from '../mcp/test/platform.ts';
import {
  ADMIN_TOKEN,
  addCustomer,
  callTool,
  createToolhubDatabase,
  customerSession,
  type Instance,
  startInstance,
} from '../mcp/test/rig.ts';

let db: TestDatabase;
let hub: Instance;
const NOW = new Date('2026-12-31T23:59:59.999Z');
const TODAY = '2026-12-31';
const alpha = testPlatform('alpha');
const beta = testPlatform('beta');

beforeAll(async () => {
  db = await createToolhubDatabase();
  const customers = ['cus_1', 'cus_2', 'cus_3'];
  for (const id of customers) await addCustomer(db.database, id);
  const tokens = new Map(customers.map((id) => [id, customerSession(id)]));
  const connectors = [alpha.connector, beta.connector];
  hub = await startInstance({ databaseUrl: db.url, connectors, tokens, now: () => NOW });
});

afterAll(async () => {
  await hub?.close();
  await db?.drop();
});

async function api(method: string, path: string, options: { token?: string; body?: unknown } = {}) {
  const { token = 'cus_1', body } = options;
  const response = await fetch(`${hub.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: (await response.json()) as Record<string, unknown>,
  };
}

test('[TH-7.1] the plans are data', async () => {
  const { body } = await api('GET', '/api/plans');
  expect(body).toEqual({
    data: [
      {
        id: 'free',
        name: 'Free',
        price_cents: 0,
        included_calls: 1_000,
        overage_cents_per_1000: 0,
        hard_stop: true,
      },
      {
        ...{ id: 'starter', name: 'Starter', price_cents: 2_900, included_calls: 50_000 },
        ...{ overage_cents_per_1000: 60, hard_stop: false },
      },
      {
        ...{ id: 'scale', name: 'Scale', price_cents: 22_900, included_calls: 1_000_000 },
        ...{ overage_cents_per_1000: 25, hard_stop: false },
      },
    ],
  });
});

describe('the plan', () => {
  test('[TH-12.1] shows the month, changes at once, and is audited, its cap under a name of its own', async () => {
    await callTool(hub.url, 'cus_2', 'alpha_get_note', { number: 1 });
    const resets_at = '2027-01-01T00:00:00.000Z';
    expect((await api('GET', '/api/plan', { token: 'cus_2' })).body).toEqual({
      ...{ plan: 'free', limit: 1_000, used: 1, remaining: 999, resets_at, spend_cap_cents: null },
      stops_at_limit: true,
    });
    const changed = await api('PUT', '/api/plan', {
      token: 'cus_2',
      body: { plan: 'starter', spend_cap_cents: 5_000 },
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { plan: 'starter', limit: 85_000, spend_cap_cents: 5_000 },
    });
    const capless = await api('PUT', '/api/plan', {
      token: 'cus_2',
      body: { plan: 'starter', spend_cap_cents: null },
    });
    expect(capless.body).toMatchObject({ limit: 50_000, stops_at_limit: false, spend_cap_cents: null });
    const again = { token: 'cus_2', body: { plan: 'starter', spend_cap_cents: 6_000 } };
    await api('PUT', '/api/plan', again);
    await api('PUT', '/api/plan', { token: 'cus_2', body: { plan: 'free' } });
    const { rows } = await db.database.query<{ action: string; target: string | null }>(
      `select action, target from audit_entries where customer_id = 'cus_2' and action like 'plan.%' order by id`,
    );
    expect(rows.map(({ action, target }) => [action, target])).toEqual([
      ['plan.changed', 'starter'],
      ['plan.cap_changed', null],
      ['plan.cap_changed', '6000'],
      ['plan.changed', 'free'],
    ]);
  });

  test.each([
    [{ plan: 'gold' }, 'unknown_plan'],
    [{}, 'invalid_request'],
    [{ plan: 'free', spend_cap_cents: -1 }, 'invalid_request'],
    [{ plan: 'free', spend_cap_cents: 1.5 }, 'invalid_request'],
    [{ plan: 'free', extra: 1 }, 'invalid_request'],
  ])('%j: 422', async (body, code) => {
    expect(await api('PUT', '/api/plan', { body })).toMatchObject({ status: 422, body: { code } });
  });

  test('[TH-13.14] beyond 100 changes a day it is refused until midnight in UTC, but for an admin', async () => {
    const change = (n: number) =>
      api('PUT', '/api/plan', { token: 'cus_3', body: { plan: n % 2 === 0 ? 'starter' : 'free' } });
    // Most of them are there already: so many requests at once would be too many.
    await db.database.query(
      `insert into plan_changes (customer_id, id, at, previous_plan, plan)
       select 'cus_3', $1 || n, $2::timestamptz - n * interval '1 second', 'free', 'starter' from generate_series(1, 98) as n`,
      [idBorder('plc', NOW.getTime() - 60_000), NOW],
    );
    for (let n = 0; n < 2; n += 1) expect((await change(n)).status).toBe(200);
    expect(await change(2)).toMatchObject({
      ...{ status: 429, retryAfter: '1', body: { code: 'too_many_plan_changes' } },
    });
    expect((await change(1)).status).toBe(200);
    const path = '/api/admin/customers/cus_3/limit';
    expect((await api('PUT', path, { token: ADMIN_TOKEN, body: { monthly_calls: 5 } })).status).toBe(200);
  });

  test('[TH-7.5] an admin gives another limit, and takes it away', async () => {
    const path = '/api/admin/customers/cus_1/limit';
    const given = await api('PUT', path, { token: ADMIN_TOKEN, body: { monthly_calls: 3 } });
    expect(given).toMatchObject({ status: 200, body: { customer_id: 'cus_1', monthly_calls: 3, limit: 3 } });
    expect((await api('GET', '/api/plan')).body).toMatchObject({ limit: 3, plan: 'free' });
    await api('PUT', path, { token: ADMIN_TOKEN, body: { monthly_calls: null } });
    expect((await api('GET', '/api/plan')).body).toMatchObject({ limit: 1_000 });
    expect((await api('PUT', path, { body: { monthly_calls: 9 } })).status).toBe(403);
    expect((await api('PUT', path, { token: 'nobody', body: { monthly_calls: 9 } })).status).toBe(401);
    const unknown = await api('PUT', '/api/admin/customers/cus_9/limit', {
      token: ADMIN_TOKEN,
      body: { monthly_calls: 9 },
    });
    expect(unknown.status).toBe(404);
    expect((await api('PUT', path, { token: ADMIN_TOKEN, body: { monthly_calls: -1 } })).status).toBe(422);
  });
});

describe('usage', () => {
  test('[TH-7.7] counts to the call, by platform, tool and day, and of one customer only', async () => {
    alpha.log.during = async ({ tool }) => {
      if (tool === 'alpha_send_note') throw new Error('broken');
    };
    await Promise.all([
      ...Array.from({ length: 5 }, () => callTool(hub.url, 'cus_1', 'alpha_get_note', { number: 1 })),
      ...Array.from({ length: 2 }, () => callTool(hub.url, 'cus_1', 'alpha_send_note', { text: 'x' })),
      ...Array.from({ length: 3 }, () => callTool(hub.url, 'cus_1', 'beta_get_note', { number: 1 })),
    ]);
    alpha.log.during = async () => {};
    const row = (key: string, calls: number, errors: number) => ({
      ...{ key, calls, errors, p50_ms: expect.any(Number), p95_ms: expect.any(Number) },
    });
    const usage = async (query: string) => (await api('GET', `/api/usage?${query}`)).body;
    expect(await usage('')).toMatchObject({
      ...{ group: 'platform', from: '2026-12-01', to: '2027-01-01', total: 10 },
      data: [row('alpha', 7, 2), row('beta', 3, 0)],
    });
    expect((await usage('group=tool')).data).toEqual([
      row('alpha_get_note', 5, 0),
      row('alpha_send_note', 2, 2),
      row('beta_get_note', 3, 0),
    ]);
    expect((await usage('group=day')).data).toEqual([row(TODAY, 10, 2)]);
    expect(await usage(`from=2000-01-01&to=2000-02-01`)).toEqual({
      ...{ from: '2000-01-01', to: '2000-02-01', group: 'platform', data: [], total: 0 },
    });
    expect((await usage(`from=${TODAY}&to=${TODAY}`)).data).toEqual([]);
    // What was broken may have reached the platform before, so its unit is kept.
    expect((await api('GET', '/api/plan')).body).toMatchObject({ used: 10 });
  });

  test.each(['platform', 'tool', 'day'])('the last days that a date can name, by %s: none', async (group) => {
    const query = `from=9999-12-30&to=9999-12-31&group=${group}`;
    expect(await api('GET', `/api/usage?${query}`)).toMatchObject({
      ...{ status: 200, body: { data: [], total: 0 } },
    });
  });

  test.each([
    'from=yesterday',
    'from=2026-02-30',
    'from=2026-02-02&to=2026-02-01',
    'from=2020-01-01&to=2026-01-01',
    'group=hour',
    'extra=1',
  ])('%s: 400', async (query) => {
    expect(await api('GET', `/api/usage?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_query' },
    });
  });

  test.each([
    ['/api/usage?from=2026-02-30&to=2026-02-31', ['from', 'to']],
    ['/api/usage?from=0000-01-01&group=hour', ['from', 'group']],
  ])('%s: 400 that names every parameter', async (address, wrong) => {
    const { status, body } = await api('GET', address);
    expect(status).toBe(400);
    expect((body.errors as { parameter: string }[]).map(({ parameter }) => parameter).sort()).toEqual(wrong);
  });
});

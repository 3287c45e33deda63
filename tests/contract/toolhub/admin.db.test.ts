// The operator's view: customers, suspension over two processes, plans, jobs; all of it audited.
import type { TestDatabase } from '@libs/db/testing';
import { withinASecond } from '@libs/runtime/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, PASSWORD } from '../../../services/toolhub/test/accounts.ts';
import {
  ADMIN_TOKEN,
  createToolhubDatabase,
  INTERNAL_TOKEN,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { apiOf, type Customer, newCustomer } from './customer.ts';

let db: TestDatabase;
let services: [Instance, Instance];
let ada: Customer;
let bob: Customer;

beforeAll(async () => {
  db = await createToolhubDatabase();
  services = await Promise.all([startInstance(db.url, { jobs: true }), startInstance(db.url)]);
  ada = await newCustomer(services[0].url);
  bob = await newCustomer(services[0].url);
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await db.drop();
});

const admin: ReturnType<typeof apiOf> = (...args) => apiOf(services[0].url, ADMIN_TOKEN)(...args);
const actionsOf = async (customerId: string) => {
  const { rows } = await db.database.query<{ action: string }>(
    `select action from audit_entries where customer_id = $1 and actor_type = 'admin' order by id`,
    [customerId],
  );
  return rows.map(({ action }) => action);
};

describe('[TH-13] the admin interface', () => {
  test('401 without a token, 403 with a customer’s, an internal one or a cookie', async () => {
    const paths = [
      ['GET', '/api/admin/customers'],
      ['GET', `/api/admin/customers/${ada.id}`],
      ['GET', `/api/admin/customers/${ada.id}/invoices`],
      ['POST', `/api/admin/customers/${ada.id}/suspend`],
      ['POST', `/api/admin/customers/${ada.id}/resume`],
      ['PUT', `/api/admin/customers/${ada.id}/plan`],
      ['GET', '/api/admin/jobs'],
      ['GET', '/api/admin/jobs/failed'],
      ['POST', '/api/admin/jobs/1/retry'],
      ['GET', '/api/admin/webhooks/dlq'],
      ['POST', `/api/admin/webhooks/dlq/${ada.id}/dlq_01kaf3v6w8q2m5x9t7c4b1n0ze/replay`],
      ['PUT', '/api/admin/plans/starter'],
      ['GET', '/api/admin/invoices'],
      ['POST', '/api/admin/invoices/run'],
      ['POST', '/api/admin/invoices/inv_1/mark-paid'],
      ['POST', '/api/admin/invoices/inv_1/void'],
    ] as const;
    for (const [method, path] of paths) {
      const body = method === 'GET' ? {} : { body: {} };
      const url = services[0].url + path;
      expect([path, (await call(url, { method, ...body })).status]).toEqual([path, 401]);
      for (const token of [ada.token, INTERNAL_TOKEN])
        expect([path, (await call(url, { method, ...body, token })).status]).toEqual([path, 403]);
      expect([path, (await call(url, { method, ...body, cookie: ada.cookie })).status]).toEqual([path, 403]);
    }
  });

  test('lists customers newest first, in pages, and finds one by its address', async () => {
    const first = await admin('GET', '/api/admin/customers?limit=1');
    expect(first.body.data).toMatchObject([{ id: bob.id, email: bob.email, plan: 'free', status: 'active' }]);
    const rest = await admin('GET', `/api/admin/customers?limit=1&cursor=${first.body.next_cursor}`);
    expect(rest.body).toMatchObject({ data: [{ id: ada.id }], next_cursor: null });
    const found = await admin(
      'GET',
      `/api/admin/customers?email=${encodeURIComponent(ada.email.toUpperCase())}`,
    );
    expect(found.body.data.map(({ id }: { id: string }) => id)).toEqual([ada.id]);
    expect((await admin('GET', '/api/admin/customers?email=nobody@example.com')).body.data).toEqual([]);
    expect(JSON.stringify(first.body)).not.toContain('argon2');
  });

  test('changes a plan, and shows plan and usage of a customer', async () => {
    const path = `/api/admin/customers/${ada.id}/plan`;
    expect(await admin('PUT', path, { plan: 'starter', spend_cap_cents: 5_000 })).toMatchObject({
      status: 200,
      body: { customer_id: ada.id, plan: 'starter', spend_cap_cents: 5_000 },
    });
    expect((await admin('PUT', path, { plan: 'gold' })).body.code).toBe('unknown_plan');
    expect((await admin('PUT', '/api/admin/customers/cus_nobody/plan', { plan: 'free' })).status).toBe(404);
    await db.database.query(
      `insert into usage_daily (customer_id, day, tool, duration_class, platform, calls, errors, given_back)
       values ($1, (now() at time zone 'utc')::date, 'email_send', 1, 'email', 12, 2, 2)`,
      [ada.id],
    );
    const { body } = await admin('GET', `/api/admin/customers/${ada.id}`);
    expect(body).toMatchObject({
      id: ada.id,
      plan: 'starter',
      plan_state: { limit: 85_000, spend_cap_cents: 5_000, monthly_calls: null },
      usage: { data: [{ key: 'email', calls: 12, errors: 2 }], total: 12 },
    });
    expect((await admin('GET', '/api/admin/customers/cus_nobody')).status).toBe(404);
  });

  test('a suspended customer is refused everywhere within a second, and let in again when resumed', async () => {
    const path = `/api/admin/customers/${ada.id}`;
    const [here, there] = services.map(({ url }) => apiOf(url, ada.token)) as [typeof admin, typeof admin];
    // Both processes have the token in memory now.
    expect((await here('GET', '/api/me')).status).toBe(200);
    expect((await there('GET', '/api/me')).status).toBe(200);
    expect(await admin('POST', `${path}/suspend`, { reason: 'unpaid' })).toMatchObject({
      status: 200,
      body: { status: 'suspended', suspension_reason: 'unpaid' },
    });
    const refused = { status: 403, body: { code: 'customer_suspended' } };
    expect(await here('GET', '/api/me')).toMatchObject(refused);
    await withinASecond(
      () => there('GET', '/api/me'),
      (answer) => expect(answer).toMatchObject(refused),
    );
    const byCookie = await call(`${services[1].url}/api/me`, { cookie: ada.cookie });
    expect(byCookie).toMatchObject(refused);
    const mcp = await call(`${services[1].url}/mcp`, {
      token: ada.token,
      headers: { accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    });
    expect(mcp.status).toBe(403);
    expect((await apiOf(services[1].url, bob.token)('GET', '/api/me')).status).toBe(200);
    // A process that starts later knows it, too.
    const late = await startInstance(db.url);
    expect(await apiOf(late.url, ada.token)('GET', '/api/me')).toMatchObject(refused);
    await late.stop();

    // Who knows the password is told why it does not open; who does not, learns nothing.
    const logIn = (password: string) =>
      call(`${services[1].url}/api/auth/login`, { body: { email: ada.email, password } });
    const known = await logIn(PASSWORD);
    expect(known).toMatchObject({
      status: 403,
      body: { code: 'customer_suspended', detail: 'This account is suspended; ask the operator.' },
    });
    expect(known.headers.get('set-cookie')).toBeNull();
    expect(await logIn('not the password')).toMatchObject({
      ...{ status: 401, body: { code: 'invalid_credentials' } },
    });

    expect((await admin('POST', `${path}/suspend`)).body.status).toBe('suspended');
    expect((await admin('POST', `${path}/resume`)).body).toMatchObject({
      status: 'active',
      suspended_at: null,
    });
    expect((await here('GET', '/api/me')).status).toBe(200);
    await withinASecond(
      async () => (await logIn(PASSWORD)).status,
      (answer) => expect(answer).toBe(200),
    );
    await withinASecond(
      async () => (await there('GET', '/api/me')).status,
      (answer) => expect(answer).toBe(200),
    );
    expect((await admin('POST', '/api/admin/customers/cus_nobody/suspend')).status).toBe(404);
  });

  test('tells what runs in the background and what failed', async () => {
    await db.database.query(
      `insert into jobs (name, payload, ready_at, attempts, failed_at, last_error)
       values ('broken.job', '{"secret":"s3cret"}', now(), 25, now(), 'it does not work')`,
    );
    const { body } = await admin('GET', '/api/admin/jobs');
    const jobs = new Map<string, Record<string, unknown>>(
      body.data.map((job: { name: string }) => [job.name, job]),
    );
    expect(jobs.get('invoices.monthly')).toMatchObject({ scheduled: 1, failed: 0 });
    expect(String(jobs.get('invoices.monthly')?.next_run_at)).toMatch(/-01T00:10:00\.000Z$/);
    expect(jobs.get('broken.job')).toMatchObject({ failed: 1, last_error: 'it does not work' });
    const failed = await admin('GET', '/api/admin/jobs/failed?limit=1');
    expect(failed.body.data).toMatchObject([{ name: 'broken.job', attempts: 25 }]);
    expect(JSON.stringify([body, failed.body])).not.toContain('s3cret');
    const [{ id }] = failed.body.data;
    expect((await admin('POST', `/api/admin/jobs/${id}/retry`)).status).toBe(204);
    expect((await admin('POST', `/api/admin/jobs/${id}/retry`)).status).toBe(404);
    expect((await admin('GET', '/api/admin/jobs/failed')).body.data).toEqual([]);
  });

  test('[TH-7.20] makes a plan and changes it: the limit at once, the price from the next month on', async () => {
    const terms = {
      ...{ name: 'Team', price_cents: 9_900, included_calls: 5 },
      ...{ overage_cents_per_1000: 50, hard_stop: true },
    };
    const path = '/api/admin/plans/team';
    expect((await admin('PUT', path, terms)).body).toEqual({ id: 'team', ...terms });
    const { body } = await call<{ data: { id: string }[] }>(`${services[1].url}/api/plans`);
    expect(body.data.map(({ id }) => id)).toEqual(['free', 'starter', 'scale', 'team']);
    await apiOf(services[0].url, ada.token)('PUT', '/api/plan', { plan: 'team' });
    await admin('PUT', path, { ...terms, price_cents: 19_900, included_calls: 7 });
    const state = await apiOf(services[1].url, ada.token)('GET', '/api/plan');
    expect(state.body).toMatchObject({ plan: 'team', limit: 7 });
    // This month is priced by the terms under which it was begun.
    const preview = await apiOf(services[0].url, ada.token)('GET', '/api/plan/preview?plan=team');
    expect(preview.body.now.total_cents).toBeLessThanOrEqual(9_900);
    for (const wrong of [{ ...terms, price_cents: -1 }, { ...terms, name: ' ' }, { name: 'Team' }])
      expect((await admin('PUT', path, wrong)).status).toBe(422);
    expect((await admin('PUT', '/api/admin/plans/Team%20X', terms)).status).toBe(404);
    expect(await actionsOf('internal')).toContain('plan.edited');
    await apiOf(services[0].url, ada.token)('PUT', '/api/plan', { plan: 'free' });
  });

  test('[TH-12.1] everything that was done is in the audit log of the customer', async () => {
    expect(await actionsOf(ada.id)).toEqual(
      expect.arrayContaining([
        'plan.changed',
        'admin.customer_read',
        'customer.suspended',
        'customer.resumed',
      ]),
    );
    expect(await actionsOf('internal')).toContain('admin.customers_listed');
    expect(await actionsOf(bob.id)).toEqual([]);
  });

  test('[TH-12.1] a change of a customer that was refused says of whom', async () => {
    const changes = { suspend: 'POST', plan: 'PUT', limit: 'PUT' } as const;
    for (const [what, method] of Object.entries(changes))
      expect((await admin(method, `/api/admin/customers/${bob.id}/${what}`, { wrong: 1 })).status).toBe(422);
    const { rows } = await db.database.query<{ action: string }>(
      `select action from audit_entries where customer_id = 'internal' and target = $1 and outcome = 'refused' order by id`,
      [bob.id],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'customer.suspended',
      'plan.changed',
      'plan.limit_changed',
    ]);
  });
});

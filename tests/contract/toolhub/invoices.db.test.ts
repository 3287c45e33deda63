// Invoices over HTTP, through a whole month by a test clock: plan, use, run, mail, pay.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from '@libs/db/testing';
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, PASSWORD } from '../../../services/toolhub/test/accounts.ts';
import {
  ADMIN_TOKEN,
  createToolhubDatabase,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { apiOf, type Customer, newCustomer } from './customer.ts';

const clock = { now: new Date('2028-02-10T12:00:00Z') };
const PERIOD = '2028-02';
const USED = 51_234;

let db: TestDatabase;
let folder: string;
let service: Instance;
let ada: Customer;
let bob: Customer;

beforeAll(async () => {
  db = await createToolhubDatabase();
  folder = await mkdtemp(join(tmpdir(), 'toolhub-data-'));
  const env = {
    DATA_DIR: folder,
    MAIL_FROM: 'Toolhub Billing <billing@toolhub.example>',
    TOOLHUB_SELLER_ADDRESS: '1 Main Street; Springfield',
    TOOLHUB_SELLER_TAX_ID: 'US12-3456789',
    TOOLHUB_PAYMENT_DETAILS: 'IBAN DE02 1203 0000 0000 2020 51',
    TOOLHUB_PAYMENT_URL: 'https://pay.example/{number}?cents={amount_cents}',
  };
  service = await startInstance(db.url, { env, now: () => clock.now });
  ada = await newCustomer(service.url);
  bob = await newCustomer(service.url);
  await db.database.query('update customers set email_verified_at = created_at');
  await apiOf(service.url, ada.token)('PUT', '/api/plan', { plan: 'starter' });
  await db.database.query(
    `insert into usage_daily (customer_id, day, tool, duration_class, platform, calls, errors, given_back)
     values ($1, '2028-02-29', 'email_send', 1, 'email', $2, 10, 10)`,
    [ada.id, USED + 10],
  );
});
afterAll(async () => {
  await service.stop();
  await db.drop();
  await rm(folder, { recursive: true, force: true });
});

const admin: ReturnType<typeof apiOf> = (...call) => apiOf(service.url, ADMIN_TOKEN)(...call);
const run = (body: unknown) => admin('POST', '/api/admin/invoices/run', body);
const EXPECTED_CENTS = Math.floor((2_900 * 20) / 29) + Math.round((USED - 50_000) * 0.06);

describe('before an invoice', () => {
  test('[TH-7.17] what another plan costs is told to the cent, by days and with the calls so far', async () => {
    const api = apiOf(service.url, ada.token);
    clock.now = new Date('2028-02-20T12:00:00Z');
    const { body } = await api('GET', '/api/plan/preview?plan=scale');
    // Starter from the 10th to the 19th, Scale from today on: the day of the change belongs to the dearer one.
    const [starter, scale] = [Math.floor((2_900 * 10) / 29), Math.floor((22_900 * 10) / 29)];
    expect(body).toMatchObject({
      ...{ plan: 'scale', period: PERIOD, days_left: 10, price_cents: 22_900 },
      now: { total_cents: EXPECTED_CENTS },
      changed: { total_cents: starter + scale },
      difference_cents: starter + scale - EXPECTED_CENTS,
    });
    // For the same reason a cheaper one is counted from tomorrow on.
    const { body: down } = await api('GET', '/api/plan/preview?plan=free');
    expect([down.days_left, down.changed.lines[1].description]).toEqual([9, 'Free plan, 9 of 29 days']);
    expect((await api('GET', '/api/plan/preview?plan=huge')).body.code).toBe('unknown_plan');
    expect((await api('GET', '/api/plan')).body.plan).toBe('starter');
    clock.now = new Date('2028-02-10T12:00:00Z');
  });

  test('[TH-7.18] a customer says what stands on it, and sees the seller and how to pay', async () => {
    const api = apiOf(service.url, ada.token);
    const wanted = {
      company: ' Analytical Engines ',
      address: '12 St James Square \r\n\nLondon',
      tax_id: 'GB123',
    };
    expect(await api('PUT', '/api/billing-details', wanted)).toEqual({
      status: 200,
      body: {
        ...{ company: 'Analytical Engines', address: '12 St James Square\nLondon', tax_id: 'GB123' },
        seller: {
          name: 'Toolhub Billing',
          lines: ['1 Main Street', 'Springfield', 'billing@toolhub.example', service.url],
          tax_id: 'US12-3456789',
        },
        payment: {
          details: ['IBAN DE02 1203 0000 0000 2020 51'],
          url: 'https://pay.example/{number}?cents={amount_cents}',
        },
      },
    });
    for (const bad of [{ ...wanted, tax_id: 'a\u0007' }, { ...wanted, address: 'x\n'.repeat(9) }, {}])
      expect((await api('PUT', '/api/billing-details', bad)).status).toBe(422);
    const others = await apiOf(service.url, bob.token)('GET', '/api/billing-details');
    expect(others.body).toMatchObject({ company: null, address: null, tax_id: null });
  });
});

describe('[TH-7] the run', () => {
  test('is refused for a month that is not over, and for what is no month', async () => {
    expect(await run({ period: PERIOD })).toMatchObject({ status: 422, body: { code: 'period_not_ended' } });
    for (const period of ['2028-13', '2028-2', '2028-02-01', '0000-01', 'February', '', null, 202802])
      expect((await run({ period })).status).toBe(422);
    expect((await run({})).status).toBe(422);
    expect((await run({ period: PERIOD, force: true })).status).toBe(422);
  });

  test('a dry run tells what would be, and nothing is there after', async () => {
    clock.now = new Date('2028-03-01T00:10:00Z');
    expect(await run({ period: PERIOD, dry_run: true })).toEqual({
      status: 200,
      body: { period: PERIOD, created: 2, skipped: 0, failed: 0, dry_run: true, total_cents: EXPECTED_CENTS },
    });
    expect((await apiOf(service.url, ada.token)('GET', '/api/invoices')).body.data).toEqual([]);
  });

  test('is locked while another holds the lock', async () => {
    await db.database.query(
      `insert into job_locks (name, holder, expires_at) values ('invoices', 'run_other', now() + interval '1 hour')`,
    );
    const { status, body } = await run({ period: PERIOD });
    expect([status, body.code, body.holder]).toEqual([409, 'locked', 'run_other']);
    expect(Date.parse(body.held_until) - Date.now()).toBeGreaterThan(59 * 60_000);
    await db.database.query(`update job_locks set expires_at = now()`);
  });

  test('makes one invoice and one mail for each, and a second run makes none', async () => {
    expect(await run({ period: PERIOD })).toEqual({
      status: 200,
      body: { period: PERIOD, created: 2, skipped: 0, failed: 0 },
    });
    expect(await run({ period: PERIOD })).toEqual({
      status: 200,
      body: { period: PERIOD, created: 0, skipped: 2, failed: 0 },
    });
    expect(await run({ period: '2028-01' })).toEqual({
      status: 200,
      body: { period: '2028-01', created: 0, skipped: 0, failed: 0 },
    });
    expect(await readdir(join(folder, 'mail'))).toHaveLength(2);
  });
});

describe('[TH-7] the invoice', () => {
  const list = async (customer: Customer) =>
    (await apiOf(service.url, customer.token)('GET', '/api/invoices')).body.data;

  test('has the lines of the month, on a leap day too, and the sum of them', async () => {
    const [invoice] = await list(ada);
    expect(invoice).toMatchObject({
      id: expect.stringMatching(/^inv_/),
      number: expect.stringMatching(/^INV-00000[12]$/),
      customer_id: ada.id,
      period: PERIOD,
      status: 'sent',
      currency: 'USD',
      lines: [
        {
          platform: null,
          description: 'Starter plan, 20 of 29 days',
          quantity: 1,
          amount_cents: Math.floor((2_900 * 20) / 29),
        },
        { platform: 'email', description: 'E-mail: calls included', quantity: 50_000, amount_cents: 0 },
        {
          platform: 'email',
          description: 'E-mail: calls beyond the Starter plan, 0.60 USD per 1,000',
          quantity: USED - 50_000,
          amount_cents: 74,
        },
      ],
      total_cents: EXPECTED_CENTS,
      issued_at: '2028-03-01T00:10:00.000Z',
      sent_at: '2028-03-01T00:10:00.000Z',
      paid_at: null,
    });
    expect(await apiOf(service.url, ada.token)('GET', `/api/invoices/${invoice.id}`)).toEqual({
      status: 200,
      body: invoice,
    });
  });

  test('of nothing is paid at once, and mailed all the same', async () => {
    const [invoice] = await list(bob);
    expect(invoice).toMatchObject({ status: 'paid', total_cents: 0, paid_at: '2028-03-01T00:10:00.000Z' });
    expect(invoice.sent_at).not.toBeNull();
  });

  test('is nobody else’s', async () => {
    const [invoice] = await list(ada);
    for (const path of [`/api/invoices/${invoice.id}`, `/api/invoices/${invoice.id}/pdf`])
      expect((await apiOf(service.url, bob.token)('GET', path)).status).toBe(404);
    expect((await apiOf(service.url, ada.token)('GET', '/api/invoices/inv_nothing')).status).toBe(404);
    const anonymous = await fetch(`${service.url}/api/invoices`);
    expect(anonymous.status).toBe(401);
  });

  test('[TH-7.18] names both parties as they were, and how to pay it', async () => {
    await apiOf(service.url, ada.token)('PUT', '/api/billing-details', {
      ...{ company: 'Another', address: null, tax_id: null },
    });
    const [invoice] = await list(ada);
    expect(invoice).toMatchObject({
      bill_to: { company: 'Analytical Engines', address: '12 St James Square\nLondon', tax_id: 'GB123' },
      seller: { name: 'Toolhub Billing', tax_id: 'US12-3456789' },
      payment: {
        reference: invoice.number,
        url: `https://pay.example/${invoice.number}?cents=${EXPECTED_CENTS}`,
      },
    });
    const [nothingOwed] = await list(bob);
    expect(nothingOwed.payment).toBeNull();
  });

  test('[TH-7.11] comes as a PDF, the same that was mailed', async () => {
    const [invoice] = await list(ada);
    const answer = await fetch(`${service.url}/api/invoices/${invoice.id}/pdf`, {
      headers: { authorization: `Bearer ${ada.token}` },
    });
    expect(answer.headers.get('content-type')).toBe('application/pdf');
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${invoice.number}.pdf"`);
    const pdf = Buffer.from(await answer.arrayBuffer());
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    const mail = await simpleParser(await readFile(join(folder, 'mail', `${invoice.id}.eml`)));
    expect(mail.subject).toBe(`Invoice ${invoice.number} for February 2028`);
    expect(mail.messageId).toBe(`<${invoice.id}@localhost>`);
    expect(mail.text).toContain('20.74 USD');
    expect(mail.attachments.map(({ filename, contentType }) => [filename, contentType])).toEqual([
      [`${invoice.number}.pdf`, 'application/pdf'],
    ]);
    expect(mail.attachments[0]?.content.equals(pdf)).toBe(true);
  });

  test('is announced as an event, once', async () => {
    const { rows } = await db.database.query<{ data: { number: string; total_cents: number } }>(
      `select data from events where customer_id = $1 and type = 'invoice.created'`,
      [ada.id],
    );
    expect(rows.map(({ data }) => data)).toMatchObject([{ total_cents: EXPECTED_CENTS, period: PERIOD }]);
  });

  test('is paid by an admin, once for all; a paid one cannot be voided', async () => {
    const [invoice] = await list(ada);
    clock.now = new Date('2028-03-05T09:00:00Z');
    const path = `/api/admin/invoices/${invoice.id}/mark-paid`;
    const paid = { status: 200, body: { status: 'paid', paid_at: '2028-03-05T09:00:00.000Z' } };
    expect(await admin('POST', path)).toMatchObject(paid);
    clock.now = new Date('2028-03-06T09:00:00Z');
    expect(await admin('POST', path)).toMatchObject(paid);
    expect(await admin('POST', `/api/admin/invoices/${invoice.id}/void`)).toMatchObject({
      status: 409,
      body: { code: 'invoice_not_voidable' },
    });
    expect((await admin('POST', '/api/admin/invoices/inv_nothing/mark-paid')).status).toBe(404);
    expect((await apiOf(service.url, ada.token)('POST', path)).status).toBe(403);
    expect((await fetch(service.url + path, { method: 'POST' })).status).toBe(401);
    const { body } = await apiOf(service.url, ada.token)('GET', '/api/audit');
    expect(body.data).toContainEqual(
      expect.objectContaining({
        action: 'invoice.paid',
        target: invoice.id,
        actor: { type: 'admin', id: 'admin' },
      }),
    );
  });

  test('lists are paged, newest first, also for the admin', async () => {
    clock.now = new Date('2028-05-01T00:10:00Z');
    await run({ period: '2028-03' });
    await run({ period: '2028-04' });
    const first = await apiOf(service.url, ada.token)('GET', '/api/invoices?limit=2');
    expect(first.body.data.map(({ period }: { period: string }) => period)).toEqual(['2028-04', '2028-03']);
    const rest = await apiOf(service.url, ada.token)(
      'GET',
      `/api/invoices?limit=2&cursor=${first.body.next_cursor}`,
    );
    expect(rest.body.data.map(({ period }: { period: string }) => period)).toEqual([PERIOD]);
    expect(rest.body.next_cursor).toBeNull();
    const all = await admin('GET', `/api/admin/customers/${ada.id}/invoices`);
    expect(all.body.data).toHaveLength(3);
    expect((await apiOf(service.url, ada.token)('GET', '/api/invoices?limit=0')).status).toBe(400);
    expect((await apiOf(service.url, ada.token)('GET', '/api/invoices?cursor=nonsense')).status).toBe(400);
  });
});

test('[TH-7.21] an account that is closed is invoiced for what it owes, and the mail is due', async () => {
  const eve = await newCustomer(service.url);
  await db.database.query('update customers set email_verified_at = created_at where id = $1', [eve.id]);
  await apiOf(service.url, eve.token)('PUT', '/api/plan', { plan: 'starter' });
  const request = { method: 'DELETE', cookie: eve.cookie, body: { password: PASSWORD } };
  expect((await call(`${service.url}/api/me`, request)).status).toBe(204);
  const { rows } = await db.database.query(
    'select total_cents, bill_to_email, mail_state from invoices where customer_id = $1',
    [eve.id],
  );
  // It had come on the same day.
  const [year, month] = [clock.now.getUTCFullYear(), clock.now.getUTCMonth()];
  const totalCents = Math.floor(2_900 / new Date(Date.UTC(year, month + 1, 0)).getUTCDate());
  expect(rows).toEqual([{ total_cents: totalCents, bill_to_email: eve.email, mail_state: 'pending' }]);
});

test('[TH-7.21] the operator finds the invoice of a closed account among those of all, and voids it', async () => {
  const eve = await newCustomer(service.url);
  await apiOf(service.url, eve.token)('PUT', '/api/plan', { plan: 'starter' });
  const request = { method: 'DELETE', cookie: eve.cookie, body: { password: PASSWORD } };
  expect((await call(`${service.url}/api/me`, request)).status).toBe(204);
  type Listed = { id: string; customer_id: string; status: string };
  const everybody: Listed[] = [];
  let cursor = '';
  for (let pages = 0; pages < 50; pages += 1) {
    const { body } = await admin('GET', `/api/admin/invoices?limit=2${cursor}`);
    everybody.push(...body.data);
    if (body.next_cursor === null) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  const ids = everybody.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort().reverse());
  expect(new Set(everybody.map(({ customer_id: id }) => id)).size).toBeGreaterThan(2);
  const [owed] = everybody.filter(({ customer_id: id }) => id === eve.id);
  expect(owed).toMatchObject({ status: 'open', bill_to: { email: eve.email } });
  expect((await admin('POST', `/api/admin/invoices/${owed?.id}/void`)).status).toBe(200);
  const voided = await admin('GET', '/api/admin/invoices?status=void');
  expect(voided.body.data.map(({ status }: Listed) => status)).toContain('void');
  expect(new Set(voided.body.data.map(({ status }: Listed) => status)).size).toBe(1);
  expect(voided.body.data.map(({ id }: Listed) => id)).toContain(owed?.id);
  expect((await admin('GET', '/api/admin/invoices?status=lost')).status).toBe(400);
});

test('[TH-7] a run whose process is told to stop ends with its step, gives the lock back, and is resumed', async () => {
  const many = 120;
  await db.database.query(
    `insert into customers (id, email, name, password_hash, plan, created_at, email_verified_at)
     select 'cus_many' || n, 'many' || n || '@example.com', 'Many', '', 'free', '2027-06-15T00:00:00Z', now()
     from generate_series(1, $1) as n`,
    [many],
  );
  const mailed = (await readdir(join(folder, 'mail'))).length;
  const env = { DATA_DIR: folder };
  const stopped = await startInstance(db.url, { env, now: () => clock.now });
  const period = '2027-06';
  const count = async () =>
    (await db.database.query(`select 1 from invoices where period = '2027-06-01'`)).rowCount;
  const running = apiOf(stopped.url, ADMIN_TOKEN)('POST', '/api/admin/invoices/run', { period });
  await expect.poll(count, { interval: 5 }).toBeGreaterThan(0);
  await stopped.stop();
  expect(await running).toMatchObject({ status: 503, body: { code: 'shutting_down' } });
  expect((await db.database.query('select 1 from job_locks')).rows).toEqual([]);
  const made = await count();
  expect(await run({ period })).toEqual({
    status: 200,
    body: { period, created: many - made, skipped: made, failed: 0 },
  });
  expect((await readdir(join(folder, 'mail'))).length - mailed).toBe(many);
});

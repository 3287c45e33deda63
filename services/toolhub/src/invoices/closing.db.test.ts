// What an account owes when it is closed, against a real database.
import { randomBytes } from 'node:crypto';
import type { Database } from '@libs/db';
import { createIdFactory } from '@libs/seal';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createInvoiceClosing, type InvoiceClosing, type OpenAccount } from './closing.ts';
import { lockSeries } from './run-store.ts';
import { addCustomer, createOwnRig, never, type OwnRig } from './test/rig.ts';

let rig: OwnRig;
let database: Database;

beforeEach(async () => {
  rig = await createOwnRig();
  ({ database } = rig);
});
afterEach(() => rig.remove());

/** As the end of an account does: in one transaction with the customer's row. */
function close(customerId: string, at: string): Promise<OpenAccount | null> {
  rig.clock.now = new Date(at);
  return database.transaction(async (tx) => {
    const open = await closing().settle(tx, customerId);
    await tx.query('delete from customers where id = $1', [customerId]);
    // As a job has it.
    return JSON.parse(JSON.stringify(open));
  });
}

function closing(): InvoiceClosing {
  const now = () => rig.clock.now;
  return createInvoiceClosing({
    ...{ now, newId: createIdFactory({ now, randomBytes }), platformTitle: (platform) => platform },
    issuer: { name: 'Toolhub', lines: [], taxId: null },
  });
}

async function invoicesOf(customerId: string) {
  const invoices = await rig.invoices.list({ customerId, before: undefined, limit: 50 });
  return invoices
    .map(({ period, number, totalCents, status }) => ({ period, number, totalCents, status }))
    .sort((a, b) => b.number - a.number);
}

test('the days up to the closing and all calls so far are invoiced, numbered and mailed', async () => {
  const calls = [{ day: '2026-11-09', platform: 'email', calls: 51_000 }];
  const customer = await addCustomer(database, { plan: 'starter', calls });
  // October was invoiced by its run.
  await rig.invoices.run('2026-10', { signal: never });
  await close(customer, '2026-11-10T08:00:00Z');
  const owed = Math.floor((2_900 * 10) / 30) + 60;
  expect(await invoicesOf(customer)).toEqual([
    { period: '2026-11', number: 2, totalCents: owed, status: 'open' },
    { period: '2026-10', number: 1, totalCents: 2_900, status: 'sent' },
  ]);
  const mails = rig.invoices.jobs.handlers.find(({ name }) => name === 'invoices.mail');
  await mails?.handle([], { signal: never } as never);
  expect(await invoicesOf(customer)).toMatchObject([{ status: 'sent' }, { status: 'sent' }]);
  expect([...(await rig.mails()).values()].filter((mail) => mail.includes('INV-000002'))).toHaveLength(1);
  // The run of the month finds nobody to invoice again, and the series has no gap.
  rig.clock.now = new Date('2026-12-01T00:10:00Z');
  await addCustomer(database, { plan: 'starter' });
  expect(await rig.invoices.run('2026-11', { signal: never })).toMatchObject({ created: 1, failed: 0 });
  expect(await invoicesOf(customer)).toHaveLength(2);
});

test('a month whose run is yet to come is invoiced as well', async () => {
  const createdAt = new Date('2026-10-01T00:00:00Z');
  const customer = await addCustomer(database, { plan: 'starter', createdAt });
  await close(customer, '2026-11-01T00:02:00Z');
  expect(await invoicesOf(customer)).toEqual([
    { period: '2026-11', number: 2, totalCents: Math.floor(2_900 / 30), status: 'open' },
    { period: '2026-10', number: 1, totalCents: 2_900, status: 'open' },
  ]);
});

test('[TH-7.8] where no run ever went through, every month since the account was opened is invoiced', async () => {
  const createdAt = new Date('2026-08-15T00:00:00Z');
  await addCustomer(database, { createdAt: new Date('2026-01-01T00:00:00Z') });
  const customer = await addCustomer(database, { plan: 'starter', createdAt });
  await close(customer, '2026-11-01T00:02:00Z');
  expect((await invoicesOf(customer)).map(({ period }) => period)).toEqual([
    ...['2026-11', '2026-10', '2026-09', '2026-08'],
  ]);
});

test('[TH-7.8] earlier months that no run went through are invoiced as well, and none from before invoices were made', async () => {
  const createdAt = new Date('2025-01-01T00:00:00Z');
  const customer = await addCustomer(database, { plan: 'starter', createdAt });
  rig.clock.now = new Date('2026-11-10T08:00:00Z');
  for (const period of ['2025-08', '2026-09']) await rig.invoices.run(period, { signal: never });
  await close(customer, '2026-11-10T08:00:00Z');
  const invoices = await invoicesOf(customer);
  const months = (year: number, from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, at) => `${year}-${String(from + at).padStart(2, '0')}`);
  expect(invoices.map(({ period }) => period).sort()).toEqual([
    ...[...months(2025, 8, 12), ...months(2026, 1, 11)],
  ]);
  expect(invoices.slice(1).every(({ totalCents }) => totalCents === 2_900)).toBe(true);
  expect(invoices[0]).toMatchObject({ period: '2026-11', number: invoices.length });
});

test('who owes nothing gets no invoice, and who came this month none for the last', async () => {
  const free = await addCustomer(database, { calls: [{ day: '2026-11-02', platform: 'email', calls: 10 }] });
  const createdAt = new Date('2026-11-03T09:00:00Z');
  const fresh = await addCustomer(database, { plan: 'starter', createdAt });
  await close(free, '2026-11-04T00:00:00Z');
  await close(fresh, '2026-11-04T00:00:00Z');
  expect(await invoicesOf(free)).toEqual([]);
  expect(await invoicesOf(fresh)).toEqual([
    { period: '2026-11', number: 1, totalCents: Math.floor((2_900 * 2) / 30), status: 'open' },
  ]);
});

test('calls that are under way are waited for, and are on the invoice if they are kept', async () => {
  const calls = [{ day: '2026-11-09', platform: 'email', calls: 50_000 }];
  const customer = await addCustomer(database, { plan: 'starter', calls });
  await rig.invoices.run('2026-10', { signal: never });
  await database.query(
    `insert into usage_reservations (customer_id, month, holder, units) values ($1, '2026-11-01', 'process', 1000)`,
    [customer],
  );
  const open = (await close(customer, '2026-11-10T08:00:00Z')) as OpenAccount;
  const settleLate = (waits = true) =>
    database.transaction((tx) => closing().settleLate(tx, open, { waits }));
  expect(await settleLate()).toBe(false);
  expect(await invoicesOf(customer)).toMatchObject([{ period: '2026-10' }]);
  // All of them end, a day later, and are counted where they began.
  await database.query(`update usage_daily set calls = calls + 1000 where customer_id = $1`, [customer]);
  await database.query('update usage_reservations set units = 0 where customer_id = $1', [customer]);
  rig.clock.now = new Date('2026-11-11T08:00:00Z');
  expect(await settleLate()).toBe(true);
  const last = {
    period: '2026-11',
    number: 2,
    totalCents: Math.floor((2_900 * 10) / 30) + 60,
    status: 'open',
  };
  expect((await invoicesOf(customer))[0]).toEqual(last);
  // A second try finds it, and it is mailed though nobody is there any more.
  expect(await settleLate()).toBe(true);
  const mails = rig.invoices.jobs.handlers.find(({ name }) => name === 'invoices.mail');
  await mails?.handle([], { signal: never } as never);
  expect(await invoicesOf(customer)).toMatchObject([{ ...last, status: 'sent' }, { number: 1 }]);
});

test('a call that nobody has counted after the longest wait holds up no invoice', async () => {
  const createdAt = new Date('2026-11-03T09:00:00Z');
  const customer = await addCustomer(database, { plan: 'starter', createdAt, isVerified: false });
  await database.query(
    `insert into usage_reservations (customer_id, month, holder, units) values ($1, '2026-11-01', 'process', 1)`,
    [customer],
  );
  const open = (await close(customer, '2026-11-04T00:00:00Z')) as OpenAccount;
  await database.transaction((tx) => closing().settleLate(tx, open, { waits: false }));
  expect(await invoicesOf(customer)).toMatchObject([{ period: '2026-11', status: 'open' }]);
  // To an address that is not verified nothing is mailed, though its owner is gone.
  const { rows } = await database.query('select mail_state from invoices where customer_id = $1', [customer]);
  expect(rows).toEqual([{ mail_state: 'waiting' }]);
});

test('a closing that comes after another of the same account takes no number', async () => {
  const customer = await addCustomer(database, { plan: 'starter' });
  const seriesIsHeld = Promise.withResolvers<void>();
  const secondWaits = Promise.withResolvers<void>();
  // The first leaves what is owed to a job, since calls are under way.
  const first = database.transaction(async (tx) => {
    await lockSeries(tx);
    seriesIsHeld.resolve();
    await secondWaits.promise;
    await tx.query('delete from customers where id = $1', [customer]);
  });
  await seriesIsHeld.promise;
  const second = close(customer, '2026-11-04T00:00:00Z');
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await database.query(waits)).rowCount).toBe(1);
  secondWaits.resolve();
  await Promise.all([first, second]);
  const { rows } = await database.query('select last_number from invoice_series');
  expect(rows).toEqual([{ last_number: 0 }]);
});

test('a closing that fails leaves no invoice and takes no number', async () => {
  const customer = await addCustomer(database, { plan: 'starter' });
  await database.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`,
  );
  await database.query(
    'create trigger refuse before delete on customers for each row execute function refuse()',
  );
  await expect(close(customer, '2026-11-10T08:00:00Z')).rejects.toThrow('no');
  expect(await invoicesOf(customer)).toEqual([]);
  expect(await database.query('select last_number from invoice_series')).toMatchObject({
    rows: [{ last_number: 0 }],
  });
});

// The monthly run against a real database: numbers, and to the cent what was used.
import { type Database, openDatabase } from '@libs/db';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sweepExpired } from '../billing/meter/holder.ts';
import { SCHEMA } from '../schema.ts';
import type { Invoice } from './invoice.ts';
import { acquireLock } from './lock-store.ts';
import { LOCK_NAME, LOCK_TTL_MS } from './run.ts';
import { readPdf } from './test/pdf-text.ts';
import { addCustomer, createOwnRig, createRig, never, type OwnRig, PERIOD } from './test/rig.ts';

let database: Database;
let rig: OwnRig;

beforeEach(async () => {
  rig = await createOwnRig();
  ({ database } = rig);
});
afterEach(() => rig.remove());

const run = (period = PERIOD) => rig.invoices.run(period, { signal: never });

async function rows<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await database.query<Row>(text, values)).rows;
}

describe('a run', () => {
  test('charges what was used, to the cent, and calls that failed cost nothing', async () => {
    const customer = await addCustomer(database, {
      plan: 'starter',
      calls: [
        { day: '2026-09-30', platform: 'email', calls: 900_000 },
        { day: '2026-10-01', platform: 'email', calls: 50_000, errors: 7_777 },
        { day: '2026-10-31', platform: 'slack', calls: 1_234 },
        { day: '2026-11-01', platform: 'email', calls: 900_000 },
      ],
    });
    expect(await run()).toEqual({ kind: 'done', created: 1, skipped: 0, failed: 0 });
    const [invoice] = await rig.invoices.list({ customerId: customer, before: undefined, limit: 10 });
    expect(invoice).toMatchObject({ period: PERIOD, status: 'sent', number: 1, totalCents: 2_900 + 74 });
    expect(
      invoice?.lines.map(({ platform, quantity, amountCents }) => [platform, quantity, amountCents]),
    ).toEqual([
      [null, 1, 2_900],
      ['email', 50_000, 0],
      ['slack', 1_234, 74],
    ]);
  });

  test('charges ten million calls of one day to the cent', async () => {
    const calls = [{ day: '2026-10-31', platform: 'email', calls: 10_000_000 }];
    const customer = await addCustomer(database, { plan: 'scale', calls });
    await run();
    const [invoice] = await rig.invoices.list({ customerId: customer, before: undefined, limit: 10 });
    // Nine million beyond the plan, at 0.25 USD per thousand.
    expect(invoice?.totalCents).toBe(22_900 + 225_000);
    expect(invoice?.lines.map(({ quantity }) => quantity)).toEqual([1, 1_000_000, 9_000_000]);
  });

  test.each(['Pacific/Kiritimati', 'America/Los_Angeles', 'Asia/Kathmandu'])(
    'a month is one of UTC, with process and database in %s',
    async (zone) => {
      const { rows: statements } = await database.query<{ text: string }>(
        `select format('alter database %I set timezone to %L', current_database(), $1::text) as text`,
        [zone],
      );
      await database.query(statements[0]?.text ?? '');
      const ownZone = process.env.TZ;
      process.env.TZ = zone;
      const abroad = await openDatabase({ url: rig.databaseUrl, schema: SCHEMA });
      const there = await createRig(abroad);
      try {
        const customer = await addCustomer(abroad, {
          plan: 'starter',
          createdAt: new Date('2026-10-01T00:00:00Z'),
          calls: [
            { day: '2026-09-30', platform: 'email', calls: 1_000_000 },
            { day: '2026-10-01', platform: 'email', calls: 50_000 },
            { day: '2026-10-31', platform: 'email', calls: 1_000 },
            { day: '2026-11-01', platform: 'email', calls: 1_000_000 },
          ],
        });
        const last = await addCustomer(abroad, { createdAt: new Date('2026-10-31T23:59:59.999Z') });
        await addCustomer(abroad, { createdAt: new Date('2026-11-01T00:00:00Z') });
        await abroad.query(
          `insert into plan_changes (customer_id, id, at, previous_plan, plan)
           values ($1, 'plc_1', '2026-10-31T23:59:59Z', 'free', 'starter')`,
          [customer],
        );
        there.clock.now = new Date('2026-10-31T23:59:59.999Z');
        expect(await there.invoices.run(PERIOD, { signal: never })).toEqual({ kind: 'not_ended' });
        there.clock.now = new Date('2026-11-01T00:00:00Z');
        expect(await there.invoices.run(PERIOD, { signal: never })).toMatchObject({ created: 2, failed: 0 });
        const [invoice] = await there.invoices.list({ customerId: customer, before: undefined, limit: 1 });
        expect(invoice?.lines.map(({ description, amountCents }) => [description, amountCents])).toEqual([
          ['Free plan, 30 of 31 days', 0],
          ['Starter plan, 1 of 31 days', Math.floor(2_900 / 31)],
          [expect.stringMatching(/included/), 0],
          [expect.stringMatching(/beyond/), 60],
        ]);
        const pdf = readPdf(await there.invoices.render(invoice as Invoice));
        const said = pdf.texts.map(({ text }) => text.trim());
        expect(said).toContain('1 November 2026');
        expect(said).toContain('October 2026');
        const [late] = await there.invoices.list({ customerId: last, before: undefined, limit: 1 });
        expect(late?.lines.map(({ description }) => description)).toEqual(['Free plan, 1 of 31 days']);
      } finally {
        if (ownZone === undefined) delete process.env.TZ;
        else process.env.TZ = ownZone;
        await there.remove();
        await abroad.close();
      }
    },
  );

  test('gives every customer that existed in the period one invoice; nothing owed is paid at once', async () => {
    const silent = await addCustomer(database, { createdAt: new Date('2026-10-31T23:59:59.999Z') });
    await addCustomer(database, { createdAt: new Date('2026-11-01T00:00:00Z') });
    expect(await run()).toMatchObject({ created: 1 });
    const [invoice] = await rig.invoices.list({ customerId: silent, before: undefined, limit: 10 });
    expect(invoice).toMatchObject({ status: 'paid', totalCents: 0, paidAt: rig.clock.now });
    expect(invoice?.sentAt).not.toBeNull();
    expect(invoice?.lines.map(({ description }) => description)).toEqual(['Free plan, 1 of 31 days']);
    expect(await run()).toEqual({ kind: 'done', created: 0, skipped: 1, failed: 0 });
  });

  test('[TH-7.10] prices a change of the plan by days, through what billing recorded', async () => {
    const customer = await addCustomer(database, { plan: 'free' });
    const change = (at: string, previous: string, plan: string) =>
      database.query(
        `insert into plan_changes (customer_id, id, at, previous_plan, plan) values ($1, $2, $3, $4, $5)`,
        [customer, `plc_${at}`, at, previous, plan],
      );
    await change('2026-10-11T12:00:00Z', 'starter', 'scale');
    await change('2026-10-11T12:00:01Z', 'scale', 'scale');
    await change('2026-11-01T00:00:00Z', 'scale', 'free');
    await run();
    const [invoice] = await rig.invoices.list({ customerId: customer, before: undefined, limit: 10 });
    expect(invoice?.lines.map(({ description, amountCents }) => [description, amountCents])).toEqual([
      ['Starter plan, 10 of 31 days', Math.floor((2_900 * 10) / 31)],
      ['Scale plan, 21 of 31 days', Math.floor((22_900 * 21) / 31)],
    ]);
  });

  test('prices a plan that the operator removed in the middle of the month', async () => {
    await database.query(
      `insert into plans (id, position, name, price_cents, included_calls, overage_cents_per_1000, hard_stop)
       values ('trial', 9, 'Trial', 3100, 10, 100, false)`,
    );
    const customer = await addCustomer(database, {
      plan: 'free',
      calls: [{ day: '2026-10-02', platform: 'email', calls: 1_010 }],
    });
    await database.query(
      `insert into plan_changes (customer_id, id, at, previous_plan, plan)
       values ($1, 'plc_1', '2026-10-16T00:00:00Z', 'trial', 'free')`,
      [customer],
    );
    await database.query(`delete from plans where id = 'trial'`);
    expect(await run()).toMatchObject({ created: 1, failed: 0 });
    const [invoice] = await rig.invoices.list({ customerId: customer, before: undefined, limit: 10 });
    expect(invoice?.totalCents).toBe(1_500 + 100);
  });

  test('a month that is not over is refused, up to its last millisecond', async () => {
    rig.clock.now = new Date('2026-10-31T23:59:59.999Z');
    expect(await run()).toEqual({ kind: 'not_ended' });
    expect(await rig.invoices.dryRun(PERIOD)).toEqual({ kind: 'not_ended' });
    rig.clock.now = new Date('2026-11-01T00:00:00Z');
    expect(await run()).toMatchObject({ kind: 'done' });
  });

  test('tells of each invoice once, in an event', async () => {
    const customer = await addCustomer(database, { plan: 'starter' });
    await run();
    await run();
    const events = await rows<{ data: { number: string; total_cents: number } }>(
      `select data from events where customer_id = $1 and type = 'invoice.created'`,
      [customer],
    );
    expect(events.map(({ data }) => data)).toMatchObject([{ number: 'INV-000001', total_cents: 2_900 }]);
  });

  test('one customer that cannot be priced fails alone, leaves no gap, and is made up for later', async () => {
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.push(await addCustomer(database, { plan: 'starter' }));
    await database.query(
      `insert into plan_changes (customer_id, id, at, previous_plan, plan)
       values ($1, 'plc_1', '2026-10-16T00:00:00Z', 'unheard-of', 'starter')`,
      [ids[2]],
    );
    expect(await run()).toEqual({ kind: 'done', created: 4, skipped: 0, failed: 1 });
    expect(rig.errors).toHaveLength(1);
    expect(await rows('select 1 from invoice_periods')).toEqual([]);
    await database.query(`delete from plan_changes`);
    expect(await run()).toEqual({ kind: 'done', created: 1, skipped: 4, failed: 0 });
    expect(await rows('select number from invoices order by number')).toEqual(
      [1, 2, 3, 4, 5].map((number) => ({ number })),
    );
  });

  test('[TH-13.14] one customer whose changes of plan cannot be read fails alone, and is made up for later', async () => {
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.push(await addCustomer(database, { plan: 'starter' }));
    for (const id of ids)
      await database.query(
        `insert into plan_changes (customer_id, id, at, previous_plan, plan)
         values ($1, 'plc_1', '2026-10-16T00:00:00Z', 'free', 'starter')`,
        [id],
      );
    await database.query('alter table plan_changes rename to readable_changes');
    await database.query(
      `create view plan_changes as select customer_id, id, previous_plan, plan,
         case when customer_id = '${ids[2]}' then (previous_plan || ' is no moment')::timestamptz else at end as at
       from readable_changes`,
    );
    expect(await run()).toEqual({ kind: 'done', created: 4, skipped: 0, failed: 1 });
    expect(rig.errors).toMatchObject([{ message: expect.stringContaining('free is no moment') }]);
    await database.query('drop view plan_changes');
    await database.query('alter table readable_changes rename to plan_changes');
    expect(await run()).toEqual({ kind: 'done', created: 1, skipped: 4, failed: 0 });
  });

  test.each([false, true])(
    'an account that is closed while it is priced takes no number and is not told of (spread: %s)',
    async (isSpread) => {
      const ids: string[] = [];
      for (let count = 0; count < 3; count += 1) ids.push(await addCustomer(database));
      const usageOf = async () => {
        await database.query('delete from customers where id = $1', [ids[1]]);
        return [];
      };
      // One server takes the statements for spread tables, too.
      const transaction: Database['transaction'] = (work, options) =>
        database.transaction((tx) => work({ ...tx, isSpread }), options);
      const closing = await createRig({ ...database, isSpread, transaction }, { usageOf });
      expect(await closing.invoices.run(PERIOD, { signal: never })).toEqual({
        ...{ kind: 'done', created: 2, skipped: 0, failed: 0 },
      });
      expect(await rows('select customer_id, number from invoices order by number')).toEqual([
        { customer_id: ids[0], number: 1 },
        { customer_id: ids[2], number: 2 },
      ]);
      expect(await rows('select last_number from invoice_series')).toEqual([{ last_number: 2 }]);
      expect(await rows('select 1 from events where customer_id = $1', [ids[1]])).toEqual([]);
      await closing.remove();
    },
  );

  test('a dry run tells the same and writes nothing', async () => {
    await addCustomer(database, { plan: 'starter' });
    await addCustomer(database, { plan: 'scale' });
    const told = await rig.invoices.dryRun(PERIOD);
    expect(told).toEqual({ kind: 'done', created: 2, skipped: 0, failed: 0, totalCents: 25_800 });
    expect(await rows('select 1 from invoices')).toEqual([]);
    expect(await rows('select last_number from invoice_series')).toEqual([{ last_number: 0 }]);
    expect(await run()).toMatchObject({ created: 2 });
  });

  test('an aborted run stops between two batches and gives its lock back', async () => {
    for (let count = 0; count < 6; count += 1) await addCustomer(database);
    const stop = new AbortController();
    const usageOf = async () => {
      stop.abort();
      return [];
    };
    const stopped = await createRig(database, { usageOf, batchMax: 2 });
    expect(await stopped.invoices.run(PERIOD, stop)).toEqual({ kind: 'interrupted' });
    expect(await rows('select 1 from invoices')).toHaveLength(2);
    expect(await rows('select 1 from job_locks')).toEqual([]);
    expect(await run()).toEqual({ kind: 'done', created: 4, skipped: 2, failed: 0 });
    await stopped.remove();
  });
});

describe('the monthly job', () => {
  const monthly = () => rig.invoices.jobs.handlers.find(({ name }) => name === 'invoices.monthly');
  const due = () => rig.invoices.jobs.cron.find(({ name }) => name === 'invoices.monthly');
  const handle = () => monthly()?.handle([], { signal: never });

  test('[TH-7.8] is due at 00:10 UTC on the 1st', () => {
    expect(due()?.schedule(new Date('2026-10-31T23:59:59Z')).toISOString()).toBe('2026-11-01T00:10:00.000Z');
    expect(due()?.schedule(new Date('2026-11-01T00:10:00Z')).toISOString()).toBe('2026-12-01T00:10:00.000Z');
  });

  test('makes the month before, and after a long absence the months that it missed', async () => {
    await addCustomer(database, { createdAt: new Date('2026-10-15T00:00:00Z') });
    await handle();
    expect(await rows('select period from invoices')).toEqual([{ period: '2026-10-01' }]);
    rig.clock.now = new Date('2027-02-01T00:10:00Z');
    await handle();
    expect(await rows('select period from invoices order by period')).toEqual(
      ['2026-10-01', '2026-11-01', '2026-12-01', '2027-01-01'].map((period) => ({ period })),
    );
  });

  test('[TH-7.8] makes the months that it missed also before it ever made one: from that of its oldest customer on', async () => {
    await addCustomer(database, { createdAt: new Date('2026-08-15T00:00:00Z') });
    await addCustomer(database, { createdAt: new Date('2026-09-30T23:59:59Z') });
    await handle();
    expect(await periods()).toEqual(['2026-08', '2026-09', '2026-09', '2026-10', '2026-10']);
  });

  const periods = async () =>
    (await rows<{ period: string }>('select period from invoices order by period')).map(({ period }) =>
      period.slice(0, 7),
    );

  test('[TH-7.8] makes a month that it missed also where an admin has run a later one by hand', async () => {
    await addCustomer(database, { createdAt: new Date('2026-10-15T00:00:00Z') });
    await handle();
    rig.clock.now = new Date('2027-01-02T12:00:00Z');
    expect(await run('2026-12')).toMatchObject({ created: 1, failed: 0 });
    await handle();
    expect(await periods()).toEqual(['2026-10', '2026-11', '2026-12']);
  });

  test('[TH-7.9] makes up for an invoice that failed, also where a later month went through', async () => {
    await handle();
    const id = await addCustomer(database, { createdAt: new Date('2026-11-15T00:00:00Z'), plan: 'starter' });
    await database.query(
      `insert into plan_changes (customer_id, id, at, previous_plan, plan)
       values ($1, 'plc_1', '2026-11-16T00:00:00Z', 'unheard-of', 'starter')`,
      [id],
    );
    rig.clock.now = new Date('2026-12-01T00:10:00Z');
    await handle();
    expect(rig.errors).toHaveLength(1);
    rig.clock.now = new Date('2027-01-01T00:10:00Z');
    await handle();
    expect(await periods()).toEqual(['2026-12']);
    await database.query('delete from plan_changes');
    rig.clock.now = new Date('2027-02-01T00:10:00Z');
    await handle();
    expect(await periods()).toEqual(['2026-11', '2026-12', '2027-01']);
  });

  test('[TH-7.8] a call that crosses the end of the month is charged, also where an admin runs the month before it ends', async () => {
    const day = '2026-10-31';
    const calls = [{ day, platform: 'email', calls: 60_000 }];
    const customer = { plan: 'starter', calls, createdAt: new Date('2026-10-01T00:00:00Z') };
    const [calling, quiet] = [await addCustomer(database, customer), await addCustomer(database, customer)];
    const hold = `insert into usage_reservations (customer_id, month, holder, units) values ($1, $2, 'hld_1', 1000)`;
    await database.query(hold, [calling, '2026-10-01']);
    await database.query(hold, [quiet, '2026-11-01']);
    const invoiced = () =>
      rows<{ customer_id: string; total_cents: number }>(
        'select customer_id, total_cents from invoices order by customer_id',
      );
    rig.clock.now = new Date('2026-11-01T00:00:01Z');
    expect(await rig.invoices.dryRun(PERIOD)).toMatchObject({ created: 1, waiting: 1, failed: 0 });
    expect(await run()).toEqual({ kind: 'done', created: 1, skipped: 0, failed: 0, waiting: 1 });
    expect(await invoiced()).toEqual([{ customer_id: quiet, total_cents: 2_900 + 600 }]);
    rig.clock.now = new Date('2026-11-01T00:10:00Z');
    await expect(handle()).rejects.toThrow(
      'invoices of 2026-10: 1 customers have calls of that month under way',
    );
    await database.query('update usage_reservations set units = 0 where customer_id = $1', [calling]);
    await database.query('update usage_daily set calls = calls + 1000 where customer_id = $1', [calling]);
    await handle();
    expect((await invoiced()).find(({ customer_id: id }) => id === calling)?.total_cents).toBe(2_900 + 660);
  });

  test('[TH-7.16] an address that is verified while its invoice is made gets what it is then, by the next run', async () => {
    const createdAt = new Date('2026-10-01T00:00:00Z');
    const id = await addCustomer(database, {
      ...{ plan: 'starter', name: 'Buy this', isVerified: false, createdAt },
    });
    const takenBack = `update customers set name = 'Ada', plan = 'free', email_verified_at = created_at where id = $1`;
    const other = await createRig(database, {
      async usageOf() {
        await database.query(takenBack, [id]);
        return [];
      },
    });
    const outcome = await other.invoices.run(PERIOD, { signal: never });
    expect(outcome).toEqual({ kind: 'done', created: 0, skipped: 0, failed: 0, waiting: 1 });
    await other.remove();
    await handle();
    const [invoice] = await rig.invoices.list({ customerId: id, before: undefined, limit: 10 });
    expect(invoice).toMatchObject({ number: 1, totalCents: 0, billTo: { name: 'Ada' } });
  });

  test('[TH-7.8] waits for calls however long their counting takes, and not for those of a process that is gone', async () => {
    const id = await addCustomer(database, { plan: 'starter' });
    await database.query(
      `insert into call_holders (id, expires_at) values ('hld_1', statement_timestamp() + interval '1 hour')`,
    );
    await database.query(
      `insert into usage_reservations (customer_id, month, holder, units) values ($1, '2026-10-01', 'hld_1', 1)`,
      [id],
    );
    rig.clock.now = new Date('2026-11-01T06:00:00Z');
    expect(await run()).toEqual({ kind: 'done', created: 0, skipped: 0, failed: 0, waiting: 1 });
    await database.query(`update call_holders set expires_at = '-infinity'`);
    await sweepExpired(database);
    expect(await run()).toEqual({ kind: 'done', created: 1, skipped: 0, failed: 0 });
  });

  test('leaves what is before its first month, and more than a year ago, to an admin', async () => {
    await addCustomer(database, { createdAt: new Date('2026-01-15T00:00:00Z') });
    expect(await run('2026-10')).toMatchObject({ created: 1, failed: 0 });
    await handle();
    expect(await periods()).toEqual(['2026-10']);
    rig.clock.now = new Date('2028-01-01T00:10:00Z');
    await handle();
    expect(await periods()).toEqual([
      '2026-10',
      ...Array.from({ length: 12 }, (_, month) => `2027-${String(month + 1).padStart(2, '0')}`),
    ]);
  });

  test('comes back while another run holds the lock', async () => {
    await acquireLock(database, { name: LOCK_NAME, holder: 'run_other' }, LOCK_TTL_MS);
    await expect(handle()).rejects.toThrow(/locked by run_other until 20.+Z/);
    // A lock that runs out is found within half a minute, however often the job has come back before.
    expect([1, 10, 100].map((attempt) => monthly()?.retryDelayMs?.(attempt))).toEqual(Array(3).fill(30_000));
  });
});

// The gate: exactly N of any number of calls pass, failed ones cost nothing, and what a dead process held comes back.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Database, openDatabase } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { until } from '@libs/runtime/testing';
import { createIdFactory } from '@libs/seal';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmitEvent } from '../events/service.ts';
import { reckonMonth } from '../invoices/reckoning.ts';
import { migrationSource, SCHEMA } from '../schema.ts';
import { createHolder } from './holder.ts';
import type { LimitCheck } from './meter.ts';
import { type BillingService, createBillingService } from './service.ts';

let db: TestDatabase;
let pools: Database[];
// A month that does not end while the tests count.
const MIDMONTH = new Date('2026-11-16T12:00:00Z');
let now = () => MIDMONTH;
const newId = createIdFactory({ now: () => now(), randomBytes });
const failures: unknown[] = [];
const services: BillingService[] = [];

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  const open = () => openDatabase({ url: db.url, schema: SCHEMA, connectionsMax: 4 });
  pools = [await open(), await open()];
});

afterAll(async () => {
  for (const service of services) await service.close();
  for (const pool of pools) await pool.close();
  await db.drop();
  expect(failures).toEqual([]);
});

/** One process' worth: own pool, own lease. */
function newService(pool = 0, leaseMs?: number): BillingService {
  const service = createBillingService({
    database: pools[pool] as Database,
    newId,
    now: () => now(),
    emitEvent: createEmitEvent({ newId, now: () => now() }),
    reckonMonth,
    onError: (error) => void failures.push(error),
    ...(leaseMs === undefined ? {} : { leaseMs }),
  });
  services.push(service);
  return service;
}

let customers = 0;
async function newCustomer(limit: number | null, plan = 'free'): Promise<string> {
  customers += 1;
  const id = `cus_${String(customers).padStart(4, '0')}`;
  await db.database.query(
    `insert into customers (id, email, name, password_hash, plan, created_at) values ($1, $1, 'x', 'x', $2, now())`,
    [id, plan],
  );
  if (limit !== null) await newService().changeLimit(id, limit);
  return id;
}

async function counter(customerId: string) {
  const { rows } = await db.database.query<{ used: number; kept: number }>(
    'select used, kept from usage_counters where customer_id = $1',
    [customerId],
  );
  return rows[0];
}

async function openUnits(customerId: string): Promise<number> {
  const { rows } = await db.database.query<{ units: number }>(
    'select coalesce(sum(units), 0)::bigint as units from usage_reservations where customer_id = $1',
    [customerId],
  );
  return rows[0]?.units ?? 0;
}

async function settle(service: BillingService, check: LimitCheck, succeeded: boolean): Promise<void> {
  if (check.kind !== 'reserved') throw new Error('only what was reserved is settled');
  const { reservation } = check;
  await service.meter.settle({
    ...{ customerId: reservation.customerId, reservation, platform: 'alpha', tool: 'alpha_send_note' },
    ...{ succeeded, unit: succeeded ? 'kept' : 'given_back', durationMs: 3 },
  });
}

const PROCESS = fileURLToPath(new URL('./test/meter-process.ts', import.meta.url));

function startProcess(mode: string, customerId: string, calls: number) {
  const child = spawn(
    process.execPath,
    [PROCESS, mode, db.url, customerId, String(calls), now().toISOString()],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const reserved = once(child.stdout, 'data').then(([line]) => Number(String(line)));
  return { child, reserved };
}

describe('at a limit of N', () => {
  test('[TH-7.2] 3,000 calls over two processes at a limit of 1,000: exactly 1,000 pass', async () => {
    const id = await newCustomer(1_000);
    const processes = [startProcess('calls', id, 1_500), startProcess('calls', id, 1_500)];
    const passed = await Promise.all(processes.map(({ reserved }) => reserved));
    await Promise.all(processes.map(({ child }) => child.exitCode ?? once(child, 'exit')));
    expect((passed[0] ?? 0) + (passed[1] ?? 0)).toBe(1_000);
    expect(await counter(id)).toEqual({ used: 1_000, kept: 1_000 });
    expect(await openUnits(id)).toBe(0);
    const { rows } = await db.database.query('select count(*)::int as count from call_holders');
    expect(rows).toEqual([{ count: 0 }]);
  });

  test('the refused are told the limit, what is used, and when it begins anew', async () => {
    const id = await newCustomer(0);
    now = () => new Date('2026-12-31T23:59:59.999Z');
    const check = await newService().meter.checkLimit(id);
    now = () => MIDMONTH;
    expect(check).toEqual({
      kind: 'limit_exceeded',
      limit: 0,
      used: 0,
      resetsAt: new Date('2027-01-01T00:00:00Z'),
    });
  });

  test('customers of one batch do not touch each other', async () => {
    const ids = [await newCustomer(3), await newCustomer(0), await newCustomer(7)];
    const { meter } = newService();
    const checks = await Promise.all(
      Array.from({ length: 30 }, (_, n) => ids[n % 3] as string).map(
        async (id) => [id, await meter.checkLimit(id)] as const,
      ),
    );
    const passed = ids.map(
      (id) => checks.filter(([of, check]) => of === id && check.kind === 'reserved').length,
    );
    expect(passed).toEqual([3, 0, 7]);
  });

  test('any order of reserving, keeping and giving back, over two processes, stays within it', async () => {
    const pair = [newService(0), newService(1)];
    const step = fc.record({
      process: fc.constantFrom(0, 1),
      customer: fc.constantFrom(0, 1),
      calls: fc.integer({ min: 1, max: 6 }),
      keep: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
      waits: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.array(step, { maxLength: 12 }),
        async (limit, steps) => {
          const ids = [await newCustomer(limit), await newCustomer(limit)];
          const kept = [0, 0];
          const runs = steps.map(async ({ process: p, customer, calls, keep, waits }) => {
            const service = pair[p] as BillingService;
            const id = ids[customer] as string;
            if (waits) await new Promise((done) => setImmediate(done));
            const checks = await Promise.all(
              Array.from({ length: calls }, () => service.meter.checkLimit(id)),
            );
            const passed = checks.filter((check) => check.kind === 'reserved');
            expect((await counter(id))?.used ?? 0).toBeLessThanOrEqual(limit);
            await Promise.all(passed.map((check, n) => settle(service, check, keep[n] === true)));
            kept[customer] = (kept[customer] ?? 0) + passed.filter((_, n) => keep[n] === true).length;
          });
          await Promise.all(runs);
          for (const [n, id] of ids.entries()) {
            const { used = 0, kept: stored = 0 } = (await counter(id)) ?? {};
            expect([used, stored]).toEqual([kept[n], kept[n]]);
            expect(used).toBeLessThanOrEqual(limit);
            expect(await openUnits(id)).toBe(0);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('what a process holds', () => {
  test('is given up for good when it ends while it renews its lease', async () => {
    const renewal = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const order: string[] = [];
    const query = async (text: string, values?: unknown[]) => {
      const isRenewal = text.includes('update call_holders set expires_at = statement_timestamp()');
      if (isRenewal) {
        asked.resolve();
        await renewal.promise;
      }
      order.push(isRenewal ? 'renewed' : 'made or ended');
      return db.database.query(text, values);
    };
    const database = { ...db.database, query } as Database;
    const holder = createHolder({ database, newId, onError: (error) => failures.push(error), leaseMs: 40 });
    const id = await holder.current();
    await asked.promise;
    const closed = holder.close();
    setImmediate(renewal.resolve);
    await closed;
    expect(order).toEqual(['made or ended', 'renewed', 'made or ended']);
    const { rows } = await db.database.query('select id from call_holders where id = $1', [id]);
    expect(rows).toEqual([]);
  });

  test('[TH-7.3] a kill gives it back within the lease', async () => {
    const id = await newCustomer(40);
    const { child, reserved } = startProcess('hang', id, 60);
    expect(await reserved).toBe(40);
    const service = newService();
    const leaseEndMs = async () =>
      (
        await db.database.query<{ ms: number }>(
          'select extract(epoch from max(expires_at))::float8 * 1000 as ms from call_holders',
        )
      ).rows[0]?.ms ?? 0;
    const first = await leaseEndMs();
    // Alive, it moves the end of its lease on, and so keeps them.
    await expect.poll(leaseEndMs).toBeGreaterThan(first);
    await service.sweep();
    expect(await counter(id)).toEqual({ used: 40, kept: 0 });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const swept = async () => {
      await service.sweep();
      return counter(id);
    };
    await expect.poll(swept, { interval: 100 }).toEqual({ used: 0, kept: 0 });
    expect((await service.meter.checkLimit(id)).kind).toBe('reserved');
  });

  test('a process that was only slow counts what it kept, once', async () => {
    const id = await newCustomer(10);
    const slow = newService(0, 100_000);
    const checks = await Promise.all(Array.from({ length: 4 }, () => slow.meter.checkLimit(id)));
    await db.database.query(`update call_holders set expires_at = now() - interval '1 second'`);
    await newService(1).sweep();
    expect(await counter(id)).toEqual({ used: 0, kept: 0 });
    await Promise.all(checks.map((check, n) => settle(slow, check, n < 3)));
    expect(await counter(id)).toEqual({ used: 3, kept: 3 });
    // It goes on under a new lease.
    const next = await slow.meter.checkLimit(id);
    await settle(slow, next, true);
    expect(await counter(id)).toEqual({ used: 4, kept: 4 });
    expect(await openUnits(id)).toBe(0);
  });

  test('settling and sweeping at the same moment counts once', async () => {
    const id = await newCustomer(1_000);
    for (let round = 0; round < 10; round += 1) {
      const service = newService(0, 100_000);
      const checks = await Promise.all(Array.from({ length: 5 }, () => service.meter.checkLimit(id)));
      await db.database.query(`update call_holders set expires_at = now() - interval '1 second'`);
      await Promise.all([newService(1).sweep(), ...checks.map((check) => settle(service, check, true))]);
      await newService(1).sweep();
      expect(await counter(id)).toEqual({ used: 5 * (round + 1), kept: 5 * (round + 1) });
    }
  });

  test('a call that was made is counted, once, when the database ends the connection that counts it', async () => {
    const id = await newCustomer(10);
    const service = newService();
    const check = await service.meter.checkLimit(id);
    let settling = Promise.resolve();
    await db.database.transaction(async (tx) => {
      await tx.query('select from usage_counters where customer_id = $1 for update', [id]);
      settling = settle(service, check, true);
      await until('it waits for the counter', async () => {
        // A transaction sees the activity as it was when it first looked.
        await tx.query('select pg_stat_clear_snapshot()');
        const { rowCount } = await tx.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rowCount > 0;
      });
    });
    await settling;
    expect(await counter(id)).toEqual({ used: 1, kept: 1 });
    expect(await openUnits(id)).toBe(0);
  });

  test('a call of one month that ends in the next is counted where it began', async () => {
    const id = await newCustomer(5);
    const service = newService();
    now = () => new Date('2026-03-31T23:59:59Z');
    const check = await service.meter.checkLimit(id);
    now = () => new Date('2026-04-01T00:00:01Z');
    await settle(service, check, true);
    const { rows } = await db.database.query(
      'select month, used from usage_counters where customer_id = $1',
      [id],
    );
    expect(rows).toEqual([{ month: '2026-03-01', used: 1 }]);
    // What an invoice charges is the same month's.
    const { rows: charged } = await db.database.query(
      'select day, calls from usage_daily where customer_id = $1',
      [id],
    );
    expect(charged).toEqual([{ day: '2026-03-31', calls: 1 }]);
    expect((await service.planState(id)).used).toBe(0);
    now = () => MIDMONTH;
  });

  test('[TH-7.7] calls of two months that end together are counted each in its own month and on its own day', async () => {
    const id = await newCustomer(5);
    const service = newService();
    const moments = ['2026-11-30T23:59:59Z', '2026-12-01T00:00:00Z', '2026-12-02T00:00:00Z'];
    const checks: LimitCheck[] = [];
    for (const moment of moments) {
      now = () => new Date(moment);
      checks.push(await service.meter.checkLimit(id));
    }
    now = () => MIDMONTH;
    await Promise.all(checks.map((check) => settle(service, check, true)));
    const count = async (sql: string) => (await db.database.query<{ count: number }>(sql, [id])).rows;
    expect(
      await count('select month::text, used, kept from usage_counters where customer_id = $1 order by month'),
    ).toEqual([
      { month: '2026-11-01', used: 1, kept: 1 },
      { month: '2026-12-01', used: 2, kept: 2 },
    ]);
    expect(
      await count('select day::text, calls from usage_daily where customer_id = $1 order by day'),
    ).toEqual(moments.map((moment) => ({ day: moment.slice(0, 10), calls: 1 })));
    expect(await openUnits(id)).toBe(0);
  });

  test.each(['40001', '40P01'])(
    '[TH-7.7] a call that the database asks to count again (%s) is counted',
    async (code) => {
      const id = await newCustomer(5);
      const service = newService();
      const check = await service.meter.checkLimit(id);
      await db.database.query('create sequence tries');
      await db.database.query(
        `create function refuse_once() returns trigger language plpgsql as $$ begin
         if nextval('toolhub.tries') = 1 then raise exception 'once more' using errcode = '${code}'; end if;
         return new;
       end $$`,
      );
      await db.database.query(
        'create trigger refuse_once before insert on usage_daily for each row execute function refuse_once()',
      );
      await settle(service, check, true);
      await db.database.query('drop function refuse_once cascade');
      await db.database.query('drop sequence tries');
      expect(await counter(id)).toEqual({ used: 1, kept: 1 });
      expect(await openUnits(id)).toBe(0);
    },
  );

  test('a lease that the sweep took is made anew, and one that is good outlives the end of an older one', async () => {
    const database = pools[0] as Database;
    const holder = createHolder({
      database,
      newId,
      onError: (error) => void failures.push(error),
      leaseMs: 200,
    });
    const first = await holder.current();
    holder.abandon('hld_older');
    expect(await holder.current()).toBe(first);
    await db.database.query('delete from call_holders where id = $1', [first]);
    await expect.poll(() => holder.current()).not.toBe(first);
    await holder.close();
  });

  test('a lease that could not be made is tried again by the next call', async () => {
    const id = await newCustomer(5);
    const service = newService();
    await db.database.query('alter table call_holders rename to away');
    await expect(service.meter.checkLimit(id)).rejects.toThrow(/call_holders/);
    await db.database.query('alter table away rename to call_holders');
    expect((await service.meter.checkLimit(id)).kind).toBe('reserved');
  });

  test('[TH-7.3] a sweep, and the end of another process, leave what a live process holds', async () => {
    const id = await newCustomer(5);
    const [service, other] = [newService(0), newService(1)];
    await service.meter.checkLimit(id);
    await other.meter.checkLimit(await newCustomer(5));
    await other.sweep();
    await other.close();
    expect(await openUnits(id)).toBe(1);
    expect(await counter(id)).toEqual({ used: 1, kept: 0 });
  });

  test('[TH-7.3] a call that cannot be counted gives its unit back with the lease under which it was reserved', async () => {
    const id = await newCustomer(5);
    const service = newService();
    const check = await service.meter.checkLimit(id);
    const holder = await service.meter.holder.current();
    await db.database.query('alter table usage_recent rename to away');
    await settle(service, check, true);
    await db.database.query('alter table away rename to usage_recent');
    expect(failures.splice(0)).toHaveLength(1);
    expect(await service.meter.holder.current()).not.toBe(holder);
  });

  test('a database that fails gives the error to the callers, and nothing stays reserved', async () => {
    const id = await newCustomer(5);
    const service = newService();
    await service.meter.checkLimit(id);
    const holder = await service.meter.holder.current();
    await db.database.query('alter table usage_reservations rename to away');
    await expect(service.meter.checkLimit(id)).rejects.toThrow(/usage_reservations/);
    await db.database.query('alter table away rename to usage_reservations');
    expect((await service.meter.checkLimit(id)).kind).toBe('reserved');
    expect(await service.meter.holder.current()).not.toBe(holder);
  });
});

describe('thresholds', () => {
  const told = async (id: string) => {
    const { rows } = await db.database.query<{ percent: number }>(
      `select (data->>'threshold_percent')::int as percent from events
       where customer_id = $1 and type = 'usage.threshold' order by 1`,
      [id],
    );
    return rows.map(({ percent }) => percent);
  };

  test('[TH-7.6] 80 and 100 percent are told once each, whoever passes them', async () => {
    const id = await newCustomer(50);
    const pair = [newService(0), newService(1)];
    const run = async (calls: number) => {
      await Promise.all(
        Array.from({ length: calls }, async (_, n) => {
          const service = pair[n % 2] as BillingService;
          await settle(service, await service.meter.checkLimit(id), true);
        }),
      );
    };
    await run(39);
    expect(await told(id)).toEqual([]);
    await run(1);
    await expect.poll(() => told(id)).toEqual([80]);
    await run(10);
    await expect.poll(() => told(id)).toEqual([80, 100]);
  });

  test('a larger limit is told anew; what a crash left untold, the job tells', async () => {
    const id = await newCustomer(10);
    const service = newService();
    for (let n = 0; n < 10; n += 1) await settle(service, await service.meter.checkLimit(id), true);
    await expect.poll(() => told(id)).toEqual([80, 100]);
    await service.changeLimit(id, 12);
    expect(await told(id)).toEqual([80, 80, 100]);
    await db.database.query('update usage_counters set notified_percent = 0 where customer_id = $1', [id]);
    await db.database.query('delete from told_thresholds where customer_id = $1 and calls_limit = 12', [id]);
    await service.tellUntoldThresholds();
    expect(await told(id)).toEqual([80, 80, 80, 100]);
    expect(await service.tellUntoldThresholds()).toBe(0);
  });

  test('[TH-7.6] a limit that is set again is not told again, and ever new ones not without end', async () => {
    const id = await newCustomer(10);
    const service = newService();
    for (let n = 0; n < 10; n += 1) await settle(service, await service.meter.checkLimit(id), true);
    await expect.poll(() => told(id)).toEqual([80, 100]);
    for (let n = 0; n < 5; n += 1) {
      await service.changePlan(id, { plan: 'free' });
      await service.changeLimit(id, 12);
      await service.changeLimit(id, 10);
    }
    expect(await told(id)).toEqual([80, 80, 100]);
    for (let limit = 1; limit < 40; limit += 1) await service.changeLimit(id, limit);
    expect((await told(id)).length).toBeLessThanOrEqual(20);
  });

  test('[TH-7.15] an admin’s limit never lifts the spend cap: the lower of both holds', async () => {
    const id = await newCustomer(1_000_000);
    const service = newService();
    await service.changePlan(id, { plan: 'starter', spendCapCents: 2_900 });
    expect((await service.planState(id)).limit).toBe(50_000);
    await service.changeLimit(id, 40_000);
    expect((await service.planState(id)).limit).toBe(40_000);
    await service.changePlan(id, { plan: 'starter', spendCapCents: null });
    await service.changeLimit(id, 60_000);
    expect((await service.planState(id)).limit).toBe(60_000);
  });
});

describe('limits by plan', () => {
  const states: [string, number | null, { limit: number; stopsAtLimit: boolean }][] = [
    ['free', null, { limit: 1_000, stopsAtLimit: true }],
    ['free', 5_000, { limit: 1_000, stopsAtLimit: true }],
    ['starter', null, { limit: 50_000, stopsAtLimit: false }],
    ['starter', 0, { limit: 50_000, stopsAtLimit: true }],
    ['starter', 2_900, { limit: 50_000, stopsAtLimit: true }],
    ['starter', 2_960, { limit: 51_000, stopsAtLimit: true }],
    ['scale', null, { limit: 1_000_000, stopsAtLimit: false }],
    ['scale', 22_925, { limit: 1_001_000, stopsAtLimit: true }],
  ];
  test.each(states)('%s with a cap of %s cents', async (plan, spendCapCents, expected) => {
    const id = await newCustomer(null);
    expect(await newService().changePlan(id, { plan, spendCapCents })).toMatchObject({
      plan,
      ...expected,
      used: 0,
    });
  });

  test('a new limit holds at once, and every change is kept with its moment', async () => {
    const id = await newCustomer(null);
    const service = newService();
    await service.changeLimit(id, 0);
    expect((await service.meter.checkLimit(id)).kind).toBe('limit_exceeded');
    await service.changeLimit(id, null);
    await service.changePlan(id, { plan: 'starter', spendCapCents: 4_000 });
    await service.changePlan(id, { plan: 'scale' });
    expect((await service.planState(id)).spendCapCents).toBe(4_000);
    expect((await service.meter.checkLimit(id)).kind).toBe('reserved');
    const { rows } = await db.database.query(
      'select previous_plan, plan, spend_cap_cents, monthly_calls from plan_changes where customer_id = $1 order by id',
      [id],
    );
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['free', 'free', null, 0],
      ['free', 'free', null, null],
      ['free', 'starter', 4_000, null],
      ['starter', 'scale', 4_000, null],
    ]);
  });
});

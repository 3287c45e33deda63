// The gate: exactly N of any number of calls pass, failed ones cost nothing, and each that was made is counted once.
import { once } from 'node:events';
import { until } from '@libs/runtime/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BillingService } from '../service.ts';
import { createMeterRig, type MeterRig, MIDMONTH } from '../test/meter-rig.ts';
import type { LimitCheck } from './reserving.ts';

let rig: MeterRig;

beforeAll(async () => {
  rig = await createMeterRig();
});

afterAll(async () => {
  await rig.close();
  expect(rig.failures).toEqual([]);
});

describe('at a limit of N', () => {
  test('[TH-7.2] 3,000 calls over two processes at a limit of 1,000: exactly 1,000 pass', async () => {
    const id = await rig.newCustomer(1_000);
    const processes = [rig.startProcess('calls', id, 1_500), rig.startProcess('calls', id, 1_500)];
    const passed = await Promise.all(processes.map(({ reserved }) => reserved));
    await Promise.all(processes.map(({ child }) => child.exitCode ?? once(child, 'exit')));
    expect((passed[0] ?? 0) + (passed[1] ?? 0)).toBe(1_000);
    expect(await rig.counter(id)).toEqual({ used: 1_000, kept: 1_000 });
    expect(await rig.openUnits(id)).toBe(0);
    const { rows } = await rig.database.query('select count(*)::int as count from call_holders');
    expect(rows).toEqual([{ count: 0 }]);
  });

  test('the refused are told the limit, what is used, and when it begins anew', async () => {
    const id = await rig.newCustomer(0);
    rig.clock.now = new Date('2026-12-31T23:59:59.999Z');
    const check = await rig.newService().meter.checkLimit(id);
    rig.clock.now = MIDMONTH;
    expect(check).toEqual({
      kind: 'limit_exceeded',
      limit: 0,
      used: 0,
      resetsAt: new Date('2027-01-01T00:00:00Z'),
    });
  });

  test('customers of one batch do not touch each other', async () => {
    const ids = [await rig.newCustomer(3), await rig.newCustomer(0), await rig.newCustomer(7)];
    const { meter } = rig.newService();
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
    const pair = [rig.newService(0), rig.newService(1)];
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
          const ids = [await rig.newCustomer(limit), await rig.newCustomer(limit)];
          const kept = [0, 0];
          const runs = steps.map(async ({ process: p, customer, calls, keep, waits }) => {
            const service = pair[p] as BillingService;
            const id = ids[customer] as string;
            if (waits) await new Promise((done) => setImmediate(done));
            const checks = await Promise.all(
              Array.from({ length: calls }, () => service.meter.checkLimit(id)),
            );
            const passed = checks.filter((check) => check.kind === 'reserved');
            expect((await rig.counter(id))?.used ?? 0).toBeLessThanOrEqual(limit);
            await Promise.all(passed.map((check, n) => rig.settle(service, check, keep[n] === true)));
            kept[customer] = (kept[customer] ?? 0) + passed.filter((_, n) => keep[n] === true).length;
          });
          await Promise.all(runs);
          for (const [n, id] of ids.entries()) {
            const { used = 0, kept: stored = 0 } = (await rig.counter(id)) ?? {};
            expect([used, stored]).toEqual([kept[n], kept[n]]);
            expect(used).toBeLessThanOrEqual(limit);
            expect(await rig.openUnits(id)).toBe(0);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('a call that was made is counted', () => {
  test('a call that was made is counted, once, when the database ends the connection that counts it', async () => {
    const id = await rig.newCustomer(10);
    const service = rig.newService();
    const check = await service.meter.checkLimit(id);
    let settling = Promise.resolve();
    await rig.database.transaction(async (tx) => {
      await tx.query('select from usage_counters where customer_id = $1 for update', [id]);
      settling = rig.settle(service, check, true);
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
    expect(await rig.counter(id)).toEqual({ used: 1, kept: 1 });
    expect(await rig.openUnits(id)).toBe(0);
  });

  test('a call of one month that ends in the next is counted where it began', async () => {
    const id = await rig.newCustomer(5);
    const service = rig.newService();
    rig.clock.now = new Date('2026-03-31T23:59:59Z');
    const check = await service.meter.checkLimit(id);
    rig.clock.now = new Date('2026-04-01T00:00:01Z');
    await rig.settle(service, check, true);
    const { rows } = await rig.database.query(
      'select month, used from usage_counters where customer_id = $1',
      [id],
    );
    expect(rows).toEqual([{ month: '2026-03-01', used: 1 }]);
    // What an invoice charges is the same month's.
    const { rows: charged } = await rig.database.query(
      'select day, calls from usage_daily where customer_id = $1',
      [id],
    );
    expect(charged).toEqual([{ day: '2026-03-31', calls: 1 }]);
    expect((await service.planState(id)).used).toBe(0);
    rig.clock.now = MIDMONTH;
  });

  test('[TH-7.7] calls of two months that end together are counted each in its own month and on its own day', async () => {
    const id = await rig.newCustomer(5);
    const service = rig.newService();
    const moments = ['2026-11-30T23:59:59Z', '2026-12-01T00:00:00Z', '2026-12-02T00:00:00Z'];
    const checks: LimitCheck[] = [];
    for (const moment of moments) {
      rig.clock.now = new Date(moment);
      checks.push(await service.meter.checkLimit(id));
    }
    rig.clock.now = MIDMONTH;
    await Promise.all(checks.map((check) => rig.settle(service, check, true)));
    const count = async (sql: string) => (await rig.database.query<{ count: number }>(sql, [id])).rows;
    expect(
      await count('select month::text, used, kept from usage_counters where customer_id = $1 order by month'),
    ).toEqual([
      { month: '2026-11-01', used: 1, kept: 1 },
      { month: '2026-12-01', used: 2, kept: 2 },
    ]);
    expect(
      await count('select day::text, calls from usage_daily where customer_id = $1 order by day'),
    ).toEqual(moments.map((moment) => ({ day: moment.slice(0, 10), calls: 1 })));
    expect(await rig.openUnits(id)).toBe(0);
  });

  test.each(['40001', '40P01'])(
    '[TH-7.7] a call that the database asks to count again (%s) is counted',
    async (code) => {
      const id = await rig.newCustomer(5);
      const service = rig.newService();
      const check = await service.meter.checkLimit(id);
      await rig.database.query('create sequence tries');
      await rig.database.query(
        `create function refuse_once() returns trigger language plpgsql as $$ begin
         if nextval('toolhub.tries') = 1 then raise exception 'once more' using errcode = '${code}'; end if;
         return new;
       end $$`,
      );
      await rig.database.query(
        'create trigger refuse_once before insert on usage_daily for each row execute function refuse_once()',
      );
      await rig.settle(service, check, true);
      await rig.database.query('drop function refuse_once cascade');
      await rig.database.query('drop sequence tries');
      expect(await rig.counter(id)).toEqual({ used: 1, kept: 1 });
      expect(await rig.openUnits(id)).toBe(0);
    },
  );
});

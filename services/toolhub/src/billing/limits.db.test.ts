// Where the limit lies by plan, cap and admin, and what is told on the way to it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BillingService } from './service.ts';
import { changePlanSettings, lockPlanSettings } from './store.ts';
import { createMeterRig, type MeterRig, MIDMONTH } from './test/meter-rig.ts';

let rig: MeterRig;

beforeAll(async () => {
  rig = await createMeterRig();
});

afterAll(async () => {
  await rig.close();
  expect(rig.failures).toEqual([]);
});

describe('thresholds', () => {
  const told = async (id: string) => {
    const { rows } = await rig.database.query<{ percent: number }>(
      `select (data->>'threshold_percent')::int as percent from events
       where customer_id = $1 and type = 'usage.threshold' order by 1`,
      [id],
    );
    return rows.map(({ percent }) => percent);
  };

  test('[TH-7.6] 80 and 100 percent are told once each, whoever passes them', async () => {
    const id = await rig.newCustomer(50);
    const pair = [rig.newService(0), rig.newService(1)];
    const run = async (calls: number) => {
      await Promise.all(
        Array.from({ length: calls }, async (_, n) => {
          const service = pair[n % 2] as BillingService;
          await rig.settle(service, await service.meter.checkLimit(id), true);
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
    const id = await rig.newCustomer(10);
    const service = rig.newService();
    for (let n = 0; n < 10; n += 1) await rig.settle(service, await service.meter.checkLimit(id), true);
    await expect.poll(() => told(id)).toEqual([80, 100]);
    await service.changeLimit(id, 12);
    expect(await told(id)).toEqual([80, 80, 100]);
    await rig.database.query('update usage_counters set notified_percent = 0 where customer_id = $1', [id]);
    await rig.database.query('delete from told_thresholds where customer_id = $1 and calls_limit = 12', [id]);
    await service.tellUntoldThresholds();
    expect(await told(id)).toEqual([80, 80, 80, 100]);
    expect(await service.tellUntoldThresholds()).toBe(0);
  });

  test('[TH-7.6] a limit that is set again is not told again, and ever new ones not without end', async () => {
    const id = await rig.newCustomer(10);
    const service = rig.newService();
    for (let n = 0; n < 10; n += 1) await rig.settle(service, await service.meter.checkLimit(id), true);
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

  test('[TH-7.6] calls of the month before tell nothing: they are not measured against the limit of now', async () => {
    const id = await rig.newCustomer(100);
    const service = rig.newService();
    rig.clock.now = new Date('2026-10-31T23:59:59Z');
    const late = await Promise.all(Array.from({ length: 10 }, () => service.meter.checkLimit(id)));
    rig.clock.now = MIDMONTH;
    await service.changeLimit(id, 10);
    await Promise.all(late.map((check) => rig.settle(service, check, true)));
    // What is being told of is waited for.
    await service.close();
    expect(await rig.counter(id)).toMatchObject({ kept: 10 });
    expect(await told(id)).toEqual([]);
  });

  test('[TH-7.15] an admin’s limit never lifts the spend cap: the lower of both holds', async () => {
    const id = await rig.newCustomer(1_000_000);
    const service = rig.newService();
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
    const id = await rig.newCustomer(null);
    expect(await rig.newService().changePlan(id, { plan, spendCapCents })).toMatchObject({
      plan,
      ...expected,
      used: 0,
    });
  });

  test('a new limit holds at once, and every change is kept with its moment', async () => {
    const id = await rig.newCustomer(null);
    const service = rig.newService();
    await service.changeLimit(id, 0);
    expect((await service.meter.checkLimit(id)).kind).toBe('limit_exceeded');
    await service.changeLimit(id, null);
    await service.changePlan(id, { plan: 'starter', spendCapCents: 4_000 });
    await service.changePlan(id, { plan: 'scale' });
    expect((await service.planState(id)).spendCapCents).toBe(4_000);
    expect((await service.meter.checkLimit(id)).kind).toBe('reserved');
    const { rows } = await rig.database.query(
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

  test('[TH-13.14] a customer changes plan and cap 100 times a day; what changes nothing, and operators, are not held to it', async () => {
    const id = await rig.newCustomer(null);
    const service = rig.newService();
    for (let n = 0; n < 50; n += 1) {
      await service.changePlan(id, { plan: n % 2 === 0 ? 'starter' : 'free' });
      await service.changeLimit(id, 100 + n);
      await service.changePlan(id, { plan: n % 2 === 0 ? 'starter' : 'free', spendCapCents: n });
    }
    const refusal = { code: 'too_many_plan_changes', headers: { 'retry-after': String(12 * 60 * 60) } };
    await expect(service.changePlan(id, { plan: 'scale' })).rejects.toMatchObject(refusal);
    await expect(service.changePlan(id, { plan: 'free', spendCapCents: 777 })).rejects.toMatchObject(refusal);
    expect(await service.changePlan(id, { plan: 'free', spendCapCents: 49 })).toMatchObject({ plan: 'free' });
    expect(await changesByTime(id)).toHaveLength(150);
    expect(await service.changeLimit(id, null)).toMatchObject({ monthlyCalls: null });
    expect(await service.changePlan(id, { plan: 'scale' }, { by: 'operator' })).toMatchObject({
      plan: 'scale',
    });
    rig.clock.now = new Date('2026-11-17T00:00:00Z');
    try {
      expect(await service.changePlan(id, { plan: 'starter' })).toMatchObject({ plan: 'starter' });
    } finally {
      rig.clock.now = MIDMONTH;
    }
  });

  test('[TH-13.14] of changes that arrive together no more pass than of those that come one by one', async () => {
    const id = await rig.newCustomer(null);
    const pair = [rig.newService(0), rig.newService(1)];
    const outcomes = await Promise.allSettled(
      Array.from({ length: 110 }, (_, n) =>
        (pair[n % 2] as BillingService).changePlan(id, { plan: 'free', spendCapCents: n }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(100);
  });

  const changesByTime = async (id: string) => {
    const { rows } = await rig.database.query<{ at: Date; previous_plan: string; plan: string }>(
      'select at, previous_plan, plan from plan_changes where customer_id = $1 order by at, id',
      [id],
    );
    return rows;
  };

  test('[TH-7.10] changes keep their order where the clock of one process is behind that of another', async () => {
    const id = await rig.newCustomer(null);
    await rig.newService(0).changePlan(id, { plan: 'starter' });
    rig.clock.now = new Date(MIDMONTH.getTime() - 60_000);
    try {
      await rig.newService(1).changePlan(id, { plan: 'scale' });
      await rig.newService(1).changePlan(id, { plan: 'starter' });
    } finally {
      rig.clock.now = MIDMONTH;
    }
    expect(
      (await changesByTime(id)).map(({ at, ...plans }) => [at.getTime(), ...Object.values(plans)]),
    ).toEqual([
      [MIDMONTH.getTime(), 'free', 'starter'],
      [MIDMONTH.getTime() + 1, 'starter', 'scale'],
      [MIDMONTH.getTime() + 2, 'scale', 'starter'],
    ]);
  });

  test('[TH-7.10] a change that waited for another comes after it, and keeps the cap that the other set', async () => {
    const id = await rig.newCustomer(null, 'starter');
    await rig.newService().changePlan(id, { plan: 'starter', spendCapCents: 9_000 });
    const later = new Date(MIDMONTH.getTime() + 60_000);
    let waiting: Promise<unknown> | undefined;
    try {
      await rig.database.transaction(async (tx) => {
        const locked = await lockPlanSettings(tx, id);
        if (locked === null) throw new Error('the customer is gone');
        waiting = rig.newService(1).changePlan(id, { plan: 'scale' });
        await expect.poll(waitsForLock).toBe(true);
        rig.clock.now = later;
        const next = { ...locked.settings, spendCapCents: 4_000 };
        await changePlanSettings(tx, {
          ...{ customerId: id, id: 'plc_between', previous: locked.settings, next },
          at: new Date(later.getTime() - 1_000),
        });
      });
      await waiting;
    } finally {
      rig.clock.now = MIDMONTH;
    }
    expect((await changesByTime(id)).at(-1)).toEqual({ at: later, previous_plan: 'starter', plan: 'scale' });
    expect((await rig.newService().planState(id)).spendCapCents).toBe(4_000);
  });
});

async function waitsForLock(): Promise<boolean> {
  const { rowCount } = await rig.pools[0].query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount === 1;
}

// The spend cap in months with several plans: the gate lets through exactly the calls whose invoice stays within it.
import { randomBytes } from 'node:crypto';
import { type Database, openDatabase } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createIdFactory } from '@libs/seal';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmitEvent } from '../events/service.ts';
import { previewPlan } from '../invoices/preview.ts';
import { reckonMonth } from '../invoices/reckoning.ts';
import { readUsage } from '../invoices/usage-store.ts';
import { migrationSource, SCHEMA } from '../schema.ts';
import type { LimitCheck } from './reserving.ts';
import { type BillingService, createBillingService } from './service.ts';
import type { Reservation } from './settlement.ts';
import { CapModel, MODEL_PLANS } from './test/cap-model.ts';

const HOUR_MS = 60 * 60_000;
/** Further calls that are asked of the model at most. */
const LOOK_AHEAD_MAX = 40;

let db: TestDatabase;
let pool: Database;
/** Two processes: one with the statements for one server, one with those for spread tables, which one server takes, too. */
let services: [BillingService, BillingService];
let now = new Date('2026-10-01T00:00:00Z');
const newId = createIdFactory({ now: () => now, randomBytes });
const failures: unknown[] = [];

function newService(database: Database): BillingService {
  return createBillingService({
    ...{ database, newId, reckonMonth, now: () => now },
    emitEvent: createEmitEvent({ newId, now: () => now }),
    onError: (error) => void failures.push(error),
  });
}

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  pool = await openDatabase({ url: db.url, schema: SCHEMA, connectionsMax: 4 });
  const spread: Database = {
    ...pool,
    isSpread: true,
    transaction: (work, options) => pool.transaction((tx) => work({ ...tx, isSpread: true }), options),
  };
  services = [newService(pool), newService(spread)];
  for (const each of MODEL_PLANS) await services[0].editPlan(each);
});

afterAll(async () => {
  for (const service of services ?? []) await service.close();
  await pool?.close();
  await db?.drop();
  expect(failures).toEqual([]);
});

async function newCustomer(planId: string): Promise<string> {
  const id = newId('cus');
  await db.database.query(
    `insert into customers (id, email, name, password_hash, plan, created_at) values ($1, $1, 'x', 'x', $2, '2026-01-01')`,
    [id, planId],
  );
  return id;
}

async function settle(service: BillingService, reservation: Reservation, isKept: boolean): Promise<void> {
  await service.meter.settle({
    ...{ customerId: reservation.customerId, reservation, platform: 'alpha', tool: 'alpha_send_note' },
    ...{ succeeded: isKept, unit: isKept ? 'kept' : 'given_back', durationMs: 3 },
  });
}

const wasReserved = (check: LimitCheck): check is Extract<LimitCheck, { kind: 'reserved' }> =>
  check.kind === 'reserved';

/** So many calls at once; those that pass are kept, unless they are said to do nothing. */
async function call(service: BillingService, customerId: string, count: number, isKept = true) {
  const checks = await Promise.all(Array.from({ length: count }, () => service.meter.checkLimit(customerId)));
  const reserved = checks.filter(wasReserved);
  await Promise.all(reserved.map(({ reservation }) => settle(service, reservation, isKept)));
  return reserved.length;
}

/** What the invoice of the month says so far: the plans if nothing changes, and calls beyond them. */
async function invoiced(customerId: string, planId: string): Promise<{ total: number; overage: number }> {
  const { asItIs } = await previewPlan(
    {
      ...{ database: db.database, usageOf: (query) => readUsage(db.database, query), now: () => now },
      platformTitle: (platform) => platform,
    },
    { customerId, plan: planId },
  );
  const ofCalls = asItIs.lines.filter(({ platform }) => platform !== null);
  return {
    total: asItIs.totalCents,
    overage: ofCalls.reduce((sum, { amountCents }) => sum + amountCents, 0),
  };
}

type Step =
  | { kind: 'call'; count: number; isKept: boolean }
  | { kind: 'plan'; plan: string; cap: number | null | undefined }
  | { kind: 'limit'; monthlyCalls: number | null }
  | { kind: 'wait'; hours: number };

const anyPlan = fc.constantFrom(...MODEL_PLANS.map(({ id }) => id));
const anyCap = fc.constantFrom(null, 0, 300, 302, 304, 307, 450, 600, 604, 750, 900, 903, 906, 912, 920);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      count: fc.integer({ min: 1, max: 7 }),
      isKept: fc.oneof(
        { weight: 5, arbitrary: fc.constant(true) },
        { weight: 1, arbitrary: fc.constant(false) },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('plan' as const),
      plan: anyPlan,
      cap: fc.option(anyCap, { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      hours: fc.constantFrom(1, 11, 24, 24, 60, 200),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('limit' as const),
      monthlyCalls: fc.constantFrom(null, null, 4, 12, 1_000),
    }),
  },
);

describe('for any calls, changes of plan and caps', () => {
  async function take(step: Step, rig: { customerId: string; model: CapModel; service: BillingService }) {
    const { customerId, model, service } = rig;
    switch (step.kind) {
      case 'wait':
        now = new Date(now.getTime() + step.hours * HOUR_MS);
        return;
      case 'plan':
        await service.changePlan(customerId, {
          plan: step.plan,
          ...(step.cap === undefined ? {} : { spendCapCents: step.cap }),
        });
        model.change(step.plan);
        if (step.cap !== undefined) model.capCents = step.cap;
        return;
      case 'limit':
        await service.changeLimit(customerId, step.monthlyCalls);
        model.monthlyCalls = step.monthlyCalls;
        return;
      case 'call': {
        const passed = await call(service, customerId, step.count, step.isKept);
        expect(passed).toBe(model.allowedMore(step.count));
        const before = model.overageMillicents;
        if (step.isKept) model.keep(passed);
        const overage = model.overageMillicents;
        const bill = await invoiced(customerId, model.present.id);
        expect(bill.overage).toBe(Math.round(overage / 1000));
        if (overage > before && model.capCents !== null)
          expect(bill.total).toBeLessThanOrEqual(model.capCents);
      }
    }
  }

  test('every call passes whose invoice stays within the cap, and no other; the plan tells how many are left', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyPlan,
        fc.array(fc.record({ step: anyStep, process: fc.nat({ max: 1 }) }), { minLength: 6, maxLength: 24 }),
        async (first, steps) => {
          now = new Date('2026-10-03T09:30:00Z');
          const customerId = await newCustomer(first);
          const model = new CapModel(first, () => now);
          for (const { step, process } of steps) {
            const service = services[process] as BillingService;
            await take(step, { customerId, model, service });
            const { limit, used, stopsAtLimit } = await service.planState(customerId);
            expect(used).toBe(model.used);
            const left = stopsAtLimit ? Math.max(limit - used, 0) : Number.POSITIVE_INFINITY;
            expect(Math.min(left, LOOK_AHEAD_MAX)).toBe(model.allowedMore(LOOK_AHEAD_MAX));
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('a month with two plans', () => {
  const setClock = (text: string) => {
    now = new Date(`2026-10-${text}Z`);
  };
  const service = () => services[0];

  /** As the gate and the meter would have left it. */
  async function addCalls(customerId: string, day: string, calls: number): Promise<void> {
    await db.database.query(
      `insert into usage_daily (customer_id, day, tool, duration_class, platform, calls, errors)
       values ($1, $2, 'alpha_send_note', 1, 'alpha', $3, 0)`,
      [customerId, `2026-10-${day}`, calls],
    );
    await db.database.query(
      `insert into usage_counters as u (customer_id, month, used, kept) values ($1, '2026-10-01', $2, $2)
       on conflict (customer_id, month) do update set used = u.used + $2, kept = u.kept + $2`,
      [customerId, calls],
    );
  }

  async function reckonedDay(customerId: string): Promise<string | null | undefined> {
    const { rows } = await db.database.query<{ reckoned_day: string | null }>(
      'select reckoned_day from billing_settings where customer_id = $1',
      [customerId],
    );
    return rows[0]?.reckoned_day;
  }

  test('what calls cost beyond the first counts towards the cap under the second', async () => {
    setClock('10T12:00:00');
    const id = await newCustomer('starter');
    await addCalls(id, '09', 60_000);
    // 10,000 calls beyond Starter cost 6.00 USD: of 240.00 USD, 5.00 are left beside Scale and pay for 20,000 calls.
    expect(await service().changePlan(id, { plan: 'scale', spendCapCents: 24_000 })).toMatchObject({
      limit: 1_020_000,
      stopsAtLimit: true,
      used: 60_000,
    });
  });

  test('[TH-7.2] the limit of a smaller plan holds at once; from the next day its calls beside what the dearer one costs', async () => {
    setClock('16T12:00:00');
    const id = await newCustomer('scale');
    await addCalls(id, '16', 60_000);
    const plansCents = Math.floor((22_900 * 16) / 31) + Math.floor((2_900 * 15) / 31);
    const changed = await service().changePlan(id, { plan: 'starter', spendCapCents: 30_000 });
    const ofStarter = 50_000 + Math.floor(((30_000 - 2_900) * 1000) / 60);
    expect(changed.limit).toBe(ofStarter);
    setClock('17T00:00:00');
    const limit = 60_000 + Math.floor(((30_000 - plansCents) * 1000) / 60);
    expect(await service().planState(id)).toMatchObject({ limit, used: 60_000 });
    now = new Date('2026-11-01T00:00:00Z');
    expect(await service().planState(id)).toMatchObject({ limit: ofStarter, used: 0 });
  });

  test('a call that ends after midnight is reckoned with by the price of the day on which it began', async () => {
    setClock('05T23:00:00');
    const id = await newCustomer('large');
    const model = new CapModel('large', () => now);
    await service().changePlan(id, { plan: 'small', spendCapCents: 400 });
    model.change('small');
    model.capCents = 400;
    await call(service(), id, 9);
    model.keep(9);
    const running = await service().meter.checkLimit(id);
    if (!wasReserved(running)) throw new Error('the cap leaves room');
    const began = now;
    setClock('06T00:00:01');
    const during = await service().planState(id);
    expect(await reckonedDay(id)).toBe('2026-10-06');
    await settle(service(), running.reservation, true);
    model.keep(1, began);
    expect(await reckonedDay(id)).toBeNull();
    const { limit, used } = await service().planState(id);
    expect(limit - used).toBe(model.allowedMore(1_000));
    expect(limit).toBeGreaterThanOrEqual(during.limit);
  });

  test('[TH-7.2] calls that come at once, over two processes, wait for the reckoning, and as many pass as the cap pays for', async () => {
    setClock('20T12:00:00');
    const id = await newCustomer('small');
    await services[0].changePlan(id, { plan: 'large', spendCapCents: 904 });
    setClock('21T00:00:00');
    const passed = await Promise.all(services.map((each) => call(each, id, 100)));
    expect((passed[0] ?? 0) + (passed[1] ?? 0)).toBe(9 + 10);
  });

  test('a plan that a process of the version before has changed is reckoned with', async () => {
    setClock('08T12:00:00');
    const id = await newCustomer('small');
    await service().changePlan(id, { plan: 'large', spendCapCents: 1_000 });
    await db.database.query(`update customers set plan = 'large_too' where id = $1`, [id]);
    await db.database.query(
      `insert into plan_changes (customer_id, id, at, previous_plan, plan) values ($1, 'plc_z', $2, 'large', 'large_too')`,
      [id, new Date(now.getTime() + 1)],
    );
    await db.database.query('update billing_settings set updated_at = $2 where customer_id = $1', [
      ...[id, new Date(now.getTime() + 1)],
    ]);
    setClock('08T13:00:00');
    expect((await service().planState(id)).limit).toBe(2 + (100 * 1000) / 2_500);
  });

  test('nothing is reckoned where the settings have not changed in the month', async () => {
    setClock('08T12:00:00');
    const id = await newCustomer('small');
    await service().changePlan(id, { plan: 'small', spendCapCents: 305 });
    now = new Date('2026-11-08T12:00:00Z');
    await db.database.query('update billing_settings set reckoned_day = null where customer_id = $1', [id]);
    expect(await call(service(), id, 20)).toBe(8);
    expect(await reckonedDay(id)).toBeNull();
  });
});

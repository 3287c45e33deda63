// The spend cap in months with several plans, and with plans that operators edit: the gate lets through exactly the calls whose
// invoice stays within it, and what is shown as included is what the invoice includes.
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Plan } from './plan.ts';
import type { BillingService } from './service.ts';
import { CapModel, MODEL_PLANS } from './test/cap-model.ts';
import { call, createPlanRig, type PlanRig, settle, wasReserved } from './test/plan-rig.ts';

const HOUR_MS = 60 * 60_000;
/** Further calls that are asked of the model at most. */
const LOOK_AHEAD_MAX = 40;

let rig: PlanRig;
const now = () => rig.clock.now;

beforeAll(async () => {
  rig = await createPlanRig();
});

afterAll(async () => {
  await rig?.close();
  expect(rig?.failures).toEqual([]);
});

/** As if they had never been edited. */
async function resetPlans(): Promise<void> {
  const ids = MODEL_PLANS.map(({ id }) => id);
  await rig.database.query('delete from plan_terms where plan = any($1)', [ids]);
  await rig.database.query(
    `insert into plans (id, position, name, price_cents, included_calls, overage_cents_per_1000, hard_stop)
     select id, 100 + n, id, price, included, rate, stops
     from unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::bool[]) with ordinality
       as m (id, price, included, rate, stops, n)
     on conflict (id) do update set price_cents = excluded.price_cents, included_calls = excluded.included_calls,
       overage_cents_per_1000 = excluded.overage_cents_per_1000, hard_stop = excluded.hard_stop`,
    [
      ...[ids, MODEL_PLANS.map(({ priceCents }) => priceCents)],
      ...[MODEL_PLANS.map((each) => each.includedCalls), MODEL_PLANS.map((each) => each.overageCentsPer1000)],
      MODEL_PLANS.map(({ hardStop }) => hardStop),
    ],
  );
  await rig.database.query('update plan_terms set effective_at = $2 where plan = any($1)', [
    ids,
    new Date(0),
  ]);
}

type Step =
  | { kind: 'call'; count: number; isKept: boolean }
  | { kind: 'plan'; plan: string; cap: number | null | undefined }
  | { kind: 'edit'; plan: Plan }
  | { kind: 'limit'; monthlyCalls: number | null }
  | { kind: 'wait'; hours: number };

const anyPlan = fc.constantFrom(...MODEL_PLANS.map(({ id }) => id));
const anyCap = fc.constantFrom(null, 0, 300, 302, 304, 307, 450, 600, 604, 750, 900, 903, 906, 912, 920);
const anyEdit: fc.Arbitrary<Plan> = fc
  .record({
    id: anyPlan,
    priceCents: fc.constantFrom(0, 300, 450, 900),
    includedCalls: fc.integer({ min: 0, max: 12 }),
    overageCentsPer1000: fc.constantFrom(0, 100, 400, 1_000, 2_500),
    hardStop: fc.boolean(),
  })
  .map((plan) => ({ ...plan, name: plan.id }));
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
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('edit' as const), plan: anyEdit }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('limit' as const),
      monthlyCalls: fc.constantFrom(null, null, 4, 12, 1_000),
    }),
  },
);

describe('for any calls, edits of plans, changes of plan and caps', () => {
  async function take(step: Step, of: { customerId: string; model: CapModel; service: BillingService }) {
    const { customerId, model, service } = of;
    switch (step.kind) {
      case 'wait':
        rig.clock.now = new Date(now().getTime() + step.hours * HOUR_MS);
        return;
      case 'plan':
        await service.changePlan(customerId, {
          plan: step.plan,
          ...(step.cap === undefined ? {} : { spendCapCents: step.cap }),
        });
        model.change(step.plan);
        if (step.cap !== undefined) model.capCents = step.cap;
        return;
      case 'edit':
        // Not in the moment of a change of plan: which of the two came first nobody could say.
        rig.clock.now = new Date(now().getTime() + 1_000);
        await rig.editPlan(service, step.plan);
        model.edit(step.plan);
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
        const bill = await rig.invoiced(customerId, model.present.id);
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
          rig.clock.now = new Date('2026-10-03T09:30:00Z');
          await resetPlans();
          const customerId = await rig.newCustomer(first);
          const model = new CapModel(first, now);
          for (const { step, process } of steps) {
            const service = rig.services[process] as BillingService;
            await take(step, { customerId, model, service });
            const { limit, used, stopsAtLimit } = await service.planState(customerId);
            expect(used).toBe(model.used);
            if (!stopsAtLimit) expect(limit).toBe(model.included);
            const left = stopsAtLimit ? Math.max(limit - used, 0) : Number.POSITIVE_INFINITY;
            expect(Math.min(left, LOOK_AHEAD_MAX)).toBe(model.allowedMore(LOOK_AHEAD_MAX));
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});

describe('a month with two plans', () => {
  const setClock = (text: string) => {
    rig.clock.now = new Date(`2026-10-${text}Z`);
  };
  const service = () => rig.services[0];

  beforeEach(resetPlans);

  async function reckonedDay(customerId: string): Promise<string | null | undefined> {
    const { rows } = await rig.database.query<{ reckoned_day: string | null }>(
      'select reckoned_day from billing_settings where customer_id = $1',
      [customerId],
    );
    return rows[0]?.reckoned_day;
  }

  test('what calls cost beyond the first counts towards the cap under the second', async () => {
    setClock('10T12:00:00');
    const id = await rig.newCustomer('starter');
    await rig.addCalls(id, '2026-10-09', 60_000);
    // 10,000 calls beyond Starter cost 6.00 USD: of 240.00 USD, 5.00 are left beside Scale and pay for 20,000 calls.
    expect(await service().changePlan(id, { plan: 'scale', spendCapCents: 24_000 })).toMatchObject({
      limit: 1_020_000,
      stopsAtLimit: true,
      used: 60_000,
    });
  });

  test('[TH-7.2] the limit of a smaller plan holds at once; from the next day its calls beside what the dearer one costs', async () => {
    setClock('16T12:00:00');
    const id = await rig.newCustomer('scale');
    await rig.addCalls(id, '2026-10-16', 60_000);
    const plansCents = Math.floor((22_900 * 16) / 31) + Math.floor((2_900 * 15) / 31);
    const changed = await service().changePlan(id, { plan: 'starter', spendCapCents: 30_000 });
    const ofStarter = 50_000 + Math.floor(((30_000 - 2_900) * 1000) / 60);
    expect(changed.limit).toBe(ofStarter);
    setClock('17T00:00:00');
    const limit = 60_000 + Math.floor(((30_000 - plansCents) * 1000) / 60);
    expect(await service().planState(id)).toMatchObject({ limit, used: 60_000 });
    rig.clock.now = new Date('2026-11-01T00:00:00Z');
    expect(await service().planState(id)).toMatchObject({ limit: ofStarter, used: 0 });
  });

  test('a call that ends after midnight is reckoned with by the price of the day on which it began', async () => {
    setClock('05T23:00:00');
    const id = await rig.newCustomer('large');
    const model = new CapModel('large', now);
    await service().changePlan(id, { plan: 'small', spendCapCents: 400 });
    model.change('small');
    model.capCents = 400;
    await call(service(), id, 9);
    model.keep(9);
    const running = await service().meter.checkLimit(id);
    if (!wasReserved(running)) throw new Error('the cap leaves room');
    const began = now();
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
    const id = await rig.newCustomer('small');
    await rig.services[0].changePlan(id, { plan: 'large', spendCapCents: 904 });
    setClock('21T00:00:00');
    const passed = await Promise.all(rig.services.map((each) => call(each, id, 100)));
    expect((passed[0] ?? 0) + (passed[1] ?? 0)).toBe(9 + 10);
  });

  test('a plan that a process of the version before has changed is reckoned with', async () => {
    setClock('08T12:00:00');
    const id = await rig.newCustomer('small');
    await service().changePlan(id, { plan: 'large', spendCapCents: 1_000 });
    await rig.database.query(`update customers set plan = 'large_too' where id = $1`, [id]);
    await rig.database.query(
      `insert into plan_changes (customer_id, id, at, previous_plan, plan) values ($1, 'plc_z', $2, 'large', 'large_too')`,
      [id, new Date(now().getTime() + 1)],
    );
    await rig.database.query('update billing_settings set updated_at = $2 where customer_id = $1', [
      ...[id, new Date(now().getTime() + 1)],
    ]);
    setClock('08T13:00:00');
    expect((await service().planState(id)).limit).toBe(2 + (100 * 1000) / 2_500);
  });

  test('nothing is reckoned where the settings have not changed in the month', async () => {
    setClock('08T12:00:00');
    const id = await rig.newCustomer('small');
    await service().changePlan(id, { plan: 'small', spendCapCents: 305 });
    rig.clock.now = new Date('2026-11-08T12:00:00Z');
    await rig.database.query('update billing_settings set reckoned_day = null where customer_id = $1', [id]);
    expect(await call(service(), id, 20)).toBe(8);
    expect(await reckonedDay(id)).toBeNull();
  });
});

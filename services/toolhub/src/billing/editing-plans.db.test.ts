// What an operator's edit of a plan does to the customers who have it: to their gate, to what they are shown, and to their invoice.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Plan } from './plan.ts';
import { call, createPlanRig, type PlanRig } from './test/plan-rig.ts';

const MIDMONTH = new Date('2026-10-10T12:00:00Z');
const STATEMENTS = [
  ['one server', 0],
  ['spread tables', 1],
] as const;

let rig: PlanRig;

beforeAll(async () => {
  rig = await createPlanRig();
});

beforeEach(() => {
  rig.clock.now = MIDMONTH;
});

afterAll(async () => {
  await rig?.close();
  expect(rig?.failures).toEqual([]);
});

test('of plans that were never edited it is known whether they stop', async () => {
  const { rows } = await rig.database.query<{ plan: string }>(
    'select plan from plan_terms where hard_stop is not distinct from (select p.hard_stop from plans p where p.id = plan_terms.plan) order by 1',
  );
  expect(rows.map(({ plan }) => plan)).toEqual(['free', 'scale', 'starter']);
});

describe.each(STATEMENTS)('with the statements for %s', (_name, index) => {
  const service = () => rig.services[index];

  describe('a plan that goes on at a price', () => {
    const pro = (changed: Partial<Plan> = {}): Plan => ({
      ...{ id: `pro_${index}`, name: 'Pro', priceCents: 2_900, includedCalls: 50_000 },
      ...{ overageCentsPer1000: 60, hardStop: false, ...changed },
    });
    const newCustomer = async (spendCapCents: number | null) => {
      await rig.database.query('delete from plan_terms where plan = $1', [pro().id]);
      await rig.editPlan(service(), pro(), new Date(0));
      rig.clock.now = new Date('2026-09-20T12:00:00Z');
      const id = await rig.newCustomer(pro().id);
      await service().changePlan(id, { plan: pro().id, spendCapCents });
      rig.clock.now = MIDMONTH;
      return id;
    };
    const isReserved = async (id: string) => (await service().meter.checkLimit(id)).kind === 'reserved';

    test('[TH-7.20] a lower price for calls opens no gate beyond the spend cap before the next month', async () => {
      const id = await newCustomer(5_000);
      await rig.editPlan(service(), pro({ overageCentsPer1000: 10 }));
      expect(await service().planState(id)).toMatchObject({ limit: 85_000, stopsAtLimit: true });
      await rig.addCalls(id, '2026-10-10', 84_999);
      expect(await Promise.all([isReserved(id), isReserved(id)])).toEqual([true, false]);
      expect((await rig.invoiced(id, pro().id)).total).toBeLessThanOrEqual(5_000);
      rig.clock.now = new Date('2026-11-01T00:00:00Z');
      expect((await service().planState(id)).limit).toBe(260_000);
    });

    test('[TH-7.20] a higher price for calls closes no gate before the next month', async () => {
      const id = await newCustomer(5_000);
      await rig.editPlan(service(), pro({ overageCentsPer1000: 120, priceCents: 4_000 }));
      expect((await service().planState(id)).limit).toBe(85_000);
      rig.clock.now = new Date('2026-11-01T00:00:00Z');
      expect((await service().planState(id)).limit).toBe(50_000 + Math.floor((1_000 * 1_000) / 120));
    });

    test('[TH-7.20] shows as many calls as the invoice includes, and tells thresholds of them', async () => {
      const id = await newCustomer(null);
      await rig.editPlan(service(), pro({ includedCalls: 60_000 }));
      expect(await service().planState(id)).toMatchObject({ limit: 50_000, stopsAtLimit: false });
      await rig.addCalls(id, '2026-10-10', 50_000);
      await service().tellUntoldThresholds();
      const { rows } = await rig.database.query<{ limit: number }>(
        `select distinct (data->>'limit')::int as "limit" from events where customer_id = $1`,
        [id],
      );
      expect(rows).toEqual([{ limit: 50_000 }]);
      rig.clock.now = new Date('2026-11-01T00:00:00Z');
      expect((await service().planState(id)).limit).toBe(60_000);
    });

    test('[TH-7.20] an edit reaches at once who takes the plan after it', async () => {
      const id = await newCustomer(null);
      await rig.editPlan(service(), pro({ includedCalls: 60_000 }));
      await service().changePlan(id, { plan: 'free' });
      rig.clock.now = new Date('2026-10-12T12:00:00Z');
      expect(await service().changePlan(id, { plan: pro().id })).toMatchObject({ limit: 60_000 });
    });

    test('[TH-7.20] what is made to stop does so at once, and the month is still held by its cap', async () => {
      const id = await newCustomer(5_000);
      await rig.editPlan(service(), pro({ hardStop: true, includedCalls: 60_000 }));
      expect(await service().planState(id)).toMatchObject({ limit: 60_000, stopsAtLimit: true });
      await service().changeLimit(id, 1_000_000);
      expect((await service().planState(id)).limit).toBe(85_000);
    });
  });

  describe('a plan that stops', () => {
    const team = (changed: Partial<Plan> = {}): Plan => ({
      ...{ id: `team_${index}`, name: 'Team', priceCents: 9_900, includedCalls: 5 },
      ...{ overageCentsPer1000: 50_000, hardStop: true, ...changed },
    });

    test('[TH-7.10] charges nothing for what an admin lets through beyond it, and so needs no cap', async () => {
      await rig.editPlan(service(), team(), new Date(0));
      const id = await rig.newCustomer(team().id);
      await service().changePlan(id, { plan: team().id, spendCapCents: 9_900 });
      await service().changeLimit(id, 1_000);
      await rig.addCalls(id, '2026-10-10', 900);
      expect(await service().planState(id)).toMatchObject({ limit: 1_000, stopsAtLimit: true, used: 900 });
      expect(await rig.invoiced(id, team().id)).toEqual({ total: 9_900, overage: 0 });
      expect((await service().plans()).find(({ id: plan }) => plan === team().id)).toEqual(team());
    });

    test('[TH-7.20] stops until the month is over where it is made to go on, since its invoice charges nothing for going on', async () => {
      await rig.editPlan(service(), team(), new Date(0));
      const [before, after] = [await rig.newCustomer(team().id), await rig.newCustomer('free')];
      await rig.editPlan(service(), team({ hardStop: false }));
      expect(await service().planState(before)).toMatchObject({ limit: 5, stopsAtLimit: true });
      expect(await call(service(), before, 8)).toBe(5);
      expect(await rig.invoiced(before, team().id)).toEqual({ total: 9_900, overage: 0 });
      rig.clock.now = new Date(MIDMONTH.getTime() + 1_000);
      await service().changePlan(after, { plan: team().id });
      expect(await call(service(), after, 8)).toBe(8);
      expect((await rig.invoiced(after, team().id)).overage).toBe(3 * 50);
      rig.clock.now = new Date('2026-11-01T00:00:00Z');
      expect(await service().planState(before)).toMatchObject({ limit: 5, stopsAtLimit: false });
      expect(await call(service(), before, 8)).toBe(8);
      expect((await rig.invoiced(before, team().id)).overage).toBe(3 * 50);
    });

    test.each([
      ['fewer', 3, 5],
      ['more', 7, 7],
    ])(
      '[TH-7.20] made to go on beyond %s calls, it stops at the larger number',
      async (_which, includedCalls, limit) => {
        await rig.editPlan(service(), team(), new Date(0));
        const id = await rig.newCustomer(team().id);
        await rig.editPlan(service(), team({ hardStop: false, includedCalls }));
        expect(await service().planState(id)).toMatchObject({ limit, stopsAtLimit: true });
        expect(await call(service(), id, 9)).toBe(limit);
      },
    );

    test('[TH-7.20] goes on at once where that costs nothing', async () => {
      await rig.editPlan(service(), team(), new Date(0));
      const id = await rig.newCustomer(team().id);
      await rig.editPlan(service(), team({ hardStop: false, overageCentsPer1000: 0 }));
      expect(await call(service(), id, 8)).toBe(8);
    });
  });
});

// What an operator's edit of a plan does to the customers who have it: to their gate, to what they are shown, and to their invoice.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Plan } from './plan.ts';
import { createPlanRig, type PlanRig } from './test/plan-rig.ts';

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

describe.each(STATEMENTS)('with the statements for %s', (_name, index) => {
  const service = () => rig.services[index];

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
  });
});

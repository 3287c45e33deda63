import Type, { type Static } from 'typebox';
import type { PlanState } from './plan.ts';

const CENTS_MAX = 1_000_000_000;

/** Where a customer stands, as customers and admins see it. */
const stateFields = {
  plan: Type.String(),
  limit: Type.Integer({ description: 'Calls of the month, up to the end or up to where overage begins.' }),
  stops_at_limit: Type.Boolean({ description: 'Whether calls beyond `limit` are refused.' }),
  used: Type.Integer(),
  remaining: Type.Integer(),
  resets_at: Type.String({ format: 'date-time' }),
  spend_cap_cents: Type.Union([Type.Integer(), Type.Null()]),
};
const stateExample = {
  ...{ plan: 'starter', limit: 50000, stops_at_limit: false, used: 1200, remaining: 48800 },
  resets_at: '2026-12-01T00:00:00.000Z',
  spend_cap_cents: null,
};
export const PlanStateSchema = Type.Object(stateFields, { title: 'PlanState', examples: [stateExample] });
export const adminPlanExample = { ...stateExample, monthly_calls: null };

/** What only admins see beside it. */
const adminFields = {
  ...stateFields,
  monthly_calls: Type.Union([Type.Integer(), Type.Null()], { description: 'The limit that an admin gave.' }),
};
export const AdminPlanStateSchema = Type.Object(adminFields, {
  title: 'AdminPlanState',
  examples: [adminPlanExample],
});
export const CustomerPlanSchema = Type.Object(
  { customer_id: Type.String(), ...adminFields },
  {
    title: 'CustomerPlan',
    examples: [{ customer_id: 'cus_01kaf3v6w8q2m5x9t7c4b1n0ze', ...adminPlanExample }],
  },
);

export const ChangePlan = Type.Object(
  {
    plan: Type.String({ minLength: 1, maxLength: 100 }),
    spend_cap_cents: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: CENTS_MAX }), Type.Null()], {
        description:
          'The most that a month may cost, price included. Null takes the cap away; absent keeps it.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'ChangePlan',
    examples: [{ plan: 'starter', spend_cap_cents: 10000 }],
  },
);

export function planStateToApi(state: PlanState): Static<typeof PlanStateSchema> {
  return {
    plan: state.plan,
    limit: state.limit,
    stops_at_limit: state.stopsAtLimit,
    used: state.used,
    remaining: Math.max(state.limit - state.used, 0),
    resets_at: state.resetsAt.toISOString(),
    spend_cap_cents: state.spendCapCents,
  };
}

export function adminPlanStateToApi(state: PlanState): Static<typeof AdminPlanStateSchema> {
  return { ...planStateToApi(state), monthly_calls: state.monthlyCalls };
}

export function planChangeFromApi(body: Static<typeof ChangePlan>): {
  plan: string;
  spendCapCents?: number | null;
} {
  const { plan, spend_cap_cents: spendCapCents } = body;
  return spendCapCents === undefined ? { plan } : { plan, spendCapCents };
}

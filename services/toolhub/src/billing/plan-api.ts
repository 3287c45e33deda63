import Type, { type Static } from 'typebox';
import type { ChangedPlan, Plan, PlanState } from './plan.ts';

const CENTS_MAX = 1_000_000_000;
export const CALLS_MAX = 1_000_000_000_000;
const NAME_CHARACTERS_MAX = 60;

const planExample = {
  ...{ id: 'starter', name: 'Starter', price_cents: 2900, included_calls: 50000 },
  overage_cents_per_1000: 60,
  hard_stop: false,
};
export const PlanSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    price_cents: Type.Integer(),
    included_calls: Type.Integer(),
    overage_cents_per_1000: Type.Integer(),
    hard_stop: Type.Boolean(),
  },
  { title: 'Plan', examples: [planExample] },
);

const { id: _, ...editExample } = planExample;
export const EditPlan = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, pattern: '\\S' }),
    price_cents: Type.Integer({ minimum: 0, maximum: CENTS_MAX, description: 'A month.' }),
    included_calls: Type.Integer({ minimum: 0, maximum: CALLS_MAX }),
    overage_cents_per_1000: Type.Integer({
      ...{ minimum: 0, maximum: CENTS_MAX },
      description: 'For calls beyond those included, where they do not stop.',
    }),
    hard_stop: Type.Boolean({ description: 'Whether calls stop at those included.' }),
  },
  { additionalProperties: false, title: 'EditPlan', examples: [editExample] },
);

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

/** How the log names it: of who keeps the plan and sets the cap, the cap in cents, or null where it is taken away. */
export function planChangeInLog(
  { plan, previousPlan }: ChangedPlan,
  { spendCapCents }: { spendCapCents?: number | null },
): { action: string; target: string | null } {
  if (plan !== previousPlan || spendCapCents === undefined) return { action: 'plan.changed', target: plan };
  return { action: 'plan.cap_changed', target: spendCapCents === null ? null : String(spendCapCents) };
}

export function planToApi(plan: Plan): Static<typeof PlanSchema> {
  return {
    id: plan.id,
    name: plan.name,
    price_cents: plan.priceCents,
    included_calls: plan.includedCalls,
    overage_cents_per_1000: plan.overageCentsPer1000,
    hard_stop: plan.hardStop,
  };
}

export function planFromApi(id: string, body: Static<typeof EditPlan>): Plan {
  return {
    id,
    name: body.name.trim(),
    priceCents: body.price_cents,
    includedCalls: body.included_calls,
    overageCentsPer1000: body.overage_cents_per_1000,
    hardStop: body.hard_stop,
  };
}

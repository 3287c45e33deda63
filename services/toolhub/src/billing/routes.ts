import { noteAudit } from '@libs/http';
import Type from 'typebox';
import type { Access } from '../customers/access.ts';
import { badDay, queryDay } from '../query-day.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import { dayOf, monthOf } from './month.ts';
import { USAGE_GROUPS } from './plan.ts';
import {
  adminPlanStateToApi,
  CALLS_MAX,
  ChangePlan,
  CustomerPlanSchema,
  EditPlan,
  PlanSchema,
  PlanStateSchema,
  planChangeFromApi,
  planChangeInLog,
  planFromApi,
  planStateToApi,
  planToApi,
} from './plan-api.ts';
import type { BillingService } from './service.ts';

export interface BillingRoutesDependencies {
  billing: BillingService;
  access: Pick<Access, 'sessionOf' | 'standingOf'>;
  now: () => Date;
}

const USAGE_DAYS_MAX = 400;
const DAY_MS = 24 * 60 * 60 * 1000;

const ChangeLimit = Type.Object(
  {
    monthly_calls: Type.Union([Type.Integer({ minimum: 0, maximum: CALLS_MAX }), Type.Null()], {
      description: 'The limit instead of the plan’s; null goes back to the plan’s.',
    }),
  },
  { additionalProperties: false, title: 'ChangeLimit', examples: [{ monthly_calls: 5000 }] },
);

const UsageQuerySchema = Type.Object(
  {
    from: queryDay(),
    to: queryDay(),
    group: Type.Union(
      USAGE_GROUPS.map((group) => Type.Literal(group)),
      { default: 'platform' },
    ),
  },
  { additionalProperties: false },
);

const milliseconds = Type.Union([Type.Integer(), Type.Null()]);
const UsageSchema = Type.Object(
  {
    from: Type.String(),
    to: Type.String(),
    group: Type.String(),
    data: Type.Array(
      Type.Object({
        key: Type.String(),
        calls: Type.Integer({ description: 'All calls that ran, failed ones too.' }),
        errors: Type.Integer({
          description: 'Those of them that failed; they are free where they certainly did nothing.',
        }),
        p50_ms: milliseconds,
        p95_ms: milliseconds,
      }),
    ),
    total: Type.Integer({ description: 'The calls of all groups.' }),
  },
  {
    title: 'Usage',
    examples: [
      {
        from: '2026-11-01',
        to: '2026-11-17',
        group: 'platform',
        data: [{ key: 'email', calls: 12, errors: 1, p50_ms: 210, p95_ms: 640 }],
        total: 12,
      },
    ],
  },
);

export function registerBillingRoutes(routes: ToolhubRoutes, deps: BillingRoutesDependencies): void {
  registerPlanRoutes(routes, deps);
  registerPlanEditing(routes, deps);
  registerUsageRoutes(routes, deps);
}

function registerPlanRoutes(routes: ToolhubRoutes, { billing, access }: BillingRoutesDependencies): void {
  routes.get(
    '/api/plans',
    {
      access: 'public',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'plans.list',
        tags: ['Billing'],
        summary: 'The plans',
        description: 'What each costs and includes; nobody has to be logged in.',
        response: { 200: Type.Object({ data: Type.Array(PlanSchema) }, { title: 'PlanList' }) },
      },
    },
    async () => ({ data: (await billing.plans()).map(planToApi) }),
  );
  routes.get(
    '/api/plan',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'plan.get',
        tags: ['Billing'],
        summary: 'Your plan and this month',
        description: 'How many calls are used and left, and when the month begins anew.',
        response: { 200: PlanStateSchema },
      },
    },
    async (request) => planStateToApi(await billing.planState(access.sessionOf(request).customerId)),
  );
  routes.put(
    '/api/plan',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'plan.changed' },
      idempotency: 'natural',
      codes: ['unknown_plan', 'too_many_plan_changes'],
      schema: {
        operationId: 'plan.change',
        tags: ['Billing'],
        summary: 'Change the plan or its spend cap',
        description:
          'The limit of the new plan holds at once; its price is counted by days. Both can be changed 100 times a day (UTC) in all; what changes nothing is none.',
        body: ChangePlan,
        response: { 200: PlanStateSchema },
      },
    },
    async (request) => {
      const session = access.sessionOf(request);
      const wanted = planChangeFromApi(request.body);
      const state = await billing.changePlan(session.customerId, wanted, {
        standing: access.standingOf(session),
      });
      noteAudit(request, planChangeInLog(state, wanted));
      return planStateToApi(state);
    },
  );
  routes.put(
    '/api/admin/customers/:id/limit',
    {
      access: 'admin',
      rate: 'api',
      audit: { action: 'plan.limit_changed', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'admin.change_limit',
        tags: ['Admin'],
        summary: 'Give a customer another limit',
        description: 'Instead of that of the plan; the spend cap of the customer still holds.',
        params: Type.Object({
          id: Type.String({ minLength: 1, maxLength: 100, examples: ['cus_01kaf3v6w8q2m5x9t7c4b1n0ze'] }),
        }),
        body: ChangeLimit,
        response: { 200: CustomerPlanSchema },
      },
    },
    async (request) => {
      const { id } = request.params;
      const state = await billing.changeLimit(id, request.body.monthly_calls);
      const { monthly_calls: calls } = request.body;
      noteAudit(request, { subject: id, target: calls === null ? null : String(calls) });
      return { customer_id: id, ...adminPlanStateToApi(state) };
    },
  );
}

function registerPlanEditing(routes: ToolhubRoutes, { billing }: BillingRoutesDependencies): void {
  routes.put(
    '/api/admin/plans/:id',
    {
      access: 'admin',
      rate: 'api',
      audit: { action: 'plan.edited', targetParam: 'id' },
      idempotency: 'natural',
      codes: ['too_many_plans'],
      schema: {
        operationId: 'admin.edit_plan',
        tags: ['Admin'],
        summary: 'Make a plan, or change one',
        description:
          'A plan that is not there yet is added at the end of the list. Where calls stop holds at once. What reaches customers of the plan with their next month is what they pay: the price, what calls beyond cost, and how many are included where they do not stop. A plan that stopped goes on at a price from then on, too; their quota and their spend cap go by the same. Invoices that were made stay as they are.',
        params: Type.Object({
          id: Type.String({
            pattern: '^[a-z][a-z0-9_-]{0,39}$',
            description: 'How it is named in calls: small letters, digits, `_` and `-`.',
            examples: ['starter'],
          }),
        }),
        body: EditPlan,
        response: { 200: PlanSchema },
      },
    },
    async (request) => planToApi(await billing.editPlan(planFromApi(request.params.id, request.body))),
  );
}

function registerUsageRoutes(
  routes: ToolhubRoutes,
  { billing, access, now }: BillingRoutesDependencies,
): void {
  routes.get(
    '/api/usage',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'usage.get',
        tags: ['Billing'],
        summary: 'Calls per platform, day or tool',
        description: 'Without dates: the current month up to now. `to` is not part of the range.',
        querystring: UsageQuerySchema,
        response: { 200: UsageSchema },
      },
    },
    async (request) => {
      const range = readRange(request.query, now());
      const { group } = request.query;
      const { customerId } = access.sessionOf(request);
      const { groups, totalCalls } = await billing.usage({ customerId, ...range, group });
      return {
        ...range,
        group,
        data: groups.map(({ key, calls, errors, p50Ms, p95Ms }) => ({
          key,
          calls,
          errors,
          p50_ms: p50Ms,
          p95_ms: p95Ms,
        })),
        total: totalCalls,
      };
    },
  );
}

function readRange(query: { from?: string; to?: string }, now: Date): { from: string; to: string } {
  const from = query.from ?? monthOf(now);
  const to = query.to ?? dayOf(new Date(now.getTime() + DAY_MS));
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS;
  if (days < 0) throw badDay('to', 'Must not be before from.');
  if (days > USAGE_DAYS_MAX) throw badDay('from', `Must be at most ${USAGE_DAYS_MAX} days before to.`);
  return { from, to };
}

import { cursorCodec, listPage, listQuery, listSchema, noteAudit } from '@libs/http';
import { EMAIL_CHARACTERS_MAX } from '@libs/login';
import Type, { type Static } from 'typebox';
import {
  AdminPlanStateSchema,
  adminPlanExample,
  adminPlanStateToApi,
  ChangePlan,
  CustomerPlanSchema,
  planChangeFromApi,
  planChangeInLog,
} from '../billing/plan-api.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import { registerJobRoutes } from './jobs-routes.ts';
import type { AdminCustomer } from './overview.ts';
import type { AdminService } from './service.ts';

export interface AdminRoutesDependencies {
  admin: AdminService;
}

const REASON_CHARACTERS_MAX = 500;

const moment = Type.String({ format: 'date-time' });
const momentOrNull = Type.Union([moment, Type.Null()]);
const textOrNull = Type.Union([Type.String(), Type.Null()]);

const customerFields = {
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  plan: Type.String(),
  status: Type.Enum(['active', 'suspended'], { type: 'string' }),
  created_at: moment,
  suspended_at: momentOrNull,
  suspension_reason: textOrNull,
};
const customerExample = {
  id: 'cus_01kaf3v6w8q2m5x9t7c4b1n0ze',
  email: 'ada@example.com',
  name: 'Ada',
  plan: 'free',
  status: 'active',
  created_at: '2026-11-16T15:04:05.000Z',
  suspended_at: null,
  suspension_reason: null,
};
const CustomerSchema = Type.Object(customerFields, {
  title: 'CustomerRecord',
  description: 'A customer as the operator sees it.',
  examples: [customerExample],
});

const DetailsSchema = Type.Object(
  {
    ...customerFields,
    plan_state: AdminPlanStateSchema,
    usage: Type.Object({
      from: Type.String(),
      to: Type.String(),
      data: Type.Array(Type.Object({ key: Type.String(), calls: Type.Integer(), errors: Type.Integer() })),
      total: Type.Integer(),
    }),
  },
  {
    title: 'CustomerDetails',
    examples: [
      {
        ...customerExample,
        plan_state: adminPlanExample,
        usage: {
          from: '2026-11-01',
          to: '2026-12-01',
          data: [{ key: 'email', calls: 12, errors: 1 }],
          total: 12,
        },
      },
    ],
  },
);

const SuspendBody = Type.Object(
  { reason: Type.Optional(Type.String({ maxLength: REASON_CHARACTERS_MAX })) },
  { additionalProperties: false, title: 'SuspendCustomer', examples: [{ reason: 'Unpaid invoices.' }] },
);

const Params = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100, examples: [customerExample.id] }),
});
const customerCursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^cus_[0-9a-z]{26}$' }) }));

export function registerAdminRoutes(routes: ToolhubRoutes, deps: AdminRoutesDependencies): void {
  registerCustomers(routes, deps);
  registerSuspension(routes, deps);
  registerPlan(routes, deps);
  registerJobRoutes(routes, deps);
}

function registerCustomers(routes: ToolhubRoutes, deps: AdminRoutesDependencies): void {
  const { admin } = deps;
  const email = Type.Optional(Type.String({ minLength: 1, maxLength: EMAIL_CHARACTERS_MAX }));
  routes.get(
    '/api/admin/customers',
    {
      access: 'admin',
      rate: 'api',
      audit: { action: 'admin.customers_listed' },
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_customers',
        tags: ['Admin'],
        summary: 'The customers',
        description: 'Newest first; `email` finds one by its address.',
        querystring: listQuery({ email }),
        response: { 200: listSchema(CustomerSchema) },
      },
    },
    ({ query }) =>
      listPage(query, {
        cursor: customerCursor,
        read: ({ from, limit }) => admin.customers({ email: query.email, before: from?.id, limit }),
        positionOf: ({ id }) => ({ id }),
        show: toApiCustomer,
      }),
  );
  routes.get(
    '/api/admin/customers/:id',
    {
      access: 'admin',
      rate: 'api',
      audit: { action: 'admin.customer_read', targetParam: 'id' },
      idempotency: 'safe',
      schema: {
        operationId: 'admin.get_customer',
        tags: ['Admin'],
        summary: 'One customer',
        description: 'With its plan, and the usage of the month by platform.',
        params: Params,
        response: { 200: DetailsSchema },
      },
    },
    async (request) => {
      const { customer, plan, usage } = await admin.details(request.params.id);
      noteAudit(request, { subject: customer.id });
      return {
        ...toApiCustomer(customer),
        plan_state: adminPlanStateToApi(plan),
        usage: {
          from: usage.from,
          to: usage.to,
          data: usage.groups.map(({ key, calls, errors }) => ({ key, calls, errors })),
          total: usage.totalCalls,
        },
      };
    },
  );
}

function registerSuspension(routes: ToolhubRoutes, deps: AdminRoutesDependencies): void {
  const { admin } = deps;
  routes.post(
    '/api/admin/customers/:id/suspend',
    {
      access: 'admin',
      rate: 'api',
      audit: { action: 'customer.suspended', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'admin.suspend_customer',
        tags: ['Admin'],
        summary: 'Suspend a customer',
        description: 'Tokens and sessions are refused everywhere within a second; nothing is deleted.',
        params: Params,
        body: SuspendBody,
        response: { 200: CustomerSchema },
      },
    },
    async (request) => {
      const { id: customerId } = request.params;
      const customer = await admin.suspend({ customerId, reason: request.body.reason ?? null });
      noteAudit(request, { subject: customerId });
      return toApiCustomer(customer);
    },
  );
  routes.post(
    '/api/admin/customers/:id/resume',
    {
      access: 'admin',
      rate: 'api',
      audit: { action: 'customer.resumed', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'admin.resume_customer',
        tags: ['Admin'],
        summary: 'Resume a suspended customer',
        description: 'Its tokens and sessions work again within a second.',
        params: Params,
        response: { 200: CustomerSchema },
      },
    },
    async (request) => {
      const { id: customerId } = request.params;
      const customer = await admin.resume(customerId);
      noteAudit(request, { subject: customerId });
      return toApiCustomer(customer);
    },
  );
}

function registerPlan(routes: ToolhubRoutes, deps: AdminRoutesDependencies): void {
  const { admin } = deps;
  routes.put(
    '/api/admin/customers/:id/plan',
    {
      access: 'admin',
      rate: 'api',
      audit: { action: 'plan.changed', targetParam: 'id' },
      idempotency: 'natural',
      codes: ['unknown_plan'],
      schema: {
        operationId: 'admin.change_plan',
        tags: ['Admin'],
        summary: 'Change the plan of a customer',
        description: 'The limit of the new plan holds at once; its price is counted by days.',
        params: Params,
        body: ChangePlan,
        response: { 200: CustomerPlanSchema },
      },
    },
    async (request) => {
      const { id: customerId } = request.params;
      const wanted = planChangeFromApi(request.body);
      const state = await admin.changePlan(customerId, wanted);
      noteAudit(request, { subject: customerId, ...planChangeInLog(state, wanted) });
      return { customer_id: customerId, ...adminPlanStateToApi(state) };
    },
  );
}

function toApiCustomer(customer: AdminCustomer): Static<typeof CustomerSchema> {
  return {
    id: customer.id,
    email: customer.email,
    name: customer.name,
    plan: customer.plan,
    status: customer.suspendedAt === null ? 'active' : 'suspended',
    created_at: customer.createdAt.toISOString(),
    suspended_at: customer.suspendedAt?.toISOString() ?? null,
    suspension_reason: customer.suspensionReason,
  };
}

import { listQuery, noteAudit, objectListPage, objectListSchema } from '@libs/http';
import Type, { type Static } from 'typebox';
import { ID_LENGTH_MAX, idCursor, idParams, oneOfStrings } from '../api-schema.ts';
import type { KeyService } from '../keys/service.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { ViewedMethod } from './method.ts';
import { methodToApi } from './method.ts';
import { CreateMethod, MethodSchema, methodExample } from './schemas.ts';
import type { NewMethodInput, PaymentMethods } from './service.ts';

const cursor = idCursor('pm');
const IdParams = idParams('pm_alice');

function fromApi(body: Static<typeof CreateMethod>): NewMethodInput {
  const metadata = body.metadata ?? {};
  if (body.type === 'balance') return { bank: null, metadata };
  const { bank_account: bank } = body;
  return {
    bank: {
      routingNumber: bank.routing_number,
      accountNumber: bank.account_number,
      accountType: bank.account_type,
      holderName: bank.holder_name.trim(),
      holderType: bank.holder_type,
    },
    metadata,
  };
}

function toApi({ method, balance }: ViewedMethod) {
  return methodToApi(method, balance);
}

export function registerPaymentMethodRoutes(
  routes: PaymentsRoutes,
  { methods, holdTenant }: { methods: PaymentMethods; holdTenant: KeyService['holdTenant'] },
): void {
  const tags = ['Payment methods'];

  routes.post(
    '/v1/payment_methods',
    {
      access: 'payment_methods:write',
      rate: 'key',
      audit: { action: 'payment_method.created' },
      idempotency: 'keyed',
      schema: {
        operationId: 'payment_methods.create',
        tags,
        summary: 'Add a bank account, or open a balance',
        description:
          'A bank account is checked (the routing number has a check digit) and its number sealed at once. A balance is money held here, which payments can be made from and to.',
        body: CreateMethod,
        response: { 201: MethodSchema },
      },
    },
    async (request, tx) => {
      // Else one that is made right after a reset, by a process that has not heard of it, would be lost with what was before.
      const tenant = await holdTenant(tx, request.caller.tenant);
      const created = await methods.create(tx, tenant, fromApi(request.body));
      noteAudit(request, { target: created.method.id });
      return { status: 201, body: toApi(created) };
    },
  );

  routes.get(
    '/v1/payment_methods',
    {
      access: 'payment_methods:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'payment_methods.list',
        tags,
        summary: 'List payment methods',
        description: 'Newest first; deleted ones are not among them.',
        querystring: listQuery({
          type: Type.Optional(oneOfStrings(['bank_account', 'balance'])),
          fingerprint: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: ID_LENGTH_MAX,
              description: 'Payment methods with the same account.',
              examples: [methodExample.bank_account.fingerprint],
            }),
          ),
        }),
        response: { 200: objectListSchema(MethodSchema) },
      },
    },
    ({ query, caller }) =>
      objectListPage(query, {
        cursor,
        read: ({ from, limit }) =>
          methods.list(caller.tenant, {
            ...{ type: query.type ?? null, fingerprint: query.fingerprint ?? null },
            ...{ beforeSortId: from?.[0] ?? null, limit },
          }),
        positionOf: ({ sortId }) => [sortId],
        show: toApi,
      }),
  );

  routes.get(
    '/v1/payment_methods/:id',
    {
      access: 'payment_methods:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'payment_methods.get',
        tags,
        summary: 'Get a payment method',
        description: 'A balance shows what is in it, on its way, and available.',
        params: IdParams,
        response: { 200: MethodSchema },
      },
    },
    async (request) => toApi(await methods.get(request.caller.tenant, request.params.id)),
  );

  routes.delete(
    '/v1/payment_methods/:id',
    {
      access: 'payment_methods:write',
      rate: 'key',
      audit: { action: 'payment_method.deleted', targetParam: 'id' },
      idempotency: 'natural',
      codes: ['payment_method_in_use', 'balance_not_empty'],
      schema: {
        operationId: 'payment_methods.delete',
        tags,
        summary: 'Delete a payment method',
        description:
          'Refused while a payment of it is open, and while a balance is not empty. It stays deleted; only a balance whose money a late return changes is there again.',
        params: IdParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await methods.remove(request.caller.tenant, request.params.id);
      return reply.code(204).send(null);
    },
  );
}

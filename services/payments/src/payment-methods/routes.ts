import { cursorCodec, listQuery, noteAudit, objectListSchema, stringMap, toPage } from '@libs/http';
import Type, { type Static } from 'typebox';
import {
  closed,
  ID_LENGTH_MAX,
  IdempotencyHeaders,
  IdParams,
  ModeSchema,
  nullable,
  oneOfStrings,
  Timestamp,
} from '../api-schema.ts';
import { METADATA_LIMITS } from '../payments/schemas.ts';
import { RAIL_IDS } from '../rails/rail-ids.ts';
import { isRoutingNumber } from '../rails/routing-number.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { ViewedMethod } from './method.ts';
import { methodToApi } from './method.ts';
import { ROUTING_NUMBER_FORMAT, registerFormat } from './routing-number-format.ts';
import type { NewMethodInput, PaymentMethods } from './service.ts';

registerFormat(isRoutingNumber);

const HOLDER_NAME_LENGTH_MAX = 100;
const cursor = cursorCodec(Type.Tuple([Type.String({ maxLength: 64 })]));

const RoutingNumber = Type.String({ format: ROUTING_NUMBER_FORMAT, examples: ['021000021'] });
const AccountType = oneOfStrings(['checking', 'savings']);
const HolderType = oneOfStrings(['individual', 'business']);
const Rail = oneOfStrings(RAIL_IDS);
const Metadata = stringMap(METADATA_LIMITS);

const CreateBankAccount = Type.Object(
  {
    type: Type.Literal('bank_account'),
    bank_account: Type.Object(
      {
        routing_number: RoutingNumber,
        account_number: Type.String({
          pattern: '^[0-9A-Za-z-]{4,17}$',
          description: 'Sealed at once, and shown by its last four characters from then on.',
        }),
        account_type: AccountType,
        holder_name: Type.String({ pattern: '\\S', maxLength: HOLDER_NAME_LENGTH_MAX }),
        holder_type: HolderType,
      },
      closed,
    ),
    metadata: Type.Optional(Metadata),
  },
  closed,
);
const CreateBalance = Type.Object(
  { type: Type.Literal('balance'), metadata: Type.Optional(Metadata) },
  closed,
);
const CreateMethod = Type.Union([CreateBankAccount, CreateBalance]);

const MethodSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('payment_method'),
  mode: ModeSchema,
  type: oneOfStrings(['bank_account', 'balance']),
  rails: Type.Object({ send: Type.Array(Rail), receive: Type.Array(Rail) }),
  bank_account: nullable(
    Type.Object({
      routing_number: Type.String(),
      last4: Type.String(),
      account_type: AccountType,
      holder_name: Type.String(),
      holder_type: HolderType,
      fingerprint: Type.String({ description: 'The same for every payment method with this account.' }),
    }),
  ),
  balance: nullable(
    Type.Object({
      currency: Type.String(),
      posted: Type.Integer(),
      pending: Type.Integer(),
      available: Type.Integer(),
      owed: Type.Integer({ description: 'What a return took beyond what was there.' }),
    }),
  ),
  metadata: Metadata,
  created_at: Timestamp,
  updated_at: Timestamp,
});

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
  { methods }: { methods: PaymentMethods },
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
        headers: IdempotencyHeaders,
        body: CreateMethod,
        response: { 201: MethodSchema },
      },
    },
    async (request, tx) => {
      const created = await methods.create(tx, request.caller.tenant, fromApi(request.body));
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
        querystring: listQuery({
          type: Type.Optional(oneOfStrings(['bank_account', 'balance'])),
          fingerprint: Type.Optional(Type.String({ minLength: 1, maxLength: ID_LENGTH_MAX })),
        }),
        response: { 200: objectListSchema(MethodSchema) },
      },
    },
    async (request) => {
      const { query } = request;
      const rows = await methods.list(request.caller.tenant, {
        type: query.type ?? null,
        fingerprint: query.fingerprint ?? null,
        beforeSortId: cursor.decode(query.cursor)?.[0] ?? null,
        limit: query.limit + 1,
      });
      const page = toPage(rows, { limit: query.limit, cursorOf: (last) => cursor.encode([last.sortId]) });
      return { object: 'list' as const, data: page.data.map(toApi), next_cursor: page.next_cursor };
    },
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
      schema: {
        operationId: 'payment_methods.delete',
        tags,
        summary: 'Delete a payment method that no open payment uses',
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

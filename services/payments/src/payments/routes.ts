import { type App, listQuery, noteAudit, objectListPage, sendParts } from '@libs/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { idCursor, idParams } from '../api-schema.ts';
import { errors } from '../errors.ts';
import { idempotencyKeyOf } from '../idempotency/key.ts';
import { parseBorder } from '../moment.ts';
import { nameMoreFields } from '../more-fields.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import type { ByMode } from '../tenant.ts';
import { canonicalBodyOf, inputFromBody, refusedFields } from './accept/input.ts';
import { ACCEPT_PATH } from './accept/path.ts';
import type { RecentResponses } from './accept/recent.ts';
import { refuseTooLarge, tooLargeFields } from './amount.ts';
import { paymentExample } from './examples.ts';
import { csvHeader, exportCsv } from './export.ts';
import { takeMetadata } from './filters.ts';
import type { PaymentFilter } from './list-store.ts';
import { toApi } from './payment.ts';
import type { Refunds } from './refunds.ts';
import { createRepeatsHook } from './repeats-hook.ts';
import {
  CreatePayment,
  metadataParameter,
  PaymentList,
  PaymentSchema,
  paymentFilters,
  QuoteSchema,
  RefundBody,
} from './schemas.ts';
import type { PaymentsService } from './service.ts';

export interface PaymentRouteDependencies {
  payments: PaymentsService;
  refunds: Refunds;
  recent: ByMode<RecentResponses>;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const cursor = idCursor('pay');
const PaymentFilters = Type.Object(paymentFilters);
const IdParams = idParams(paymentExample.id);
/** Why a payment or a quote is refused, beside what every request can be refused for. */
const REFUSALS = [
  'amount_too_large',
  'currency_not_supported',
  'same_payment_method',
  'payment_method_not_found',
  'rail_not_available',
  'rail_not_configured',
] as const;

declare module 'fastify' {
  interface FastifyRequest {
    metadataFilter: Record<string, string> | null;
    idempotencyKey: string;
  }
}

/** With a callback and not a promise: this is on the way of every payment. */
function takeIdempotencyKey(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: (error?: Error) => void,
): void {
  try {
    const key = idempotencyKeyOf(request);
    if (key === undefined) throw errors.idempotency_key_required();
    request.idempotencyKey = key;
  } catch (error) {
    done(error as Error);
    return;
  }
  done();
}

/** `metadata[key]=value` is a family of parameters; the schema of the query sees what is left. */
async function takeMetadataFilter(request: FastifyRequest): Promise<void> {
  const validateRest = request.getValidationFunction('querystring');
  request.metadataFilter = takeMetadata(request.query as Record<string, unknown>, (rest) =>
    validateRest?.(rest),
  );
}

const nameMore = nameMoreFields(refusedFields);

/** What the hooks below put into requests; once for an app. */
export function decoratePaymentRequests(app: App): void {
  app.decorateRequest('metadataFilter', null);
  app.decorateRequest('idempotencyKey', '');
  app.decorateRequest('sentBytes', null);
}

export function registerPaymentRoutes(
  routes: PaymentsRoutes,
  { payments, refunds, recent }: PaymentRouteDependencies,
): void {
  const repeats = createRepeatsHook(recent, sendAgain);
  routes.post(
    ACCEPT_PATH,
    {
      access: 'payments:write',
      rate: 'key',
      // Of what programs do the first event of the payment tells; it does not say which person it was.
      audit: { action: 'payment.created', onlyIf: ({ person }) => person !== null },
      idempotency: 'keyed_by_handler',
      codes: [...REFUSALS, 'insufficient_funds'],
      schema: {
        operationId: 'payments.create',
        summary: 'Create a payment',
        description:
          'Moves money from `source` to `destination`. The answer comes at once with the payment as `pending`; follow it by webhooks, by the event stream, or by asking for it. In test mode any id that begins with `pm_` is a bank account that can send and receive; ids that begin with `pm_test_`, such as `pm_test_no_rtp`, have a fixed behaviour.',
        tags: ['Payments'],
        body: CreatePayment,
        response: { 202: PaymentSchema },
      },
      preParsing: repeats.preParsing,
      // The key is asked for before the body is judged.
      preValidation: takeIdempotencyKey,
      errorHandler: nameMore,
    },
    async (request, reply) => {
      const accepted = await payments.create({
        tenant: request.caller.tenant,
        path: ACCEPT_PATH,
        key: request.idempotencyKey,
        canonicalBody: canonicalBodyOf(request.body),
        input: inputFromBody(request.body),
        refundOf: null,
      });
      if (!accepted.replayed) {
        noteMade(request, accepted.body);
        return sendText(reply.code(accepted.status as 202), accepted.body);
      }
      repeats.noteAnswered(request);
      return sendAgain(reply, accepted);
    },
  );

  routes.post(
    '/v1/payments/quote',
    {
      access: 'payments:write',
      rate: 'key',
      audit: 'none',
      idempotency: 'keyed',
      codes: REFUSALS,
      errorHandler: nameMore,
      schema: {
        operationId: 'payments.quote',
        summary: 'Ask which rail a payment would take',
        description:
          'Decides as for a payment with this body, at this moment, and moves nothing: the rail, its fee, when it would settle, and why the others were not chosen.',
        tags: ['Payments'],
        // A quote takes what a payment takes, so that the same body can be sent to both.
        body: CreatePayment,
        response: { 200: QuoteSchema },
      },
    },
    async (request, tx) => {
      const input = inputFromBody(request.body);
      const { decision, option } = await payments.quote(tx, request.caller.tenant, input);
      const quote = {
        object: 'quote',
        amount: input.amount,
        currency: input.currency,
        rail_selected: decision.chosen,
        fee: { amount: option.fee, currency: 'USD' },
        estimated_settlement_at: option.settlesAt.toISOString(),
        rail_decision: decision,
      };
      return { status: 200, body: quote };
    },
  );

  routes.get(
    '/v1/payments',
    {
      access: 'payments:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      preValidation: takeMetadataFilter,
      schema: {
        operationId: 'payments.list',
        summary: 'List payments',
        description: 'Newest first. All filters that are given must fit.',
        tags: ['Payments'],
        parameters: [metadataParameter],
        querystring: listQuery(paymentFilters),
        response: { 200: PaymentList },
      },
    },
    async (request, reply) => {
      const { query } = request;
      const filter = filterOf(query, request.metadataFilter);
      const page = await objectListPage(query, {
        cursor,
        read: ({ from, limit }) =>
          payments.list(request.caller.tenant, { ...filter, beforeId: from?.[0] ?? null, limit }),
        positionOf: ({ id }) => [id],
        show: toApi,
      });
      return sendText(reply, JSON.stringify(page));
    },
  );

  routes.get(
    '/v1/payments/export',
    {
      access: 'payments:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      preValidation: takeMetadataFilter,
      schema: {
        operationId: 'payments.export',
        summary: 'Export payments as CSV',
        description: 'All payments that fit the filters, in one stream, with a line of headings.',
        tags: ['Payments'],
        produces: {
          type: 'text/csv',
          description: 'A line per payment.',
          example: csvHeader,
        },
        parameters: [metadataParameter],
        querystring: Type.Object(
          { format: Type.Literal('csv'), ...paymentFilters },
          { additionalProperties: false },
        ),
      },
    },
    (request, reply) => {
      const rows = exportCsv(
        payments,
        request.caller.tenant,
        filterOf(request.query, request.metadataFilter),
      );
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="payments.csv"');
      return sendParts(reply, rows);
    },
  );

  routes.get(
    '/v1/payments/:id',
    {
      access: 'payments:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'payments.get',
        summary: 'Get a payment',
        description:
          'As it is now, with its timeline, its attempts on the rails and why its rail was chosen.',
        tags: ['Payments'],
        params: IdParams,
        response: { 200: PaymentSchema },
      },
    },
    async (request, reply) => {
      const payment = await payments.get(request.caller.tenant, request.params.id);
      return sendText(reply, JSON.stringify(toApi(payment)));
    },
  );

  routes.post(
    '/v1/payments/:id/refunds',
    {
      access: 'payments:write',
      rate: 'key',
      audit: { action: 'payment.refunded', targetParam: 'id' },
      idempotency: 'keyed_by_handler',
      codes: [...REFUSALS, 'insufficient_funds', 'payment_not_refundable', 'refund_exceeds_payment'],
      schema: {
        operationId: 'payments.refund',
        summary: 'Refund a completed payment, whole or in part',
        description:
          'A payment the other way, with `refund_of` naming the first. All refunds that did not fail add up to at most its amount; a refund is not refunded.',
        tags: ['Payments'],
        params: IdParams,
        body: RefundBody,
        response: { 202: PaymentSchema },
      },
      preValidation: takeIdempotencyKey,
      errorHandler: nameMoreFields(({ amount }) => tooLargeFields(amount)),
    },
    async (request, reply) => {
      const { amount = null, description = null, metadata = {} } = request.body;
      refuseTooLarge(amount);
      const accepted = await refunds.create(request.caller.tenant, {
        paymentId: request.params.id,
        path: refundsPath(request.params.id),
        key: request.idempotencyKey,
        ...{ amount, description, metadata },
      });
      if (accepted.replayed) reply.header('idempotent-replayed', 'true');
      return sendText(reply.code(accepted.status as 202), accepted.body);
    },
  );

  routes.post(
    '/v1/payments/:id/cancel',
    {
      access: 'payments:write',
      rate: 'key',
      audit: { action: 'payment.canceled', targetParam: 'id' },
      idempotency: 'keyed',
      codes: ['payment_not_cancelable'],
      schema: {
        operationId: 'payments.cancel',
        summary: 'Cancel a pending payment',
        description: 'Possible until it is handed to the rail; what it held of a balance is free again.',
        tags: ['Payments'],
        params: IdParams,
        response: { 200: PaymentSchema },
      },
    },
    async (request, tx) => ({
      status: 200,
      body: toApi(await payments.cancel(tx, request.caller.tenant, request.params.id)),
    }),
  );
}

function refundsPath(id: string): string {
  return `${ACCEPT_PATH}/${id}/refunds`;
}

function filterOf(
  query: Type.Static<typeof PaymentFilters>,
  metadata: Record<string, string> | null,
): Omit<PaymentFilter, 'beforeId' | 'limit'> {
  return {
    status: query.status ?? null,
    rail: query.rail ?? null,
    paymentMethod: query.payment_method ?? null,
    createdAfter: query.created_after === undefined ? null : parseBorder(query.created_after),
    createdBefore: query.created_before === undefined ? null : parseBorder(query.created_before),
    idPrefix: query.id_prefix ?? null,
    refundOf: query.refund_of ?? null,
    metadata,
  };
}

/** The first response to a key, marked as not the first. */
function sendAgain(reply: FastifyReply, { status, body }: { status: number; body: string }): FastifyReply {
  noteMade(reply.request, body);
  return sendText(reply.code(status).header('idempotent-replayed', 'true'), body);
}

/** The audit log names the payment that a person made; calls of keys are not read for it. */
function noteMade(request: FastifyRequest, body: string): void {
  if (request.person !== null) noteAudit(request, { target: JSON.parse(body).id });
}

/** The JSON is made once, in the order that the API documents; Fastify's serialiser would make it a second time. */
function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type(JSON_TYPE).send(text);
}

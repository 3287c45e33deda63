import { cursorCodec, listQuery, noteAudit, objectListSchema, toPage } from '@libs/http';
import type { Delivery } from '@libs/webhooks';
import Type from 'typebox';
import { closed, IdempotencyHeaders, IdParams, nullable, oneOfStrings, Timestamp } from '../api-schema.ts';
import { eventTypes } from '../events/event.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import { endpointToApi, eventChoices } from './endpoint.ts';
import type { EndpointPatch, Webhooks } from './service.ts';

const URL_LENGTH_MAX = 2_048;
const DESCRIPTION_LENGTH_MAX = 500;
const cursor = cursorCodec(Type.Tuple([Type.String({ maxLength: 64 })]));

const Url = Type.String({ minLength: 1, maxLength: URL_LENGTH_MAX, examples: ['https://example.com/hooks'] });
const Events = Type.Array(oneOfStrings(eventChoices), {
  minItems: 1,
  uniqueItems: true,
  description: 'Types of events; `*`, the default, stands for all of them.',
});
const Description = nullable(Type.String({ maxLength: DESCRIPTION_LENGTH_MAX }));
const Status = oneOfStrings(['enabled', 'disabled']);

const CreateEndpoint = Type.Object(
  { url: Url, events: Type.Optional(Events), description: Type.Optional(Description) },
  closed,
);
const PatchEndpoint = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    description: Type.Optional(Description),
    status: Type.Optional(Status),
  },
  closed,
);
const EndpointSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('webhook_endpoint'),
  url: Type.String(),
  events: Type.Array(oneOfStrings(eventChoices)),
  description: Description,
  status: Status,
  disabled_reason: nullable(oneOfStrings(['gone', 'failing', 'manual'])),
  created_at: Timestamp,
  updated_at: Timestamp,
});
const EndpointWithSecret = Type.Object({
  ...EndpointSchema.properties,
  secret: Type.String({ description: 'Signs the webhooks; shown this once.' }),
});
const DeliverySchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('webhook_delivery'),
  event_id: Type.String(),
  event_type: oneOfStrings(eventTypes),
  endpoint_id: Type.String(),
  status: oneOfStrings(
    ['pending', 'delivered', 'failed', 'abandoned'],
    '`failed`: every retry was used up. `abandoned`: the endpoint was switched off or deleted.',
  ),
  attempts: Type.Array(
    Type.Object({
      at: Timestamp,
      status: nullable(Type.Integer({ description: 'The HTTP status, where there was an answer.' })),
      error: nullable(Type.String()),
      duration_ms: Type.Integer(),
    }),
  ),
  next_attempt_at: nullable(Timestamp),
  created_at: Timestamp,
});

function deliveryToApi(delivery: Delivery) {
  return {
    id: delivery.id,
    object: 'webhook_delivery' as const,
    event_id: delivery.eventId,
    event_type: delivery.eventType as (typeof eventTypes)[number],
    endpoint_id: delivery.endpointId,
    status: delivery.status as 'pending' | 'delivered' | 'failed' | 'abandoned',
    attempts: [...delivery.attempts],
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
  };
}

export function registerWebhookRoutes(routes: PaymentsRoutes, webhooks: Webhooks): void {
  registerEndpointRoutes(routes, webhooks);
  registerEndpointActions(routes, webhooks);
}

const tags = ['Webhooks'];

function registerEndpointRoutes(routes: PaymentsRoutes, webhooks: Webhooks): void {
  routes.post(
    '/v1/webhook_endpoints',
    {
      access: 'webhooks:write',
      rate: 'key',
      audit: { action: 'webhook_endpoint.created' },
      idempotency: 'keyed',
      schema: {
        operationId: 'webhook_endpoints.create',
        tags,
        summary: 'Register an address for webhooks',
        headers: IdempotencyHeaders,
        body: CreateEndpoint,
        response: { 201: EndpointWithSecret },
      },
      // Names are looked up before there is a transaction to wait for them.
      preHandler: ({ body }) => webhooks.checkUrl((body as { url: string }).url),
    },
    async (request, tx) => {
      const { url, events = null, description = null } = request.body;
      const created = await webhooks.create(tx, request.caller.tenant, { url, events, description });
      noteAudit(request, { target: created.endpoint.id });
      return { status: 201, body: { ...endpointToApi(created.endpoint), secret: created.secret } };
    },
  );

  routes.get(
    '/v1/webhook_endpoints',
    {
      access: 'webhooks:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'webhook_endpoints.list',
        tags,
        summary: 'List webhook endpoints',
        querystring: listQuery(),
        response: { 200: objectListSchema(EndpointSchema) },
      },
    },
    async (request) => {
      const { limit } = request.query;
      const beforeId = cursor.decode(request.query.cursor)?.[0] ?? null;
      const rows = await webhooks.list(request.caller.tenant, { beforeId, limit: limit + 1 });
      const page = toPage(rows, { limit, cursorOf: (last) => cursor.encode([last.id]) });
      return { object: 'list' as const, data: page.data.map(endpointToApi), next_cursor: page.next_cursor };
    },
  );

  routes.get(
    '/v1/webhook_endpoints/:id',
    {
      access: 'webhooks:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'webhook_endpoints.get',
        tags,
        summary: 'Get a webhook endpoint',
        params: IdParams,
        response: { 200: EndpointSchema },
      },
    },
    async (request) => endpointToApi(await webhooks.get(request.caller.tenant, request.params.id)),
  );

  routes.patch(
    '/v1/webhook_endpoints/:id',
    {
      access: 'webhooks:write',
      rate: 'key',
      audit: { action: 'webhook_endpoint.changed', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'webhook_endpoints.update',
        tags,
        summary: 'Change a webhook endpoint',
        params: IdParams,
        body: PatchEndpoint,
        response: { 200: EndpointSchema },
      },
    },
    async (request) => {
      const { tenant } = request.caller;
      if (request.body.url !== undefined) {
        // An unknown endpoint is a 404 whatever the address, and costs no look-up of names.
        await webhooks.get(tenant, request.params.id);
        await webhooks.checkUrl(request.body.url);
      }
      return endpointToApi(await webhooks.update(tenant, request.params.id, request.body as EndpointPatch));
    },
  );

  routes.delete(
    '/v1/webhook_endpoints/:id',
    {
      access: 'webhooks:write',
      rate: 'key',
      audit: { action: 'webhook_endpoint.deleted', targetParam: 'id' },
      idempotency: 'natural',
      schema: {
        operationId: 'webhook_endpoints.delete',
        tags,
        summary: 'Delete a webhook endpoint',
        params: IdParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await webhooks.remove(request.caller.tenant, request.params.id);
      return reply.code(204).send(null);
    },
  );
}

function registerEndpointActions(routes: PaymentsRoutes, webhooks: Webhooks): void {
  routes.post(
    '/v1/webhook_endpoints/:id/rotate_secret',
    {
      access: 'webhooks:write',
      rate: 'key',
      audit: { action: 'webhook_endpoint.secret_rotated', targetParam: 'id' },
      idempotency: 'keyed',
      schema: {
        operationId: 'webhook_endpoints.rotate_secret',
        tags,
        summary: 'Make a new secret; the old one signs along for 24 hours',
        headers: IdempotencyHeaders,
        params: IdParams,
        response: { 200: EndpointWithSecret },
      },
    },
    async (request, tx) => {
      const rotated = await webhooks.rotateSecret(tx, request.caller.tenant, request.params.id);
      return { status: 200, body: { ...endpointToApi(rotated.endpoint), secret: rotated.secret } };
    },
  );

  routes.post(
    '/v1/webhook_endpoints/:id/test',
    {
      access: 'webhooks:write',
      rate: 'key',
      audit: { action: 'webhook_endpoint.tested', targetParam: 'id' },
      idempotency: 'keyed',
      schema: {
        operationId: 'webhook_endpoints.test',
        tags,
        summary: 'Send a test event to this endpoint',
        headers: IdempotencyHeaders,
        params: IdParams,
        response: { 202: DeliverySchema },
      },
    },
    async (request, tx) => {
      const delivery = await webhooks.sendTest(tx, request.caller.tenant, request.params.id);
      return { status: 202, body: deliveryToApi(delivery) };
    },
  );

  routes.get(
    '/v1/webhook_endpoints/:id/deliveries',
    {
      access: 'webhooks:read',
      rate: 'key',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'webhook_endpoints.deliveries',
        tags,
        summary: 'List what was sent to an endpoint',
        params: IdParams,
        querystring: listQuery(),
        response: { 200: objectListSchema(DeliverySchema) },
      },
    },
    async (request) => {
      const { limit } = request.query;
      const beforeId = cursor.decode(request.query.cursor)?.[0] ?? null;
      const rows = await webhooks.listDeliveries(request.caller.tenant, request.params.id, {
        beforeId,
        limit: limit + 1,
      });
      const page = toPage(rows, { limit, cursorOf: (last) => cursor.encode([last.id]) });
      return { object: 'list' as const, data: page.data.map(deliveryToApi), next_cursor: page.next_cursor };
    },
  );

  routes.post(
    '/v1/webhook_deliveries/:id/retry',
    {
      access: 'webhooks:write',
      rate: 'key',
      audit: { action: 'webhook_delivery.retried', targetParam: 'id' },
      idempotency: 'keyed',
      schema: {
        operationId: 'webhook_deliveries.retry',
        tags,
        summary: 'Try a delivery again now',
        headers: IdempotencyHeaders,
        params: IdParams,
        response: { 202: DeliverySchema },
      },
    },
    async (request, tx) => {
      const delivery = await webhooks.retry(tx, request.caller.tenant, request.params.id);
      return { status: 202, body: deliveryToApi(delivery) };
    },
  );
}

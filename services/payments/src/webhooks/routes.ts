import { listQuery, noteAudit, objectListPage, objectListSchema } from '@libs/http';
import type { Delivery } from '@libs/webhooks';
import Type from 'typebox';
import { ID_LENGTH_MAX, idCursor, idParams } from '../api-schema.ts';
import type { eventTypes } from '../events/event.ts';
import type { Gates } from '../keys/access.ts';
import { nameMoreFields } from '../more-fields.ts';
import type { PaymentsRoutes } from '../route-rules.ts';
import { endpointToApi } from './endpoint.ts';
import {
  CreateEndpoint,
  DeliverySchema,
  deliveryExample,
  EndpointSchema,
  EndpointWithSecret,
  endpointExample,
  PatchEndpoint,
} from './schemas.ts';
import type { EndpointPatch, Webhooks } from './service.ts';

const endpointCursor = idCursor('we');
const deliveryCursor = idCursor('dlv');
const IdParams = idParams(endpointExample.id);

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

export interface WebhookRouteDependencies {
  webhooks: Webhooks;
  gates: Pick<Gates, 'holdCallerAndTenant'>;
}

export function registerWebhookRoutes(routes: PaymentsRoutes, deps: WebhookRouteDependencies): void {
  registerEndpointRoutes(routes, deps);
  registerEndpointActions(routes, deps);
}

const tags = ['Webhooks'];

function registerEndpointRoutes(routes: PaymentsRoutes, { webhooks, gates }: WebhookRouteDependencies): void {
  routes.post(
    '/v1/webhook_endpoints',
    {
      access: 'webhooks:write',
      rate: 'key',
      audit: { action: 'webhook_endpoint.created' },
      idempotency: 'keyed',
      codes: ['webhook_url_refused', 'limit_reached'],
      errorHandler: nameMoreFields(webhooks.refusedFields),
      schema: {
        operationId: 'webhook_endpoints.create',
        tags,
        summary: 'Register an address for webhooks',
        description:
          'Events are sent there from now on, signed with the `secret`, which is shown this once. The address must be public and https.',
        body: CreateEndpoint,
        response: { 201: EndpointWithSecret },
      },
      // Names are looked up before there is a transaction to wait for them.
      before: ({ body }) => webhooks.checkUrl(body.url),
    },
    async (request, tx) => {
      const tenant = await gates.holdCallerAndTenant(request, tx);
      const { url, events = null, description = null } = request.body;
      const created = await webhooks.create(tx, tenant, { url, events, description });
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
        description: 'Newest first.',
        querystring: listQuery(),
        response: { 200: objectListSchema(EndpointSchema) },
      },
    },
    ({ query, caller }) =>
      objectListPage(query, {
        cursor: endpointCursor,
        read: ({ from, limit }) => webhooks.list(caller.tenant, { beforeId: from?.[0] ?? null, limit }),
        positionOf: ({ id }) => [id],
        show: endpointToApi,
      }),
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
        description: 'Without its secret, which is shown only when it is made.',
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
      codes: ['webhook_url_refused'],
      errorHandler: nameMoreFields(webhooks.refusedFields),
      schema: {
        operationId: 'webhook_endpoints.update',
        tags,
        summary: 'Change a webhook endpoint',
        description:
          'What is left out stays. `status: "enabled"` switches one on again that was switched off.',
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
      const changed = await webhooks.update(tenant.mode, request.params.id, {
        patch: request.body as EndpointPatch,
        // Body and look-up may take long, and a key that has ended meanwhile must not lead the events elsewhere.
        hold: (tx) => gates.holdCallerAndTenant(request, tx),
      });
      return endpointToApi(changed);
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
        description: 'Nothing is sent there any more; what waited is abandoned.',
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

function registerEndpointActions(
  routes: PaymentsRoutes,
  { webhooks, gates }: WebhookRouteDependencies,
): void {
  routes.post(
    '/v1/webhook_endpoints/:id/rotate_secret',
    {
      access: 'webhooks:write',
      rate: 'key',
      audit: { action: 'webhook_endpoint.secret_rotated', targetParam: 'id' },
      idempotency: 'keyed',
      codes: ['limit_reached'],
      schema: {
        operationId: 'webhook_endpoints.rotate_secret',
        tags,
        summary: 'Make a new secret',
        description:
          'For 24 hours both sign: each webhook has two signatures, and either secret verifies it. The new one is shown this once.',
        params: IdParams,
        response: { 200: EndpointWithSecret },
      },
    },
    async (request, tx) => {
      const tenant = await gates.holdCallerAndTenant(request, tx);
      const rotated = await webhooks.rotateSecret(tx, tenant, request.params.id);
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
      codes: ['state_conflict'],
      schema: {
        operationId: 'webhook_endpoints.test',
        tags,
        summary: 'Send a test event to this endpoint',
        description:
          'A `webhook_endpoint.test`, whatever types the endpoint wants. The answer is its delivery.',
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
        description: 'Newest first, with every try and what the endpoint answered.',
        params: IdParams,
        querystring: listQuery({
          event_id: Type.Optional(
            Type.String({ maxLength: ID_LENGTH_MAX, description: 'What became of one event here.' }),
          ),
        }),
        response: { 200: objectListSchema(DeliverySchema) },
      },
    },
    ({ query, params, caller }) =>
      objectListPage(query, {
        cursor: deliveryCursor,
        read: ({ from, limit }) =>
          webhooks.listDeliveries(caller.tenant, params.id, {
            ...{ eventId: query.event_id ?? null, beforeId: from?.[0] ?? null, limit },
          }),
        positionOf: ({ id }) => [id],
        show: deliveryToApi,
      }),
  );

  routes.post(
    '/v1/webhook_deliveries/:id/retry',
    {
      access: 'webhooks:write',
      rate: 'key',
      audit: { action: 'webhook_delivery.retried', targetParam: 'id' },
      idempotency: 'keyed',
      codes: ['state_conflict'],
      schema: {
        operationId: 'webhook_deliveries.retry',
        tags,
        summary: 'Try a delivery again now',
        description: 'Also one that was given up, or that had arrived; the `webhook-id` stays the same.',
        params: idParams(deliveryExample.id),
        response: { 202: DeliverySchema },
      },
    },
    async (request, tx) => {
      const delivery = await webhooks.retry(tx, request.caller.tenant, request.params.id);
      return { status: 202, body: deliveryToApi(delivery) };
    },
  );
}

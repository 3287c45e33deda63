import { cursorCodec, listPage, listQuery, listSchema, noteAudit, type PageQuery } from '@libs/http';
import Type from 'typebox';
import type { Access } from '../customers/access.ts';
import type { CustomerService } from '../customers/service.ts';
import { errors } from '../errors.ts';
import { EVENT_TYPES } from '../events/event.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import type { Webhooks } from './service.ts';
import { configToApi, DELIVERY_STATUSES, deadLetterToApi, deliveryId, deliveryToApi } from './webhook.ts';

export interface WebhookRoutesDependencies {
  webhooks: Webhooks;
  access: Pick<Access, 'sessionOf'>;
  /** For admins, who may ask for customers that do not exist. */
  customers: Pick<CustomerService, 'find'>;
}

const Timestamp = Type.String({ format: 'date-time' });
const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const EventName = Type.Enum([...EVENT_TYPES], { type: 'string' });

const NewConfig = Type.Object(
  {
    webhook_url: Type.String({
      description: 'A public https address.',
      examples: ['https://example.com/hooks'],
    }),
    events: Type.Optional(
      Type.Array(EventName, {
        minItems: 1,
        uniqueItems: true,
        description: 'What to be told of; all of it without this.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'ConfigureWebhook',
    examples: [{ webhook_url: 'https://example.com/hooks', events: ['whatsapp.message.received'] }],
  },
);

const configFields = {
  webhook_url: Type.String(),
  events: Type.Array(EventName),
  created_at: Timestamp,
};

const Attempts = Type.Array(
  Type.Object(
    {
      at: Timestamp,
      status: nullable(Type.Integer({ description: 'The HTTP status, where there was an answer.' })),
      error: nullable(Type.String()),
      duration_ms: Type.Integer(),
      response: Type.Optional(Type.String({ description: 'How the answer to a try that failed begins.' })),
    },
    { title: 'DeliveryAttempt' },
  ),
);
const attempts = [{ at: '2026-11-16T15:04:06.000Z', status: 200, error: null, duration_ms: 84 }];
const configExample = {
  webhook_url: 'https://example.com/hooks',
  events: ['whatsapp.message.received'],
  created_at: '2026-11-16T15:04:05.000Z',
};
const deliveryExample = {
  id: 'dlv_01kaf3v6w8q2m5x9t7c4b1n0ze',
  event_id: 'evt_01kaf3v6w8q2m5x9t7c4b1n0ze',
  event_type: 'whatsapp.message.received',
  status: 'delivered',
  attempts,
  next_attempt_at: null,
};

const DeliverySchema = Type.Object(
  {
    id: Type.String(),
    event_id: Type.String({ description: 'Also the `webhook-id` of every try.' }),
    event_type: Type.String(),
    status: Type.Enum([...DELIVERY_STATUSES], {
      type: 'string',
      description: '`dead`: every retry was used up. `failed`: the webhook was removed before it arrived.',
    }),
    attempts: Attempts,
    next_attempt_at: nullable(Timestamp),
  },
  { title: 'Delivery', description: 'The way of one event to the webhook.', examples: [deliveryExample] },
);

const DeliveryDetails = Type.Object(
  {
    ...DeliverySchema.properties,
    request: Type.Object({
      url: nullable(Type.String({ description: 'Where the last try went; null before the first.' })),
      body: Type.Unknown({
        description: 'What is sent, the same at every try; null once it is kept no longer.',
      }),
    }),
  },
  {
    title: 'DeliveryDetails',
    examples: [
      {
        ...deliveryExample,
        request: {
          url: configExample.webhook_url,
          body: { type: 'webhook.test', timestamp: '2026-11-16T15:04:05.000Z', data: {} },
        },
      },
    ],
  },
);

const DeadLetterSchema = Type.Object(
  {
    id: Type.String(),
    customer_id: Type.String(),
    event_id: Type.String(),
    event_type: Type.String(),
    webhook_url: Type.String(),
    payload: Type.Unknown({ description: 'The body that could not be delivered.' }),
    attempts: Attempts,
    failed_at: Timestamp,
    expires_at: Timestamp,
  },
  {
    title: 'DeadLetter',
    description: 'What could not be delivered after the last retry.',
    examples: [
      {
        id: 'dlq_01kaf3v6w8q2m5x9t7c4b1n0ze',
        customer_id: 'cus_01kaf3v6w8q2m5x9t7c4b1n0ze',
        event_id: deliveryExample.event_id,
        event_type: 'webhook.test',
        webhook_url: configExample.webhook_url,
        payload: { type: 'webhook.test', timestamp: '2026-11-16T15:04:05.000Z', data: {} },
        attempts: [{ at: '2026-11-16T15:04:06.000Z', status: 500, error: null, duration_ms: 84 }],
        failed_at: '2026-11-16T15:04:30.000Z',
        expires_at: '2026-11-23T15:04:30.000Z',
      },
    ],
  },
);
const DeadLetterCustomer = Type.Object(
  { customer_id: Type.String(), count: Type.Integer(), newest_at: Timestamp },
  {
    title: 'DeadLetterCustomer',
    examples: [
      {
        ...{ customer_id: 'cus_01kaf3v6w8q2m5x9t7c4b1n0ze', count: 3 },
        newest_at: '2026-11-16T15:04:30.000Z',
      },
    ],
  },
);
const ConfigSchema = Type.Object(
  { ...configFields, last_delivery: nullable(DeliverySchema) },
  { title: 'WebhookConfig', examples: [{ ...configExample, last_delivery: deliveryExample }] },
);
const NewConfigSchema = Type.Object(
  { ...configFields, webhook_secret: Type.String({ description: 'Shown this once.' }) },
  {
    title: 'NewWebhookConfig',
    examples: [{ ...configExample, webhook_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
  },
);

const idParams = (prefix: string) =>
  Type.Object({
    id: Type.String({
      pattern: `^${prefix}_[0-9a-z]{26}$`,
      examples: [`${prefix}_01kaf3v6w8q2m5x9t7c4b1n0ze`],
    }),
  });
const deliveryCursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^dlv_[0-9a-z]{26}$' }) }));
const deadLetterCursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^dlq_[0-9a-z]{26}$' }) }));
const tags = ['Webhooks'];

export function registerWebhookRoutes(routes: ToolhubRoutes, deps: WebhookRoutesDependencies): void {
  registerConfig(routes, deps);
  registerTest(routes, deps);
  registerLists(routes, deps);
  registerReplay(routes, deps);
}

function registerConfig(routes: ToolhubRoutes, deps: WebhookRoutesDependencies): void {
  const { webhooks, access } = deps;
  routes.post(
    '/api/webhooks/config',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'webhook.configured' },
      idempotency: 'repeats',
      codes: ['webhook_url_refused'],
      schema: {
        operationId: 'webhook.configure',
        tags,
        summary: 'Set up the webhook',
        description:
          'Takes the place of the one before. The secret is made anew each time and shown this once.',
        body: NewConfig,
        response: { 201: NewConfigSchema },
      },
    },
    async (request, reply) => {
      const { customerId } = access.sessionOf(request);
      const { webhook_url: webhookUrl, events = null } = request.body;
      noteAudit(request, { target: hostOf(webhookUrl) });
      const made = await webhooks.configure({ customerId, webhookUrl, events });
      return reply.code(201).send({ ...configToApi(made.config), webhook_secret: made.secret });
    },
  );

  routes.get(
    '/api/webhooks/config',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      codes: ['not_found'],
      schema: {
        operationId: 'webhook.get',
        tags,
        summary: 'Show the webhook',
        description: 'With the last delivery, and without the secret.',
        response: { 200: ConfigSchema },
      },
    },
    async (request) => {
      const found = await webhooks.find(access.sessionOf(request).customerId);
      if (found === undefined) throw noWebhook();
      const { config, lastDelivery } = found;
      return { ...configToApi(config), last_delivery: lastDelivery && deliveryToApi(lastDelivery) };
    },
  );

  routes.delete(
    '/api/webhooks/config',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'webhook.removed' },
      idempotency: 'natural',
      codes: ['not_found'],
      schema: {
        operationId: 'webhook.remove',
        tags,
        summary: 'Remove the webhook',
        description: 'What still waits to be sent is given up; dead letters stay for their time.',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { customerId } = access.sessionOf(request);
      if (!(await webhooks.remove(customerId))) throw noWebhook();
      return reply.code(204).send(null);
    },
  );
}

function registerTest(routes: ToolhubRoutes, deps: WebhookRoutesDependencies): void {
  const { webhooks, access } = deps;
  routes.post(
    '/api/webhooks/test',
    {
      access: 'account:write',
      rate: 'dear',
      audit: { action: 'webhook.tested' },
      idempotency: 'repeats',
      codes: ['not_found'],
      schema: {
        operationId: 'webhook.test',
        tags,
        summary: 'Send a test event',
        description: 'A `webhook.test`, whatever types the webhook wants. The answer is its delivery.',
        response: { 202: DeliverySchema },
      },
    },
    async (request, reply) => {
      const { customerId } = access.sessionOf(request);
      const delivery = await webhooks.sendTest(customerId);
      return reply.code(202).send(deliveryToApi(delivery));
    },
  );
}

function registerLists(
  routes: ToolhubRoutes,
  { webhooks, access, customers }: WebhookRoutesDependencies,
): void {
  routes.get(
    '/api/webhooks/deliveries',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'webhook.list_deliveries',
        tags,
        summary: 'What was sent to the webhook',
        description: 'Newest first, with every try and what came back.',
        querystring: listQuery(),
        response: { 200: listSchema(DeliverySchema) },
      },
    },
    (request) => {
      const { customerId } = access.sessionOf(request);
      return listPage(request.query, {
        cursor: deliveryCursor,
        read: ({ from, limit }) => webhooks.listDeliveries(customerId, { beforeId: from?.id, limit }),
        positionOf: ({ id }) => ({ id }),
        show: deliveryToApi,
      });
    },
  );

  const listDeadLetters = (customerId: string, query: PageQuery) =>
    listPage(query, {
      cursor: deadLetterCursor,
      read: ({ from, limit }) =>
        webhooks.listDeadLetters(customerId, { beforeId: from && deliveryId(from.id), limit }),
      positionOf: ({ id }) => ({ id }),
      show: deadLetterToApi,
    });

  routes.get(
    '/api/webhooks/deliveries/:id',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'webhook.get_delivery',
        tags,
        summary: 'One delivery',
        description: 'With what is sent, and what came back at each try.',
        params: idParams('dlv'),
        response: { 200: DeliveryDetails },
      },
    },
    async (request) => {
      const { customerId } = access.sessionOf(request);
      const found = await webhooks.findDelivery(customerId, request.params.id);
      if (found === undefined) throw errors.not_found({ detail: 'There is no such delivery.' });
      const { delivery, body } = found;
      return { ...deliveryToApi(delivery), request: { url: delivery.url, body } };
    },
  );

  routes.get(
    '/api/webhooks/dlq',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'webhook.list_dead_letters',
        tags,
        summary: 'Dead letters',
        description: 'What every retry failed for, newest first; kept for 7 days.',
        querystring: listQuery(),
        response: { 200: listSchema(DeadLetterSchema) },
      },
    },
    (request) => listDeadLetters(access.sessionOf(request).customerId, request.query),
  );

  routes.get(
    '/api/admin/webhooks/dlq',
    {
      access: 'admin',
      rate: 'none',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_dead_letter_customers',
        tags: ['Admin'],
        summary: 'Customers with dead letters',
        description: 'The hundred whose deliveries were given up last, with how many.',
        response: {
          200: Type.Object({ data: Type.Array(DeadLetterCustomer) }, { title: 'DeadLetterCustomerList' }),
        },
      },
    },
    async () => ({
      data: (await webhooks.customersWithDeadLetters()).map(({ customerId, count, newestAt }) => ({
        ...{ customer_id: customerId, count, newest_at: newestAt.toISOString() },
      })),
    }),
  );

  routes.get(
    '/api/admin/webhooks/dlq/:customerId',
    {
      access: 'admin',
      rate: 'none',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_dead_letters',
        tags: ['Admin'],
        summary: "A customer's dead letters",
        description: 'Newest first; kept for 7 days.',
        params: Type.Object({
          customerId: Type.String({
            pattern: '^cus_[0-9a-z]{26}$',
            examples: ['cus_01kaf3v6w8q2m5x9t7c4b1n0ze'],
          }),
        }),
        querystring: listQuery(),
        response: { 200: listSchema(DeadLetterSchema) },
      },
    },
    async (request) => {
      const { customerId } = request.params;
      if ((await customers.find(customerId)) === undefined)
        throw errors.not_found({ detail: 'There is no such customer.' });
      return listDeadLetters(customerId, request.query);
    },
  );
}

function registerReplay(routes: ToolhubRoutes, deps: WebhookRoutesDependencies): void {
  const { webhooks, access } = deps;
  routes.post(
    '/api/webhooks/dlq/:id/replay',
    {
      access: 'account:write',
      rate: 'dear',
      audit: { action: 'webhook.replayed', targetParam: 'id' },
      idempotency: 'repeats',
      codes: ['webhook_not_configured'],
      schema: {
        operationId: 'webhook.replay',
        tags,
        summary: 'Send a dead letter again',
        description: 'Starts the retries over, under the same `webhook-id`.',
        params: idParams('dlq'),
        response: { 202: DeliverySchema },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const { customerId } = access.sessionOf(request);
      const delivery = await webhooks.replay(customerId, id);
      if (delivery === undefined) throw errors.not_found({ detail: 'There is no such dead letter.' });
      return reply.code(202).send(deliveryToApi(delivery));
    },
  );
}

/** Paths and queries of addresses may hold secrets of the receiver: the log names the host alone. */
function hostOf(address: string): string | null {
  return URL.canParse(address) ? new URL(address).host : null;
}

function noWebhook(): Error {
  return errors.not_found({ detail: 'There is no webhook.' });
}

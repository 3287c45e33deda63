import { type App, cursorCodec, listQuery, listSchema, toPage } from '@libs/http';
import { AppError } from '@libs/runtime';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { actorOf, type Outcome } from '../audit/entry.ts';
import type { AuditService } from '../audit/service.ts';
import type { Access } from '../customers/access.ts';
import type { CustomerService } from '../customers/service.ts';
import { errors } from '../errors.ts';
import { EVENT_TYPES } from '../events/event.ts';
import type { DeliveryPage, Webhooks } from './service.ts';
import { configToApi, DELIVERY_STATUSES, deadLetterToApi, deliveryId, deliveryToApi } from './webhook.ts';

export interface WebhookRoutesDependencies {
  webhooks: Webhooks;
  access: Pick<Access, 'customer' | 'sessionOf' | 'admin'>;
  audit: Pick<AuditService, 'record'>;
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
  { additionalProperties: false },
);

const configFields = {
  webhook_url: Type.String(),
  events: Type.Array(EventName),
  created_at: Timestamp,
};

const Attempts = Type.Array(
  Type.Object({
    at: Timestamp,
    status: nullable(Type.Integer({ description: 'The HTTP status, where there was an answer.' })),
    error: nullable(Type.String()),
    duration_ms: Type.Integer(),
  }),
);

const DeliverySchema = Type.Object({
  id: Type.String(),
  event_id: Type.String({ description: 'Also the `webhook-id` of every try.' }),
  event_type: Type.String(),
  status: Type.Enum([...DELIVERY_STATUSES], {
    type: 'string',
    description: '`dead`: every retry was used up. `failed`: the webhook was removed before it arrived.',
  }),
  attempts: Attempts,
  next_attempt_at: nullable(Timestamp),
});

const DeadLetterSchema = Type.Object({
  id: Type.String(),
  customer_id: Type.String(),
  event_id: Type.String(),
  event_type: Type.String(),
  webhook_url: Type.String(),
  payload: Type.Unknown({ description: 'The body that could not be delivered.' }),
  attempts: Attempts,
  failed_at: Timestamp,
  expires_at: Timestamp,
});

const idParams = (prefix: string) =>
  Type.Object({ id: Type.String({ pattern: `^${prefix}_[0-9a-z]{26}$` }) });
const deliveryCursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^dlv_[0-9a-z]{26}$' }) }));
const deadLetterCursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^dlq_[0-9a-z]{26}$' }) }));
const tags = ['Webhooks'];

export function registerWebhookRoutes(app: App, deps: WebhookRoutesDependencies): void {
  registerConfig(app, deps);
  registerTest(app, deps);
  registerLists(app, deps);
  registerReplay(app, deps);
}

function registerConfig(app: App, deps: WebhookRoutesDependencies): void {
  const { webhooks, access } = deps;
  app.post(
    '/api/webhooks/config',
    {
      onRequest: access.customer('write'),
      schema: {
        tags,
        summary: 'Set up the webhook',
        description:
          'Takes the place of the one before. The secret is made anew each time and shown this once.',
        body: NewConfig,
        response: {
          201: Type.Object({
            ...configFields,
            webhook_secret: Type.String({ description: 'Shown this once.' }),
          }),
        },
      },
    },
    async (request, reply) => {
      const { customerId } = access.sessionOf(request);
      const { webhook_url: webhookUrl, events = null } = request.body;
      const made = await audited(
        request,
        deps,
        { action: 'webhook.configured', target: hostOf(webhookUrl) },
        () => webhooks.configure({ customerId, webhookUrl, events }),
      );
      return reply.code(201).send({ ...configToApi(made.config), webhook_secret: made.secret });
    },
  );

  app.get(
    '/api/webhooks/config',
    {
      onRequest: access.customer('read'),
      schema: {
        tags,
        summary: 'Show the webhook',
        response: { 200: Type.Object({ ...configFields, last_delivery: nullable(DeliverySchema) }) },
      },
    },
    async (request) => {
      const found = await webhooks.find(access.sessionOf(request).customerId);
      if (found === undefined) throw noWebhook();
      const { config, lastDelivery } = found;
      return { ...configToApi(config), last_delivery: lastDelivery && deliveryToApi(lastDelivery) };
    },
  );

  app.delete(
    '/api/webhooks/config',
    {
      onRequest: access.customer('write'),
      schema: {
        tags,
        summary: 'Remove the webhook',
        description: 'What still waits to be sent is given up; dead letters stay for their time.',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { customerId } = access.sessionOf(request);
      await audited(request, deps, { action: 'webhook.removed', target: null }, async () => {
        if (!(await webhooks.remove(customerId))) throw noWebhook();
      });
      return reply.code(204).send(null);
    },
  );
}

function registerTest(app: App, deps: WebhookRoutesDependencies): void {
  const { webhooks, access } = deps;
  app.post(
    '/api/webhooks/test',
    {
      onRequest: access.customer('write'),
      schema: { tags, summary: 'Send a test event', response: { 202: DeliverySchema } },
    },
    async (request, reply) => {
      const { customerId } = access.sessionOf(request);
      const delivery = await audited(request, deps, { action: 'webhook.tested', target: null }, () =>
        webhooks.sendTest(customerId),
      );
      return reply.code(202).send(deliveryToApi(delivery));
    },
  );
}

function registerLists(app: App, { webhooks, access, customers }: WebhookRoutesDependencies): void {
  app.get(
    '/api/webhooks/deliveries',
    {
      onRequest: access.customer('read'),
      schema: {
        tags,
        summary: 'What was sent to the webhook, newest first',
        querystring: listQuery(),
        response: { 200: listSchema(DeliverySchema) },
      },
    },
    async (request) => {
      const { limit } = request.query;
      const beforeId = deliveryCursor.decode(request.query.cursor)?.id;
      const { customerId } = access.sessionOf(request);
      const rows = await webhooks.listDeliveries(customerId, { beforeId, limit: limit + 1 });
      const page = toPage(rows, { limit, cursorOf: ({ id }) => deliveryCursor.encode({ id }) });
      return { ...page, data: page.data.map(deliveryToApi) };
    },
  );

  async function listDeadLetters(customerId: string, query: { limit: number; cursor?: string }) {
    const { limit } = query;
    const last = deadLetterCursor.decode(query.cursor)?.id;
    const page: DeliveryPage = { beforeId: last && deliveryId(last), limit: limit + 1 };
    const letters = await webhooks.listDeadLetters(customerId, page);
    const shown = toPage(letters, { limit, cursorOf: ({ id }) => deadLetterCursor.encode({ id }) });
    return { ...shown, data: shown.data.map(deadLetterToApi) };
  }

  app.get(
    '/api/webhooks/dlq',
    {
      onRequest: access.customer('read'),
      schema: {
        tags,
        summary: 'Dead letters, newest first; they are kept for 7 days',
        querystring: listQuery(),
        response: { 200: listSchema(DeadLetterSchema) },
      },
    },
    (request) => listDeadLetters(access.sessionOf(request).customerId, request.query),
  );

  app.get(
    '/api/admin/webhooks/dlq/:customerId',
    {
      onRequest: access.admin,
      schema: {
        tags: ['Admin'],
        summary: "A customer's dead letters, newest first",
        params: Type.Object({ customerId: Type.String({ pattern: '^cus_[0-9a-z]{26}$' }) }),
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

function registerReplay(app: App, deps: WebhookRoutesDependencies): void {
  const { webhooks, access } = deps;
  app.post(
    '/api/webhooks/dlq/:id/replay',
    {
      onRequest: access.customer('write'),
      schema: {
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
      const delivery = await audited(request, deps, { action: 'webhook.replayed', target: id }, async () => {
        const replayed = await webhooks.replay(customerId, id);
        if (replayed === undefined) throw errors.not_found({ detail: 'There is no such dead letter.' });
        return replayed;
      });
      return reply.code(202).send(deliveryToApi(delivery));
    },
  );
}

/** Does the change and records how it went. */
async function audited<Result>(
  request: FastifyRequest,
  { access, audit }: WebhookRoutesDependencies,
  { action, target }: { action: string; target: string | null },
  change: () => Promise<Result>,
): Promise<Result> {
  const session = access.sessionOf(request);
  const record = (outcome: Outcome) =>
    void audit.record([
      {
        customerId: session.customerId,
        actor: actorOf(session),
        action,
        target,
        outcome,
        ip: request.ip,
        requestId: request.id,
      },
    ]);
  try {
    const result = await change();
    record('success');
    return result;
  } catch (error) {
    record(error instanceof AppError ? 'refused' : 'failure');
    throw error;
  }
}

/** Paths and queries of addresses may hold secrets of the receiver: the log names the host alone. */
function hostOf(address: string): string | null {
  return URL.canParse(address) ? new URL(address).host : null;
}

function noWebhook(): Error {
  return errors.not_found({ detail: 'There is no webhook.' });
}

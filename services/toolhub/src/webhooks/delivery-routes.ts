import { cursorCodec, listPage, listQuery, listSchema, noteAudit, type PageQuery } from '@libs/http';
import Type from 'typebox';
import type { Access } from '../customers/access.ts';
import { mayReadMessages } from '../customers/identity.ts';
import type { CustomerService } from '../customers/service.ts';
import { errors } from '../errors.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import { DeadLetterCustomer, DeadLetterSchema, DeliveryDetails, DeliverySchema } from './schemas.ts';
import type { Webhooks } from './service.ts';
import { deadLetterToApi, deliveryId, deliveryToApi, type UnreachedCustomer } from './webhook.ts';

export interface WebhookRoutesDependencies {
  webhooks: Webhooks;
  access: Pick<Access, 'sessionOf' | 'standingOf'>;
  /** For admins, who may ask for customers that do not exist. */
  customers: Pick<CustomerService, 'find'>;
}

const idParam = (prefix: string) =>
  Type.String({
    pattern: `^${prefix}_[0-9a-z]{26}$`,
    examples: [`${prefix}_01kaf3v6w8q2m5x9t7c4b1n0ze`],
  });
const idParams = (prefix: string) => Type.Object({ id: idParam(prefix) });
const customerParam = { customerId: idParam('cus') };
const deliveryCursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^dlv_[0-9a-z]{26}$' }) }));
const deadLetterCursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^dlq_[0-9a-z]{26}$' }) }));
/** The end of the year 9999: any time before it is one to the database, too. */
const TIME_MS_MAX = 253_402_300_799_999;
const unreachedCursor = cursorCodec(
  Type.Object({ newest_ms: Type.Integer({ minimum: 0, maximum: TIME_MS_MAX }), id: idParam('cus') }),
);
const tags = ['Webhooks'];

/** What was sent, what was given up, and sending that again. */
export function registerDeliveryRoutes(routes: ToolhubRoutes, deps: WebhookRoutesDependencies): void {
  registerLists(routes, deps);
  registerReplay(routes, deps);
  registerReplayByAdmin(routes, deps);
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

  const listDeadLetters = (customerId: string, query: PageQuery, showsPayload = true) =>
    listPage(query, {
      cursor: deadLetterCursor,
      read: ({ from, limit }) =>
        webhooks.listDeadLetters(customerId, { beforeId: from && deliveryId(from.id), limit }),
      positionOf: ({ id }) => ({ id }),
      show: (letter) => deadLetterToApi(showsPayload ? letter : { ...letter, payload: null }),
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
      const session = access.sessionOf(request);
      const found = await webhooks.findDelivery(session.customerId, request.params.id);
      if (found === undefined) throw errors.not_found({ detail: 'There is no such delivery.' });
      const { delivery } = found;
      const body = mayReadMessages(session) ? found.body : null;
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
    (request) => {
      const session = access.sessionOf(request);
      return listDeadLetters(session.customerId, request.query, mayReadMessages(session));
    },
  );

  routes.get(
    '/api/admin/webhooks/dlq',
    {
      access: 'admin',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_dead_letter_customers',
        tags: ['Admin'],
        summary: 'Customers with dead letters',
        description: 'With how many, those first whose deliveries were given up last.',
        querystring: listQuery(),
        response: { 200: listSchema(DeadLetterCustomer) },
      },
    },
    async ({ query }) => {
      const { data, next_cursor } = await listPage(query, {
        cursor: unreachedCursor,
        read: ({ from, limit }) =>
          webhooks.customersWithDeadLetters({
            ...{ limit, after: from && { newestAt: new Date(from.newest_ms), customerId: from.id } },
          }),
        positionOf: ({ newestAt, customerId }) => ({ newest_ms: newestAt.getTime(), id: customerId }),
        show: (unreached) => unreached,
      });
      const named = async ({ customerId, count, newestAt }: UnreachedCustomer) => {
        const found = await customers.find(customerId);
        return {
          ...{ customer_id: customerId, count, newest_at: newestAt.toISOString() },
          customer: found === undefined ? null : { name: found.name, email: found.email },
        };
      };
      return { data: await Promise.all(data.map(named)), next_cursor };
    },
  );

  routes.get(
    '/api/admin/webhooks/dlq/:customerId',
    {
      access: 'admin',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_dead_letters',
        tags: ['Admin'],
        summary: "A customer's dead letters",
        description: 'Newest first; kept for 7 days.',
        params: Type.Object(customerParam),
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

function registerReplayByAdmin(routes: ToolhubRoutes, { webhooks }: WebhookRoutesDependencies): void {
  routes.post(
    '/api/admin/webhooks/dlq/:customerId/:id/replay',
    {
      access: 'admin',
      rate: 'api',
      audit: { action: 'webhook.replayed', targetParam: 'id' },
      idempotency: 'repeats',
      codes: ['webhook_not_configured'],
      schema: {
        operationId: 'admin.replay_dead_letter',
        tags: ['Admin'],
        summary: "Send a customer's dead letter again",
        description: 'Starts the retries over, under the same `webhook-id`, to the address of today.',
        params: Type.Object({ ...customerParam, id: idParam('dlq') }),
        response: { 202: DeliverySchema },
      },
    },
    async (request, reply) => {
      const { customerId, id } = request.params;
      const delivery = await webhooks.replay(customerId, id);
      if (delivery === undefined) throw errors.not_found({ detail: 'There is no such dead letter.' });
      noteAudit(request, { subject: customerId });
      return reply.code(202).send(deliveryToApi(delivery));
    },
  );
}

import { noteAudit } from '@libs/http';
import Type from 'typebox';
import { errors } from '../errors.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import { registerDeliveryRoutes, type WebhookRoutesDependencies } from './delivery-routes.ts';
import { ConfigSchema, DeliverySchema, NewConfig, NewConfigSchema } from './schemas.ts';
import { configToApi, deliveryToApi } from './webhook.ts';

const tags = ['Webhooks'];

export function registerWebhookRoutes(routes: ToolhubRoutes, deps: WebhookRoutesDependencies): void {
  registerConfig(routes, deps);
  registerTest(routes, deps);
  registerDeliveryRoutes(routes, deps);
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
      const session = access.sessionOf(request);
      const { webhook_url: webhookUrl, events = null } = request.body;
      noteAudit(request, { target: hostOf(webhookUrl) });
      const made = await webhooks.configure({
        ...{ customerId: session.customerId, webhookUrl, events },
        standing: access.standingOf(session),
      });
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

/** Paths and queries of addresses may hold secrets of the receiver: the log names the host alone. */
function hostOf(address: string): string | null {
  return URL.canParse(address) ? new URL(address).host : null;
}

function noWebhook(): Error {
  return errors.not_found({ detail: 'There is no webhook.' });
}

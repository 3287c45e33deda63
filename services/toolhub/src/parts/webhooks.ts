import { randomBytes } from 'node:crypto';
import type { ResolveHost } from '@libs/egress';
import { createLoggedOutage } from '@libs/runtime';
import { type ExportSection, pagesOf } from '../data-export/section.ts';
import type { EmitEvent } from '../events/event.ts';
import { createEmitEvent } from '../events/service.ts';
import { registerWebhookRoutes } from '../webhooks/routes.ts';
import type { DeliveryRules } from '../webhooks/rules.ts';
import { createWebhooks } from '../webhooks/service.ts';
import { configToApi, deliveryToApi } from '../webhooks/webhook.ts';
import type { Accounts } from './accounts.ts';
import type { Base, Part } from './base.ts';

/** How webhooks are looked up and retried; as the contract says unless told otherwise. */
export interface WebhookOptions {
  resolveHost?: ResolveHost;
  rules?: Partial<DeliveryRules>;
}

/** Events, and the webhooks that tell customers of them. */
export function addWebhooks(
  { app, config: settings, database, metrics, sealer, newId, now }: Base,
  { customers, access, routes }: Accounts,
  options: WebhookOptions | undefined,
): Part & { emitEvent: EmitEvent } {
  const webhooks = createWebhooks({
    ...{ database, metrics, sealer, newId, randomBytes, now },
    egressAllow: settings.egressAllow,
    onError: (error) => app.log.error({ err: error }, 'webhooks failed for a moment'),
    outage: createLoggedOutage(app.log, {
      began: 'webhooks cannot be sent or recorded; trying on',
      ended: 'webhooks are sent and recorded again',
    }),
    ...options,
  });
  registerWebhookRoutes(routes, { webhooks, access, customers });
  const config: ExportSection = {
    name: 'webhook',
    async one(customerId) {
      const found = await webhooks.find(customerId);
      return found && configToApi(found.config);
    },
  };
  const deliveries: ExportSection = {
    name: 'webhook_deliveries',
    async *pages(customerId) {
      const read = ({ before, limit }: { before: string | undefined; limit: number }) =>
        webhooks.listDeliveries(customerId, { beforeId: before, limit });
      for await (const page of pagesOf(read, ({ id }) => id)) yield page.map(deliveryToApi);
    },
  };
  return {
    emitEvent: createEmitEvent({ newId, now, deliver: webhooks.deliver }),
    ...webhooks.jobs,
    background: webhooks.dispatcher,
    exports: [config, deliveries],
    close: () => Promise.resolve(),
  };
}

import { createEgressPolicy, type ResolveHost } from '@libs/egress';
import { createDeliveryQueue } from '@libs/webhooks';
import { registerEventRoutes } from '../events/routes.ts';
import { createEventService, type EventService } from '../events/service.ts';
import { createEventStreams } from '../events/stream.ts';
import { createWebhookDispatcher } from '../webhooks/dispatcher.ts';
import type { DeliveryOffers } from '../webhooks/offers.ts';
import { registerWebhookRoutes } from '../webhooks/routes.ts';
import { DELIVERY_SCHEMA, type DeliveryRules, deliveryRules } from '../webhooks/rules.ts';
import { createSecretVault } from '../webhooks/secrets.ts';
import { createWebhooks, type Webhooks } from '../webhooks/service.ts';
import { createSubscriptionService, type SubscriptionService } from '../webhooks/subscriptions.ts';
import type { AccessPart } from './access.ts';
import type { Base, Part } from './base.ts';

/** How webhooks are looked up and retried; as the contract says unless told otherwise. */
export interface WebhookOptions {
  /** The system's resolver where absent. */
  resolveHost?: ResolveHost;
  rules?: Partial<DeliveryRules>;
}

export type WebhooksPart = Part & {
  events: EventService;
  subscriptions: SubscriptionService;
  webhooks: Webhooks;
};

/** Events, and the webhooks that tell of them. */
export function addWebhooks(
  base: Base,
  { gates, keys, notices }: Pick<AccessPart, 'gates' | 'keys' | 'notices'>,
  { offers, resolveHost, ...options }: WebhookOptions & { offers: DeliveryOffers },
): WebhooksPart {
  const { config, database, databases, sealer, newId, randomBytes, random, now } = base;
  const rules = { ...deliveryRules, ...options.rules };
  const queue = createDeliveryQueue({
    schema: DELIVERY_SCHEMA,
    ...{ now, newId, statusWhenAbandoned: rules.statusWhenAbandoned },
    ...(rules.keepUndeliveredMs === undefined ? {} : { keepUndeliveredMs: rules.keepUndeliveredMs }),
  });
  const policy = createEgressPolicy({ ...config.egress, ...(resolveHost ? { resolve: resolveHost } : {}) });
  const vault = createSecretVault(sealer, config.lostKeyIds);
  const subscriptions = createSubscriptionService(queue, offers);
  const events = createEventService({ database, databases, now, deliver: subscriptions.deliver });
  const webhooks = createWebhooks({
    ...{ databases, queue, vault, policy, events, notices, now, newId, randomBytes },
    holdTenant: keys.holdTenant,
  });
  const dispatcher = createWebhookDispatcher({
    ...{ database, webhooks, events, vault, policy, rules, now, random, metrics: base.metrics },
    onError: (error) => base.onError(error, { where: 'webhooks' }),
    outage: base.outageOf('webhooks'),
  });
  const streams = createEventStreams({
    ...{ databases, now, ending: base.app.drainSignal },
    onError: (error) => base.onError(error, { where: 'event streams' }),
  });
  return {
    ...{ events, subscriptions, webhooks },
    routes(_app, routes) {
      registerEventRoutes(routes, {
        ...{ events, streams },
        stillAllowed: (request) => gates.stillAllowed(request, 'events:read'),
      });
      registerWebhookRoutes(routes, { webhooks, gates });
    },
    handlers: [],
    cron: [],
    background: {
      async start() {
        await dispatcher.start();
        offers.to(dispatcher);
      },
      async stop() {
        offers.to(null);
        await dispatcher.stop();
      },
    },
    close: () => Promise.resolve(),
  };
}

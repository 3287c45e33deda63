import type { Database } from '@libs/db';
import { createPoster, type EgressPolicy } from '@libs/egress';
import type { Metrics, Outage } from '@libs/runtime';
import { idTimeMs } from '@libs/seal';
import { createDeliveryDispatcher, type DeliveryDispatcher } from '@libs/webhooks';
import { webhookBody } from '../events/event-json.ts';
import type { EventService } from '../events/service.ts';
import { validSecrets, type WebhookEndpoint } from './endpoint.ts';
import { DELIVERY_SCHEMA, type DeliveryRules } from './rules.ts';
import type { SecretVault } from './secrets.ts';
import type { Webhooks } from './service.ts';
import { findEnabledEndpoints } from './store.ts';

export interface WebhookDispatcherDependencies {
  database: Database;
  webhooks: Pick<Webhooks, 'disable' | 'lockAddresses'>;
  events: Pick<EventService, 'findTold'>;
  vault: SecretVault;
  policy: EgressPolicy;
  rules: DeliveryRules;
  metrics: Metrics;
  now: () => Date;
  random: () => number;
  onError: (error: unknown) => void;
  /** Lasts while the database is away. */
  outage: Outage;
}

export interface WebhookDispatcher
  extends Pick<DeliveryDispatcher, 'start' | 'stop' | 'offer' | 'poll' | 'stats'> {}

const USER_AGENT = 'Payments-Webhooks/1.0';
/** Nothing can be signed with it. */
const UNREADABLE_SECRET = '';

/** Sends what the queue holds, to the endpoints as they are at the time of each try. */
export function createWebhookDispatcher(deps: WebhookDispatcherDependencies): WebhookDispatcher {
  const { database, webhooks, vault, rules, now } = deps;
  const poster = createPoster(deps.policy);

  /** One endpoint whose secrets cannot be opened fails its own tries, and holds up no other's. */
  function secretsOf(endpoint: WebhookEndpoint, at: Date): string[] {
    const secrets = validSecrets(vault.openIfReadable(endpoint, endpoint.secretsSealed, deps.onError), at);
    return secrets.length === 0 ? [UNREADABLE_SECRET] : secrets.map(({ secret }) => secret);
  }

  const dispatcher = createDeliveryDispatcher({
    database,
    schema: DELIVERY_SCHEMA,
    poster,
    userAgent: USER_AGENT,
    rules,
    timeoutMs: rules.timeoutMs,
    disableAfterMs: rules.disableAfterMs,
    drainMs: rules.drainMs,
    keepDeliveredMs: rules.keepDeliveredMs,
    async loadEndpoints(refs) {
      const keys = refs.map(({ tenantId, endpointId }) => ({ tenantId, id: endpointId }));
      const at = now();
      return (await findEnabledEndpoints(database, keys)).map((endpoint) => ({
        tenantId: endpoint.tenantId,
        endpointId: endpoint.id,
        url: endpoint.url,
        secrets: secretsOf(endpoint, at),
      }));
    },
    async loadEvents(refs) {
      const keys = refs.map(({ tenantId, eventId }) => ({ tenantId, id: eventId }));
      return (await deps.events.findTold(keys)).map((event) => ({
        tenantId: event.tenantId,
        eventId: event.id,
        body: webhookBody(event),
      }));
    },
    metrics: { metrics: deps.metrics, madeAtMs: idTimeMs },
    hooks: { lockAddresses: webhooks.lockAddresses, onDisabled: webhooks.disable },
    now,
    random: deps.random,
    onError: deps.onError,
    outage: deps.outage,
  });
  return {
    start: dispatcher.start,
    offer: dispatcher.offer,
    poll: dispatcher.poll,
    stats: dispatcher.stats,
    async stop() {
      await dispatcher.stop();
      poster.destroy();
    },
  };
}

import type { Database } from '@libs/db';
import { createPoster, type EgressPolicy } from '@libs/egress';
import type { Metrics, Outage } from '@libs/runtime';
import { idTimeMs } from '@libs/seal';
import { createDeliveryDispatcher, type DeliveryDispatcher } from '@libs/webhooks';
import type { EventLog } from '../events/service.ts';
import { DELIVERY_SCHEMA, type DeliveryRules, ENDPOINT_ID } from './rules.ts';
import type { SecretVault } from './secrets.ts';
import { findConfigs, type StoredConfig } from './store.ts';
import { webhookBody } from './webhook.ts';

export interface WebhookDispatcherDependencies {
  database: Database;
  findEvents: EventLog['find'];
  vault: SecretVault;
  policy: EgressPolicy;
  rules: DeliveryRules;
  metrics?: Metrics;
  now: () => Date;
  onError: (error: unknown) => void;
  /** Lasts while the database is away; otherwise `onError` hears when that begins. */
  outage?: Outage;
}

export type WebhookDispatcher = Pick<DeliveryDispatcher, 'start' | 'stop' | 'poll' | 'sweep' | 'stats'>;

const USER_AGENT = 'Toolhub-Webhooks/1.0';
/** Nothing can be signed with it. */
const UNREADABLE_SECRET = '';

/** Sends what the queue holds, to the webhooks as they are at the time of each try. */
export function createWebhookDispatcher(deps: WebhookDispatcherDependencies): WebhookDispatcher {
  const { database, vault, rules, onError } = deps;
  const poster = createPoster(deps.policy);

  /** Whoever lost the key can still be helped: no secret fails the try, and its dead letter can be replayed later. */
  function openSecret(config: StoredConfig): string[] {
    try {
      return [vault.open(config.customerId, config.secretSealed)];
    } catch (error) {
      onError(error);
      return [UNREADABLE_SECRET];
    }
  }

  const dispatcher = createDeliveryDispatcher({
    database,
    schema: DELIVERY_SCHEMA,
    poster,
    userAgent: USER_AGENT,
    rules,
    timeoutMs: rules.timeoutMs,
    drainMs: rules.drainMs,
    keepDeliveredMs: rules.keepDeliveredMs,
    async loadEndpoints(refs) {
      const configs = await findConfigs(
        database,
        refs.map(({ tenantId }) => tenantId),
      );
      return configs.map((config) => ({
        tenantId: config.customerId,
        endpointId: ENDPOINT_ID,
        url: config.webhookUrl,
        secrets: openSecret(config),
      }));
    },
    async loadEvents(refs) {
      const keys = refs.map(({ tenantId, eventId }) => ({ customerId: tenantId, id: eventId }));
      return (await deps.findEvents(keys)).map((event) => ({
        tenantId: event.customerId,
        eventId: event.id,
        body: webhookBody(event),
      }));
    },
    ...(deps.metrics ? { metrics: { metrics: deps.metrics, madeAtMs: idTimeMs } } : {}),
    now: deps.now,
    // The schedule has no jitter, so nothing is drawn.
    random: () => 0,
    onError,
    outage: deps.outage,
  });

  return {
    start: dispatcher.start,
    poll: dispatcher.poll,
    sweep: dispatcher.sweep,
    stats: dispatcher.stats,
    async stop() {
      await dispatcher.stop();
      poster.destroy();
    },
  };
}

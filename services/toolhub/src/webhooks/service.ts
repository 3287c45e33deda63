import type { Database, Queryable } from '@libs/db';
import { checkUrlResolved, createEgressPolicy, type ResolveHost } from '@libs/egress';
import type { CronEntry, Handler } from '@libs/jobs';
import type { Metrics, Outage } from '@libs/runtime';
import type { NewId, RandomBytes, Sealer } from '@libs/seal';
import { createDeliveryQueue, type Delivery, type DeliveryQueue, newWebhookSecret } from '@libs/webhooks';
import type { Standing } from '../customers/standing.ts';
import { errors } from '../errors.ts';
import type { DeliverEvent, EventType } from '../events/event.ts';
import { createEventLog } from '../events/service.ts';
import { createWebhookDispatcher, type WebhookDispatcher } from './dispatcher.ts';
import { DELIVERY_SCHEMA, type DeliveryRules, deliveryRules, ENDPOINT_ID } from './rules.ts';
import { createSecretVault } from './secrets.ts';
import { deleteConfig, findConfig, listCustomersWithDeadLetters, lockConfig, putConfig } from './store.ts';
import {
  type DeadLetter,
  deliveryId,
  subscribesTo,
  toDeadLetter,
  type UnreachedCustomer,
  type UnreachedPage,
  type WebhookConfig,
  webhookBody,
} from './webhook.ts';

export interface WebhooksDependencies {
  database: Database;
  sealer: Sealer;
  /** `TOOLHUB_EGRESS_ALLOW`. */
  egressAllow: readonly string[];
  newId: NewId;
  randomBytes: RandomBytes;
  metrics?: Metrics;
  now: () => Date;
  onError: (error: unknown) => void;
  /** Lasts while the database is away; otherwise `onError` hears when that begins. */
  outage?: Outage;
  resolveHost?: ResolveHost;
  /** Other times than the contract's, for tests. */
  rules?: Partial<DeliveryRules>;
}

export interface DeliveryPage {
  beforeId: string | undefined;
  limit: number;
}

export interface Webhooks {
  /** Makes the customer's webhook, in place of the one before. The secret is given here and never again. */
  configure(input: {
    customerId: string;
    webhookUrl: string;
    events: readonly EventType[] | null;
    standing: Standing;
  }): Promise<{ config: WebhookConfig; secret: string }>;
  find(customerId: string): Promise<{ config: WebhookConfig; lastDelivery: Delivery | null } | undefined>;
  /** What still waits is given up. False when there was none. */
  remove(customerId: string): Promise<boolean>;
  /** Sends `webhook.test`, whatever the webhook subscribes to. */
  sendTest(customerId: string): Promise<Delivery>;
  listDeliveries(customerId: string, page: DeliveryPage): Promise<Delivery[]>;
  /** One delivery with the body that is sent; null for an event that is kept no longer. */
  findDelivery(customerId: string, id: string): Promise<{ delivery: Delivery; body: unknown } | undefined>;
  listDeadLetters(customerId: string, page: DeliveryPage): Promise<DeadLetter[]>;
  /** For the operator: whose deliveries were given up. */
  customersWithDeadLetters(page: UnreachedPage): Promise<UnreachedCustomer[]>;
  /** Starts over with a dead letter, under the same event id. Undefined when there is none of this id. */
  replay(customerId: string, deadLetterId: string): Promise<Delivery | undefined>;
  readonly deliver: DeliverEvent;
  /** Sends until `stop`, which waits for what is under way; any number of processes may do so. */
  readonly dispatcher: WebhookDispatcher;
  readonly jobs: { handlers: readonly Handler[]; cron: readonly CronEntry[] };
}

export function createWebhooks(deps: WebhooksDependencies): Webhooks {
  const { database, now, newId } = deps;
  const rules = { ...deliveryRules, ...deps.rules };
  const policy = createEgressPolicy({
    allow: deps.egressAllow,
    ...(deps.resolveHost === undefined ? {} : { resolve: deps.resolveHost }),
  });
  const vault = createSecretVault(deps.sealer);
  const log = createEventLog(deps);
  const queue = createDeliveryQueue({ ...rules, schema: DELIVERY_SCHEMA, now, newId });

  /** Looks names up, so it is called outside transactions. */
  async function requireUsable(webhookUrl: string): Promise<void> {
    const checked = await checkUrlResolved(webhookUrl, policy);
    if (checked.ok) return;
    const { reason, detail } = checked;
    throw errors.webhook_url_refused({
      detail: `This address is refused: ${detail}.`,
      errors: [{ pointer: '/webhook_url', code: reason, detail: `Refused: ${detail}.` }],
      extra: { reason },
    });
  }

  async function enqueue(
    tx: Queryable,
    event: { customerId: string; id: string; type: EventType },
  ): Promise<string> {
    const ref = { tenantId: event.customerId, endpointId: ENDPOINT_ID };
    const [id] = await queue.enqueue(tx, [{ ...ref, eventId: event.id, eventType: event.type }]);
    return id as string;
  }

  return {
    async configure({ customerId, webhookUrl, events, standing }) {
      await requireUsable(webhookUrl);
      const secret = newWebhookSecret(deps.randomBytes);
      const config = { customerId, webhookUrl, events, createdAt: now() };
      await database.transaction(async (tx) => {
        await standing(tx);
        await putConfig(tx, { ...config, secretSealed: vault.seal(customerId, secret) });
      });
      return { config, secret };
    },

    async find(customerId) {
      const config = await findConfig(database, customerId);
      if (config === undefined) return undefined;
      const [lastDelivery = null] = await queue.list(database, { tenantId: customerId, limit: 1 });
      return { config, lastDelivery };
    },

    remove(customerId) {
      return database.transaction(async (tx) => {
        const isGone = await deleteConfig(tx, customerId);
        if (isGone) await queue.abandonEndpoint(tx, { tenantId: customerId, endpointId: ENDPOINT_ID });
        return isGone;
      });
    },

    sendTest(customerId) {
      return database.transaction(async (tx) => {
        const config = await findConfig(tx, customerId);
        if (config === undefined) throw noWebhook();
        const type = 'webhook.test';
        const data = { message: 'This is a test of the webhook.', webhook_url: config.webhookUrl };
        const eventId = await log.record(tx, { customerId, type, data });
        const id = await enqueue(tx, { customerId, id: eventId, type });
        return (await queue.find(tx, { tenantId: customerId, id })) as Delivery;
      });
    },

    listDeliveries: (customerId, page) => queue.list(database, filterOf(customerId, page)),

    async findDelivery(customerId, id) {
      const delivery = await queue.find(database, { tenantId: customerId, id });
      if (delivery === undefined) return undefined;
      const [event] = await log.find([{ customerId, id: delivery.eventId }]);
      return { delivery, body: event === undefined ? null : JSON.parse(webhookBody(event)) };
    },

    async listDeadLetters(customerId, page) {
      const dead = await queue.listDead(database, filterOf(customerId, page));
      const events = await log.find(dead.map(({ eventId }) => ({ customerId, id: eventId })));
      const byId = new Map(events.map((event) => [event.id, event]));
      return dead.map((delivery) => toDeadLetter(delivery, byId.get(delivery.eventId)));
    },

    customersWithDeadLetters: (page) =>
      database.transaction((tx) => listCustomersWithDeadLetters(tx, page), {
        ...{ readOnly: true, report: true },
      }),

    replay: (customerId, deadLetterId) =>
      database.transaction((tx) => revive(tx, queue, { tenantId: customerId, id: deliveryId(deadLetterId) })),

    async deliver(tx, event) {
      const config = await findConfig(tx, event.customerId);
      if (config !== undefined && subscribesTo(config, event.type)) await enqueue(tx, event);
    },

    dispatcher: createWebhookDispatcher({ ...deps, findEvents: log.find, vault, policy, rules }),
    jobs: log.jobs,
  };
}

/** Of several that ask for one letter, the first gets it: the others come to the lock later and find it gone. */
async function revive(
  tx: Queryable,
  queue: DeliveryQueue,
  key: { tenantId: string; id: string },
): Promise<Delivery | undefined> {
  const config = await lockConfig(tx, key.tenantId);
  const delivery = await queue.find(tx, key);
  if (delivery?.status !== 'dead') return undefined;
  if (config === undefined) throw errors.webhook_not_configured();
  return queue.retry(tx, key);
}

function filterOf(customerId: string, { beforeId, limit }: DeliveryPage) {
  return { tenantId: customerId, limit, ...(beforeId === undefined ? {} : { beforeId }) };
}

function noWebhook(): Error {
  return errors.not_found({ detail: 'There is no webhook; set one up first.' });
}

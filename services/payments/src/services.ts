import { randomUUID } from 'node:crypto';
import type { Database } from '@libs/db';
import { createEgressPolicy, type EgressPolicy, type ResolveHost } from '@libs/egress';
import { postgresRateStore, RateLimits } from '@libs/http';
import type { NewId, RandomBytes, Sealer } from '@libs/seal';
import { createDeliveryQueue } from '@libs/webhooks';
import type { PaymentsConfig } from './config.ts';
import { createEventService, type EventService } from './events/service.ts';
import { createIdempotency, type Idempotency } from './idempotency/service.ts';
import { createInvalidations } from './invalidation/service.ts';
import { type Access, createAccess } from './keys/access.ts';
import { createKeyService, type KeyService } from './keys/service.ts';
import { createMoney, type Money } from './money.ts';
import { createDirectory, readParticipants } from './payment-methods/directory.ts';
import { createPaymentMethods, type PaymentMethods } from './payment-methods/service.ts';
import { hasOpenPayments } from './payments/store.ts';
import { createDeliveryOffers, type DeliveryOffers } from './webhooks/offers.ts';
import { DELIVERY_SCHEMA, type DeliveryRules, deliveryRules } from './webhooks/rules.ts';
import { createSecretVault, type SecretVault } from './webhooks/secrets.ts';
import { createWebhooks, type Webhooks } from './webhooks/service.ts';
import { createSubscriptionService, type SubscriptionService } from './webhooks/subscriptions.ts';

/** What `main.ts` brings from the outside world, and tests replace. */
export interface Dependencies {
  config: PaymentsConfig;
  database: Database;
  sealer: Sealer;
  adminToken: string;
  /** Real time; the organisation's own time is the sandbox clock's. */
  now: () => Date;
  newId: NewId;
  randomBytes: RandomBytes;
  /** Between 0 and 1. */
  random: () => number;
  onError: (error: unknown, context: { where: string }) => void;
  /** The system's resolver where absent. */
  resolveHost?: ResolveHost;
  /** Replaces single rules of delivery. */
  deliveryRules?: Partial<DeliveryRules>;
}

/** Every feature's service, made once per process and shared by the routes and the workers. */
export interface Services {
  access: Access;
  keys: KeyService;
  idempotency: Idempotency;
  events: EventService;
  subscriptions: SubscriptionService;
  paymentMethods: PaymentMethods;
  webhooks: Webhooks;
  money: Money;
  webhookParts: { vault: SecretVault; policy: EgressPolicy; rules: DeliveryRules; offers: DeliveryOffers };
  close(): Promise<void>;
}

export async function createServices(outside: Dependencies): Promise<Services> {
  const offers = createDeliveryOffers(outside.database);
  const dependencies = { ...outside, database: offers.database };
  const edge = await createEdge(dependencies);
  const features = createFeatures(dependencies, offers);
  const money = await createMoney(dependencies, features);
  return {
    ...edge,
    ...features,
    money,
    async close() {
      await money.close();
      await edge.close();
    },
  };
}

/** Who may come in, and how often. */
async function createEdge(dependencies: Dependencies): Promise<Pick<Services, 'access' | 'keys' | 'close'>> {
  const { config, database, onError } = dependencies;
  const processId = randomUUID();
  const nowMs = () => performance.now();
  const rateLimits = new RateLimits({
    store: postgresRateStore({
      query: (text, values) => database.query(text, values),
      schema: database.schema,
    }),
    processId,
    onError: (error) => onError(error, { where: 'rate limits' }),
  });
  await rateLimits.start();
  const invalidations = await createInvalidations({
    database,
    processId,
    nowMs,
    onError: (error) => onError(error, { where: 'invalidation' }),
  });
  const keys = createKeyService({ ...dependencies, invalidations, sandboxOn: config.sandbox.on, nowMs });
  await keys.ensureSandbox();
  const rates = {
    live: rateLimits.limit({ name: 'live', limit: config.rates.live }),
    test: rateLimits.limit({ name: 'test', limit: config.rates.test }),
  };
  return {
    keys,
    access: createAccess({ keys, rates }),
    async close() {
      await rateLimits.close();
      await invalidations.close();
    },
  };
}

function createFeatures(
  dependencies: Dependencies,
  offers: DeliveryOffers,
): Omit<Services, 'access' | 'keys' | 'money' | 'close'> {
  const { config, database, sealer, now, newId } = dependencies;
  const rules = { ...deliveryRules, ...dependencies.deliveryRules };
  const queue = createDeliveryQueue({
    schema: DELIVERY_SCHEMA,
    now,
    newId,
    statusWhenAbandoned: rules.statusWhenAbandoned,
    ...(rules.keepUndeliveredMs === undefined ? {} : { keepUndeliveredMs: rules.keepUndeliveredMs }),
  });
  const policy = createEgressPolicy({
    ...config.egress,
    ...(dependencies.resolveHost ? { resolve: dependencies.resolveHost } : {}),
  });
  const vault = createSecretVault(sealer);
  const subscriptions = createSubscriptionService(queue, offers);
  const events = createEventService({ database, now, deliver: subscriptions.deliver });
  const recordEvents = events.record;
  return {
    idempotency: createIdempotency({ database, sealer, now }),
    events,
    subscriptions,
    paymentMethods: createPaymentMethods({
      ...dependencies,
      directory: createDirectory(readParticipants()),
      recordEvents,
      hasOpenPayments,
    }),
    webhooks: createWebhooks({ ...dependencies, queue, vault, policy, recordEvents }),
    webhookParts: { vault, policy, rules, offers },
  };
}

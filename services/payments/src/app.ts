import { fileURLToPath } from 'node:url';
import { observePools } from '@libs/db';
import { type App, registerPages } from '@libs/http';
import { createBackground, createJobMetrics } from '@libs/jobs';
import { checkApiVersion } from './api-version.ts';
import { type AccessPart, addAccess } from './parts/access.ts';
import { type Base, type BaseDependencies, createBase, type Part } from './parts/base.ts';
import { addOverview } from './parts/overview.ts';
import { addPaymentMethods, type PaymentMethodsPart } from './parts/payment-methods.ts';
import { addPayments, type PaymentsPart } from './parts/payments.ts';
import { addRequestLog, type RequestLogPart } from './parts/request-log.ts';
import { addRotation } from './parts/rotation.ts';
import { addWebhooks, type WebhookOptions, type WebhooksPart } from './parts/webhooks.ts';
import type { Carrier } from './rails/rail.ts';
import type { OpenRails } from './rails/service.ts';
import { createRetention, type Sweep } from './retention/service.ts';
import { createPaymentsRoutes } from './route-rules.ts';
import { createDeliveryOffers } from './webhooks/offers.ts';

/** Several names are worked on at once, and beside them requests are served. */
const CONNECTIONS_PER_BATCH = 4;

export interface PaymentsAppDependencies extends BaseDependencies {
  /** Instead of the rails that lead to the networks. */
  rails?: readonly Carrier[];
  openRails?: OpenRails;
  webhooks?: WebhookOptions;
}

export interface Payments {
  app: App;
  /** What was built, for tests that look inside. */
  parts: {
    access: AccessPart;
    webhooks: WebhooksPart;
    methods: PaymentMethodsPart;
    payments: PaymentsPart;
    requestLog: RequestLogPart;
  };
  /** Starts to take jobs and to send webhooks; a process that only serves requests leaves it out. */
  startJobs(): Promise<void>;
  /** Takes nothing new; what is under way is finished, or told to end. Needs the database, so it comes before that is closed. */
  stopJobs(): Promise<void>;
  /** Gives everything back; call it once no request is open. */
  close(): Promise<void>;
}

/** The whole service from its parts; each part builds features from what they need, and nothing is global. */
export async function createPayments(options: PaymentsAppDependencies): Promise<Payments> {
  const offers = createDeliveryOffers();
  const base = await createBase(options);
  const access = await addAccess(base, {
    removeWebhooks: (tx, tenant) => webhooks.webhooks.removeAll(tx, tenant),
  });
  const webhooks = addWebhooks(base, access, { ...options.webhooks, offers });
  const methods = addPaymentMethods(base, { access, webhooks });
  const { rails, openRails } = options;
  const payments = await addPayments(base, { access, webhooks, methods, rails, openRails });
  const overview = addOverview(base, webhooks);
  const requestLog = addRequestLog(base);
  const retention = addRetention([
    ...[access.audit.sweep, access.idempotency.sweep, webhooks.events.sweep, overview.sweep],
    ...[requestLog.sweep, access.idempotency.sealFingerprints],
    ...payments.sweeps,
  ]);
  // In the order in which they end: what others lean on comes last.
  const parts: Part[] = [
    ...[payments, overview, methods, webhooks, requestLog, retention, addRotation(base), access],
  ];
  if (base.config.role !== 'worker') registerRoutes(base.app, { access, requestLog, parts });
  const { live, test } = base.databases;
  observePools(base.metrics, live === test ? { live } : { live, test });
  const background = addBackground(base, parts);
  return {
    app: base.app,
    parts: { access, webhooks, methods, payments, requestLog },
    startJobs: () => background.start(),
    stopJobs: () => background.stop(),
    async close() {
      // A start that failed half-way never came to drain.
      await background.stop();
      for (const part of parts) await part.close();
      await base.rates.close();
    },
  };
}

function addBackground({ database, metrics, config, now, ...base }: Base, parts: readonly Part[]) {
  const jobMetrics = createJobMetrics({
    ...{ metrics, database, handlers: parts.flatMap(({ handlers }) => handlers) },
    onError: (error) => base.onError(error, { where: 'metrics of the jobs' }),
  });
  return createBackground(parts, {
    ...{ database, metrics: jobMetrics, now },
    batchesMax: Math.max(1, Math.floor(config.database.connectionsMax / CONNECTIONS_PER_BATCH)),
    onError: (error, { job }) => base.onError(error, { where: `job ${job}` }),
    outage: base.outageOf('jobs'),
  });
}

/** What every route shares comes before the first of them. */
function registerRoutes(
  app: App,
  { access, requestLog, parts }: { access: AccessPart; requestLog: RequestLogPart; parts: readonly Part[] },
): void {
  app.decorateRequest('caller', null as never);
  app.decorateRequest('person', null);
  app.addHook('onRequest', checkApiVersion);
  requestLog.watch();
  const routes = createPaymentsRoutes(app, access);
  for (const part of parts) part.routes?.(app, routes);
  registerDashboard(app);
}

function registerDashboard(app: App): void {
  const folder = fileURLToPath(new URL('../dashboard/dist', import.meta.url));
  registerPages(app, { path: '/dashboard', folder, title: 'The Payments dashboard' });
  app.get('/', { schema: { hide: true }, config: { catchAll: true } }, async (_request, reply) =>
    reply.redirect('/dashboard', 302),
  );
}

/** What is kept for a promised time only. */
function addRetention(sweeps: readonly Sweep[]): Part {
  const { handler, cron } = createRetention(sweeps);
  return { handlers: [handler], cron: [cron], close: () => Promise.resolve() };
}

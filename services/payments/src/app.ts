import { type App, type AppOptions, createApp } from '@libs/http';
import { checkApiVersion } from './api-version.ts';
import { errors } from './errors.ts';
import { registerEventRoutes } from './events/routes.ts';
import { createReplyOnce } from './idempotency/reply.ts';
import { createAdminAccess } from './keys/access.ts';
import { registerAdminRoutes } from './keys/routes.ts';
import { registerLedgerRoutes } from './ledger/routes.ts';
import { methodToApi } from './payment-methods/method.ts';
import { registerPaymentMethodRoutes } from './payment-methods/routes.ts';
import { registerPaymentRoutes } from './payments/routes.ts';
import { registerQuarantineRoutes } from './quarantine/routes.ts';
import { registerRailRoutes } from './rails/routes.ts';
import { checkDatabase } from './readiness-store.ts';
import { registerReconciliationRoutes } from './reconciliation/routes.ts';
import { registerSandboxRoutes } from './sandbox/routes.ts';
import type { Dependencies, Services } from './services.ts';
import { registerWebhookRoutes } from './webhooks/routes.ts';

export const VERSION = '0.1.0';

export type BuildOptions = Pick<AppOptions, 'logDestination' | 'defaultMetrics'>;

/** The HTTP side of the service; a process that only works has health and metrics alone. */
export async function buildApp(
  dependencies: Dependencies,
  services: Services,
  options: BuildOptions = {},
): Promise<App> {
  const { config, database } = dependencies;
  const app = await createApp({
    ...options,
    name: 'payments',
    version: VERSION,
    publicUrl: config.http.publicUrl,
    logLevel: config.http.logLevel,
    errors,
    readiness: () => checkDatabase(database),
    openapi: {
      title: 'Payments API',
      description: 'Moves money between payment methods over RTP and ACH.',
      tags: [
        { name: 'Payments', description: 'Move money: create, follow, quote, cancel, list, export.' },
        { name: 'Payment methods', description: 'Bank accounts, and balances held here.' },
        { name: 'Events', description: 'Every change, in order, for 90 days.' },
        { name: 'Webhooks', description: 'Have events sent to you, signed.' },
        { name: 'Ledger', description: 'The books behind the payments, in double entry.' },
        { name: 'Sandbox', description: 'The clock, forced outcomes and test money of test mode.' },
        { name: 'Admin', description: 'For the operator: organisations, keys, reconciliation.' },
      ],
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'A key that begins with sk_test_ or sk_live_.',
        },
        adminToken: { type: 'http', scheme: 'bearer', description: "The operator's token." },
      },
      security: [{ apiKey: [] }],
    },
  });
  if (config.role !== 'worker') registerApi(app, dependencies, services);
  return app;
}

function registerApi(app: App, dependencies: Dependencies, services: Services): void {
  const { access, keys, events, paymentMethods, webhooks } = services;
  const { now } = dependencies;
  app.decorateRequest('caller', null as never);
  app.addHook('onRequest', checkApiVersion);
  const replyOnce = createReplyOnce(services.idempotency);

  const admin = createAdminAccess(dependencies.adminToken);
  registerAdminRoutes(app, { keys, admin, replyOnce, now });
  registerPaymentMethodRoutes(app, { methods: paymentMethods, access, replyOnce });
  registerEventRoutes(app, { events, access });
  registerWebhookRoutes(app, { webhooks, access, replyOnce });
  const { payments, sandbox, rails, quarantine, reconciliation } = services.money;
  registerPaymentRoutes(app, { payments, access, replyOnce });
  registerQuarantineRoutes(app, { admin, quarantine });
  registerReconciliationRoutes(app, { admin, reconciliation });
  registerRailRoutes(app, { access, getPayment: payments.get, messages: rails.messages });
  registerLedgerRoutes(app, { database: dependencies.database, access, now });
  registerSandboxRoutes(app, {
    sandbox,
    access,
    replyOnce,
    showMethod: async (tx, tenant, id) => {
      const { method, balance } = await paymentMethods.get(tenant, id, tx);
      return methodToApi(method, balance);
    },
  });
}

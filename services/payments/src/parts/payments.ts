import { createClocks } from '../clock/service.ts';
import { errors } from '../errors.ts';
import { createLedgerProofs } from '../ledger/proofs.ts';
import { registerLedgerRoutes } from '../ledger/routes.ts';
import { methodToApi } from '../payment-methods/method.ts';
import { createAcceptance } from '../payments/accept/accept.ts';
import { RecentResponses } from '../payments/accept/recent.ts';
import { createPaymentMetrics } from '../payments/metrics.ts';
import { createProcessing, type Processing } from '../payments/processing.ts';
import { createRefunds } from '../payments/refunds.ts';
import { decoratePaymentRequests, registerPaymentRoutes } from '../payments/routes.ts';
import { createPaymentsService, type PaymentsService } from '../payments/service.ts';
import { stopRefundsHandler } from '../payments/stop-refunds.ts';
import { createQuarantineResolving } from '../quarantine/resolving.ts';
import { registerQuarantineRoutes } from '../quarantine/routes.ts';
import { createQuarantine } from '../quarantine/service.ts';
import { registerRailInboundRoutes } from '../rails/inbound-routes.ts';
import type { RailMessages } from '../rails/messages.ts';
import type { Carrier } from '../rails/rail.ts';
import { registerRailRoutes } from '../rails/routes.ts';
import { createRails, type OpenRails } from '../rails/service.ts';
import { registerReconciliationRoutes } from '../reconciliation/routes.ts';
import { createReconciliation, withBooks } from '../reconciliation/service.ts';
import type { Sweep } from '../retention/service.ts';
import { createPaymentsRoutes } from '../route-rules.ts';
import { createRouting } from '../routing/service.ts';
import { ROUTING_TERMS } from '../routing/terms.ts';
import { createSandboxReset, type SandboxReset } from '../sandbox/reset.ts';
import { registerSandboxRoutes } from '../sandbox/routes.ts';
import { createSandboxService, type SandboxService } from '../sandbox/service.ts';
import type { AccessPart } from './access.ts';
import type { Base, Part } from './base.ts';
import type { PaymentMethodsPart } from './payment-methods.ts';
import type { WebhooksPart } from './webhooks.ts';

export type PaymentsPart = Part & {
  payments: PaymentsService;
  processing: Processing;
  resetting: SandboxReset;
  sandbox: SandboxService;
  messages: RailMessages;
  /** What of it is kept for a time only. */
  sweeps: readonly Sweep[];
};

interface Needs {
  access: AccessPart;
  webhooks: WebhooksPart;
  methods: PaymentMethodsPart;
  /** Instead of the rails that lead to the networks. */
  rails?: readonly Carrier[] | undefined;
  openRails?: OpenRails | undefined;
}

/** What moves money: payments, the rails that carry them, the books behind them, and the sandbox that plays with all. */
export async function addPayments(base: Base, needs: Needs): Promise<PaymentsPart> {
  const { database, now, newId } = base;
  const { events, subscriptions } = needs.webhooks;
  const { paymentMethods, reading } = needs.methods;
  const clocks = createClocks({ now });
  const quarantine = createQuarantine(base);
  const rails = await createRails({ ...base, paymentMethods, clocks, quarantine }, needs.openRails);
  const reconciliation = createReconciliation({ ...base, rails: withBooks(rails.all) });
  const proofs = createLedgerProofs(base);
  const carriers = needs.rails ?? rails.all;
  const routing = createRouting({ rails: carriers, terms: ROUTING_TERMS, isUp: rails.isUp });
  const shared = { database, routing, now, newId, findMethods: paymentMethods.find, clocks };
  const metrics = createPaymentMetrics(base.metrics);
  const processing = createProcessing({
    ...{ ...shared, metrics, rails: carriers, recordEvents: events.record },
    reopenBalances: paymentMethods.reopen,
  });
  const recent = { live: new RecentResponses(now), test: new RecentResponses(now) };
  const accept = createAcceptance({
    ...shared,
    ...{ metrics, recent },
    databases: base.databases,
    paymentMethods,
    subscriptions,
    areSeveral: () => base.rates.processes > 1,
  });
  const refunds = createRefunds({ reading, accept });
  const payments = createPaymentsService({
    ...{ database, routing, clocks, reading, accept, processing, paymentMethods, subscriptions },
  });
  const work = rails.work(processing);
  const sandbox = createSandboxService({
    ...{ clocks, now, newId, processing, database: base.databases.test },
    getPayment: payments.get,
    rails: work,
    meaningOf: rails.meaningOf,
    async getBalance(tx, tenant, id) {
      const { method } = await paymentMethods.get(tenant, id, tx);
      if (method.type !== 'balance') throw errors.not_a_balance();
      return method;
    },
  });
  const resolving = createQuarantineResolving({
    ...{ quarantine, rails: work, lockPayments: processing.lockPayments, now },
    findPayment: reading.find,
  });
  const resetting = createSandboxReset({
    ...{ database, clocks, now, keys: needs.access.keys, webhooks: needs.webhooks.webhooks },
  });
  return {
    ...{ sandbox, messages: rails.messages },
    ...{ payments, processing, resetting },
    sweeps: [resetting.sweep, quarantine.sweep, reconciliation.sweep],
    routes(app, routes) {
      decoratePaymentRequests(app);
      registerPaymentRoutes(routes, { payments, refunds, recent });
      registerQuarantineRoutes(routes, { quarantine, resolving });
      registerReconciliationRoutes(routes, reconciliation);
      registerRailInboundRoutes(app, {
        ...{ database, rails: rails.all },
        declare: (scope) => createPaymentsRoutes(scope, needs.access),
      });
      work.routes?.(routes);
      registerRailRoutes(routes, { getPayment: payments.get, messages: rails.messages });
      registerLedgerRoutes(routes, { databases: base.databases, now });
      registerSandboxRoutes(routes, {
        ...{ sandbox, resetting },
        showMethod: async (tx, tenant, id) => {
          const { method, balance } = await paymentMethods.get(tenant, id, tx);
          return methodToApi(method, balance);
        },
      });
    },
    handlers: [
      ...[processing.submitHandler, stopRefundsHandler({ database, processing })],
      ...[...work.handlers, reconciliation.handler, ...proofs.handlers],
    ],
    cron: [...work.cron, reconciliation.cron, proofs.cron],
    close: () => rails.close(),
  };
}

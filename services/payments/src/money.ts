import type { CronEntry, Handler } from '@libs/jobs';
import { createLogger } from '@libs/runtime';
import { createClocks } from './clock/service.ts';
import { errors } from './errors.ts';
import { createAcceptance } from './payments/accept.ts';
import { createProcessing } from './payments/processing.ts';
import { createPaymentsService, type PaymentsService } from './payments/service.ts';
import { createQuarantine, type Quarantine } from './quarantine/service.ts';
import { createBookRail } from './rails/book/rail.ts';
import { createRails, type Rails } from './rails/service.ts';
import { createReconciliation, type Reconciliation } from './reconciliation/service.ts';
import { createRouting } from './routing/service.ts';
import { defaultTerms } from './routing/terms.ts';
import { createSandboxService, type SandboxService } from './sandbox/service.ts';
import type { Dependencies, Services } from './services.ts';

/** What moves money: payments, the rails that carry them, and the sandbox that plays with both. */
export interface Money {
  payments: PaymentsService;
  sandbox: SandboxService;
  rails: Rails;
  quarantine: Quarantine;
  reconciliation: Reconciliation;
  handlers: readonly Handler[];
  cron: readonly CronEntry[];
  close(): Promise<void>;
}

type Needed = Pick<Services, 'events' | 'subscriptions' | 'paymentMethods'>;

export async function createMoney(dependencies: Dependencies, features: Needed): Promise<Money> {
  const { database, now, newId } = dependencies;
  const { events, subscriptions, paymentMethods } = features;
  const clocks = createClocks({ now });
  const quarantine = createQuarantine(dependencies);
  const needed = { terms: defaultTerms, paymentMethods, clocks, quarantine };
  const rails = await createRails({ ...dependencies, ...needed });
  const log = createLogger({ name: 'payments', level: dependencies.config.http.logLevel });
  const reconciliation = createReconciliation({ database, now, log, rails: rails.reconciled });
  const carriers = [...rails.carriers, createBookRail(defaultTerms)];
  const routing = createRouting({ rails: carriers, terms: defaultTerms, isUp: rails.isUp });
  const shared = { database, routing, now, newId, findMethods: paymentMethods.find, clocks };
  const processing = createProcessing({ ...shared, rails: carriers, recordEvents: events.record });
  const firstUse = { methodAtFirstUse: paymentMethods.atFirstUse, insertMethods: paymentMethods.insert };
  const accept = createAcceptance({
    ...shared,
    ...firstUse,
    hasSubscribers: subscriptions.hasSubscribers,
    enqueueDeliveries: subscriptions.enqueue,
  });
  const payments = createPaymentsService({
    ...shared,
    ...firstUse,
    accept,
    processing,
    deliverEvents: subscriptions.deliver,
  });
  const { handlers, cron, notifyOfChange } = rails.work({ processing });
  const sandbox = createSandboxService({
    database,
    now,
    newId,
    processing,
    clocks,
    getPayment: payments.get,
    rejectMeaning: rails.rejectMeaning,
    returnMeaning: rails.returnMeaning,
    notifyOfChange,
    orderOutcome: rails.orderOutcome,
    async getBalance(tenant, id) {
      const { method } = await paymentMethods.get(tenant, id);
      if (method.type !== 'balance') throw errors.not_a_balance();
      return method;
    },
  });
  return {
    payments,
    sandbox,
    rails,
    quarantine,
    reconciliation,
    handlers: [processing.submitHandler, ...handlers, reconciliation.handler],
    cron: [...cron, reconciliation.cron],
    close: rails.close,
  };
}

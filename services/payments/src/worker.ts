import { type CronEntry, type Handler, startWorker } from '@libs/jobs';
import { createRetention } from './retention/service.ts';
import type { Dependencies, Services } from './services.ts';
import { createWebhookDispatcher } from './webhooks/dispatcher.ts';

export interface Workers {
  /** Takes nothing new and waits for what is under way. */
  drain(): Promise<void>;
  /** Looks for deliveries that are due now, instead of at the next poll. */
  pollDeliveries(): Promise<void>;
}

/** What runs beside the requests: jobs, timers, deliveries. */
export async function startWorkers(dependencies: Dependencies, services: Services): Promise<Workers> {
  const { database, now, random, onError } = dependencies;
  const { webhooks, webhookParts } = services;
  const retention = createRetention([services.idempotency.sweep, services.events.sweep]);
  // Each feature adds its handlers and timers here.
  const handlers: Handler[] = [retention.handler, ...services.money.handlers];
  const cron: CronEntry[] = [retention.cron, ...services.money.cron];
  const dispatcher = createWebhookDispatcher({
    ...webhookParts,
    database,
    webhooks,
    now,
    random,
    onError: (error) => onError(error, { where: 'webhooks' }),
  });
  await dispatcher.start();
  webhookParts.offers.to(dispatcher);
  const worker = await startWorker({
    database,
    handlers,
    cron,
    now,
    onError: (error, { job }) => onError(error, { where: `job ${job}` }),
  });
  return {
    pollDeliveries: dispatcher.poll,
    async drain() {
      // Jobs first: what they still write may be delivered before the dispatcher stops.
      await worker.drain();
      webhookParts.offers.to(null);
      await dispatcher.stop();
    },
  };
}

import { type CronEntry, type Handler, startWorker } from '@libs/jobs';
import type { Dependencies, Services } from './services.ts';

export interface Workers {
  /** Takes nothing new and waits for what is under way. */
  drain(): Promise<void>;
}

/** What runs beside the requests: jobs, timers, deliveries. */
export async function startWorkers(dependencies: Dependencies, _services: Services): Promise<Workers> {
  const { database, now, onError } = dependencies;
  // Each feature adds its handlers and timers here.
  const handlers: Handler[] = [];
  const cron: CronEntry[] = [];
  const worker = await startWorker({
    database,
    handlers,
    cron,
    now,
    onError: (error, { job }) => onError(error, { where: `job ${job}` }),
  });
  return { drain: () => worker.drain() };
}

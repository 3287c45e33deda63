import { type CronEntry, enqueueJobs, everyMinutes, type Handler, type Job } from '@libs/jobs';
import { CLOCK_JOB } from '../../sandbox/service.ts';
import type { AchContext } from './context.ts';
import { LIVE_JOB, TICK_JOB, type TickPayload, wakeUp } from './jobs.ts';
import { type AchScope, LIVE_SCOPE } from './scope.ts';
import { tick } from './tick.ts';

const RETRY_MS = 250;
const RETRY_MS_MAX = 60_000;
const FETCH_MINUTES = 10;

/** A scope is never given up: what waits in it is money on its way. */
const untilDone: Pick<Handler, 'attemptsMax' | 'retryDelayMs'> = {
  attemptsMax: Number.MAX_SAFE_INTEGER,
  retryDelayMs: (attempt) => Math.min(RETRY_MS * 2 ** Math.min(attempt - 1, 20), RETRY_MS_MAX),
};

/** The rail's work beside the requests: time that passes, clocks that are moved, files that are fetched. */
export function createAchHandlers(context: AchContext): { handlers: Handler[]; cron: CronEntry[] } {
  const { database } = context;

  async function runTick(scope: AchScope): Promise<void> {
    const again = await tick(context, scope);
    if (again) await enqueueJobs(database, database.schema, [wakeUp(scope, again)]);
  }

  const handlers: Handler[] = [
    {
      name: TICK_JOB,
      batchMax: 1,
      concurrency: 2,
      ...untilDone,
      handle: ([job]) => runTick((job as Job<TickPayload>).payload.scope),
    },
    {
      name: CLOCK_JOB,
      batchMax: 100,
      ...untilDone,
      async handle(jobs) {
        const scopes = (jobs as readonly Job<{ tenantId: string }>[]).map((job) => job.payload.tenantId);
        const wakeUps = scopes.map((scope) => wakeUp(scope));
        await enqueueJobs(database, database.schema, wakeUps);
      },
    },
  ];
  if (!context.transportFor(LIVE_SCOPE)) return { handlers, cron: [] };
  handlers.push({ name: LIVE_JOB, batchMax: 10, ...untilDone, handle: () => runTick(LIVE_SCOPE) });
  return { handlers, cron: [{ name: LIVE_JOB, schedule: everyMinutes(FETCH_MINUTES) }] };
}

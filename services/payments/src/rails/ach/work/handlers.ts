import { type CronEntry, enqueueJobs, everyMinutes, type Handler, type Job } from '@libs/jobs';
import { nextEntryAt } from '../entries/entries-store.ts';
import { type AchScope, followsClock, LIVE_SCOPE, tenantOfScope } from '../entries/scope.ts';
import { withLiveLine } from '../outgoing/files-store.ts';
import { AchNotConnected } from '../outgoing/sending.ts';
import type { AchContext } from './context.ts';
import { LIVE_JOB, TICK_JOB, type TickPayload, UNSERVED_JOB, wakeUp } from './jobs.ts';
import { tick } from './tick.ts';

const RETRY_MS = 250;
const RETRY_MS_MAX = 60_000;
const FETCH_MINUTES = 10;
/** When to look again while another process has the line to the bank. */
const LINE_BUSY_MS = 5_000;

/** A scope is never given up: what waits in it is money on its way. */
const untilDone: Pick<Handler, 'attemptsMax' | 'retryDelayMs'> = {
  attemptsMax: Number.MAX_SAFE_INTEGER,
  retryDelayMs: (attempt) => Math.min(RETRY_MS * 2 ** Math.min(attempt - 1, 20), RETRY_MS_MAX),
};

/** Far beyond what a worker that has the line takes for what is due. */
const UNSERVED_MS = 15 * 60_000;

/**
 * In a process that was not told of the bank, which leaves the line's own job to those that were: fails, and so tells, where
 * nobody has sent what was due long ago.
 */
async function failWhereUnserved({ database, now }: AchContext): Promise<void> {
  const next = await nextEntryAt(database, LIVE_SCOPE);
  if (next === null || now().getTime() - next.getTime() < UNSERVED_MS) return;
  throw new AchNotConnected(
    'live ACH payments wait, and no worker has sent them: PAYMENTS_ACH_SFTP_URL is not set in this one',
  );
}

function scopeIn({ payload }: Job): AchScope {
  return (payload as TickPayload).scope;
}

/** Files of a scope without a clock hold entries of many. */
function tenantsOfScope(scope: AchScope): string[] | null {
  return followsClock(scope) ? [tenantOfScope(scope)] : null;
}

/** The rail's work beside the requests: time that passes, clocks that are moved, files that are fetched. */
export function createAchHandlers(context: AchContext): { handlers: Handler[]; cron: CronEntry[] } {
  const { database } = context;

  async function runTick(scope: AchScope): Promise<void> {
    const again = await tick(context, scope);
    if (again) await enqueueJobs(database, database.schema, [wakeUp(scope, again)]);
  }

  async function runLiveTick(): Promise<void> {
    const done = await withLiveLine(database, async () => {
      await runTick(LIVE_SCOPE);
      return true;
    });
    if (done) return;
    const soon = new Date(context.now().getTime() + LINE_BUSY_MS);
    await enqueueJobs(database, database.schema, [wakeUp(LIVE_SCOPE, soon)]);
  }

  const handlers: Handler[] = [
    {
      name: TICK_JOB,
      batchMax: 1,
      concurrency: 2,
      ...untilDone,
      tenantsOf: (jobs) => jobs.map((job) => tenantsOfScope(scopeIn(job))),
      handle: ([job]) => runTick(scopeIn(job as Job)),
    },
  ];
  if (context.transportFor(LIVE_SCOPE) !== null) {
    handlers.push({ name: LIVE_JOB, batchMax: 10, ...untilDone, handle: runLiveTick });
    // One of a process that was not told of the bank ends here.
    handlers.push({ name: UNSERVED_JOB, handle: async () => {} });
    return { handlers, cron: [{ name: LIVE_JOB, schedule: everyMinutes(FETCH_MINUTES) }] };
  }
  handlers.push({ name: UNSERVED_JOB, ...untilDone, handle: () => failWhereUnserved(context) });
  return { handlers, cron: [{ name: UNSERVED_JOB, schedule: everyMinutes(FETCH_MINUTES) }] };
}

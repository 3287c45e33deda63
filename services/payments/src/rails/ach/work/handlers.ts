import { type CronEntry, enqueueJobs, everyMinutes, type Handler, type Job } from '@libs/jobs';
import { nextEntryAt } from '../entries/entries-store.ts';
import { type AchScope, LIVE_SCOPE } from '../entries/scope.ts';
import { withLiveLine } from '../outgoing/files-store.ts';
import { connectionFor, overLine } from '../outgoing/sending.ts';
import type { AchContext } from './context.ts';
import { LIVE_JOB, TICK_JOB, type TickPayload, wakeUp } from './jobs.ts';
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

/** The process was not told of the bank: the job fails as on a broken line, so that its alerts and the rail's health tell. */
async function failWhileSomethingWaits(context: AchContext): Promise<void> {
  if ((await nextEntryAt(context.database, LIVE_SCOPE)) === null) return;
  await overLine(context, LIVE_SCOPE, async () => connectionFor(context, LIVE_SCOPE));
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
      handle: ([job]) => runTick((job as Job<TickPayload>).payload.scope),
    },
  ];
  const isConnected = context.transportFor(LIVE_SCOPE) !== null;
  const handle = isConnected ? runLiveTick : () => failWhileSomethingWaits(context);
  handlers.push({ name: LIVE_JOB, batchMax: 10, ...untilDone, handle });
  return { handlers, cron: isConnected ? [{ name: LIVE_JOB, schedule: everyMinutes(FETCH_MINUTES) }] : [] };
}

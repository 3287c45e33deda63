import { attemptAll, type CronEntry, everyMinutes, type Handler } from '@libs/jobs';

const SWEEP_JOB = 'retention.sweep';
const ROWS_PER_TURN = 1_000;
/** So that those behind it get their turn; what is left goes a quarter of an hour later. */
const SWEEP_MS_MAX = 5 * 60_000;
const SWEEP_MINUTES = 15;

/** Removes at most `limit` rows that are past their time, and answers how many it removed. */
export type Sweep = (limit: number) => Promise<number>;

/** Forgets what the service keeps for a promised time only, in bounded turns, so that no turn holds locks for long. */
export function createRetention(
  sweeps: readonly Sweep[],
  monotonicMs: () => number = () => performance.now(),
): { handler: Handler; cron: CronEntry } {
  async function sweepOut(sweep: Sweep, signal: AbortSignal): Promise<void> {
    const untilMs = monotonicMs() + SWEEP_MS_MAX;
    while (monotonicMs() < untilMs && !signal.aborted) {
      if ((await sweep(ROWS_PER_TURN)) < ROWS_PER_TURN) return;
    }
  }

  const tasks = (signal: AbortSignal) => sweeps.map((sweep) => () => sweepOut(sweep, signal));

  return {
    handler: { name: SWEEP_JOB, handle: (_jobs, context) => attemptAll(tasks(context.signal), context) },
    cron: { name: SWEEP_JOB, schedule: everyMinutes(SWEEP_MINUTES) },
  };
}

import type { NewJob } from '@libs/jobs';
import { type AchScope, LIVE_SCOPE } from '../entries/scope.ts';

export const TICK_JOB = 'ach.tick';
/** A name of its own: a bank that answers slowly holds up no sandbox. It also runs at intervals, to fetch files. */
export const LIVE_JOB = 'ach.live';

/** Looks, in a process that was not told of the bank, whether anybody was. */
export const UNSERVED_JOB = 'ach.unserved';

export interface TickPayload {
  scope: AchScope;
}

/** Something will be due in this scope; at once where no time is given. */
export function wakeUp(scope: AchScope, runAt?: Date): NewJob {
  const payload: TickPayload = { scope };
  const job: NewJob = { name: scope === LIVE_SCOPE ? LIVE_JOB : TICK_JOB, payload, key: scope };
  return runAt ? { ...job, runAt } : job;
}

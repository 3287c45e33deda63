import type { NewJob } from '@libs/jobs';
import type { AchScope } from './scope.ts';

export const TICK_JOB = 'ach.tick';
/** Asks the live bank for files. */
export const FETCH_JOB = 'ach.fetch';

export interface TickPayload {
  scope: AchScope;
}

/** Something will be due in this scope; at once where no time is given. */
export function wakeUp(scope: AchScope, runAt?: Date): NewJob {
  const payload: TickPayload = { scope };
  const job: NewJob = { name: TICK_JOB, payload, key: scope };
  return runAt ? { ...job, runAt } : job;
}

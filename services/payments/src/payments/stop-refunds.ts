import type { Database } from '@libs/db';
import { completeJobs, type Handler, type Job } from '@libs/jobs';
import { lanesOf } from '../job-lanes.ts';
import type { Change } from './moves.ts';
import type { Payment } from './payment.ts';
import type { Processing } from './processing.ts';
import { STOP_REFUNDS_JOB } from './stop-refunds-job.ts';
import { findPendingRefunds, type PaymentKey } from './store.ts';

/** So many are canceled by one transaction, which another one follows while there are more. */
const REFUNDS_AT_ONCE = 100;

export interface StopRefundsDependencies {
  database: Database;
  processing: Pick<Processing, 'changePayments'>;
}

/**
 * After the return has committed, since its refunds are payments of their own, which others may have locked: nothing new can
 * be refunded from then on, and what was refunded before is found here.
 */
export function stopRefundsHandler(deps: StopRefundsDependencies): Handler {
  return {
    ...lanesOf(STOP_REFUNDS_JOB),
    batchMax: 1,
    // Until it succeeds, like all jobs that hold payments.
    attemptsMax: Number.MAX_SAFE_INTEGER,
    tenantsOf: async (jobs) => jobs.map((job) => [keyIn(job).tenantId]),
    async handle(jobs) {
      for (const job of jobs) {
        let isDone = false;
        while (!isDone) isDone = await stopSome(deps, job);
      }
    },
  };
}

/** Whether none is left, and the job done with it. */
function stopSome({ database, processing }: StopRefundsDependencies, job: Job): Promise<boolean> {
  return database.transaction(async (tx) => {
    const pending = await findPendingRefunds(tx, keyIn(job), REFUNDS_AT_ONCE);
    await processing.changePayments(tx, pending, stop);
    const isLast = pending.length < REFUNDS_AT_ONCE;
    if (isLast) await completeJobs(tx, [job]);
    return isLast;
  });
}

/** One that has left meanwhile goes its way. */
function stop({ status }: Payment): Change | null {
  return status === 'pending' ? { by: 'canceled', failure: PAYMENT_RETURNED } : null;
}

const PAYMENT_RETURNED = {
  code: 'payment_returned',
  network_code: null,
  detail: 'The payment that it gives back was returned.',
};

function keyIn({ payload }: Job): PaymentKey {
  const [tenantId, id] = payload as [string, string];
  return { tenantId, id };
}

import type { Database } from '@libs/db';
import { type CronEntry, dailyAt, enqueueJobs, type Handler } from '@libs/jobs';
import type { Clocks } from '../clock/service.ts';
import { lockForChange } from '../ledger/service.ts';
import type { MethodKey } from './method.ts';
import type { PaymentMethods } from './service.ts';
import { findDeleted, readBalances } from './stranded-store.ts';

export const STRANDED_JOB = 'payment_methods.reopen_stranded';
const ROWS_PER_PAGE = 1_000;
/** A job ends after this many pages and plants the next, so that a process that stops has little to wait for. */
const PAGES_PER_JOB = 50;
const DAILY_AT = { hour: 4, minute: 40 } as const;

export interface StrandedBalancesDependencies {
  database: Database;
  clocks: Pick<Clocks, 'timesOf'>;
  reopen: PaymentMethods['reopen'];
  rowsPerPage?: number;
  pagesPerJob?: number;
}

/** How far a look got, on its way from one job to the next. */
interface Carried {
  readonly after?: MethodKey;
}

/**
 * Late returns open deleted balances again by themselves. Versions that did not, and may run beside this one while it is
 * rolled out, left money where nobody can reach it: a look each day finds that. Rejected: an index of balances that are not
 * empty, which every payment of a balance would have to keep.
 */
export function createStrandedBalances(deps: StrandedBalancesDependencies): {
  handler: Handler;
  cron: CronEntry;
} {
  const { database, clocks, rowsPerPage = ROWS_PER_PAGE, pagesPerJob = PAGES_PER_JOB } = deps;

  const open = (key: MethodKey): Promise<void> =>
    database.transaction(async (tx) => {
      await lockForChange(tx, [{ tenantId: key.tenantId, paymentMethodId: key.id }]);
      const times = await clocks.timesOf(tx, [key.tenantId]);
      await deps.reopen(tx, [key], ({ tenantId }) => times.at(tenantId));
    });

  /** Answers where the next page begins; null at the end. */
  async function lookAtPage(after: MethodKey | null): Promise<MethodKey | null> {
    const page = await readBalances(database, { after, limit: rowsPerPage });
    const withMoney = page.filter(({ hasMoney }) => hasMoney);
    for (const key of await findDeleted(database, withMoney)) await open(key);
    const last = page.at(-1);
    return last === undefined || page.length < rowsPerPage ? null : { tenantId: last.tenantId, id: last.id };
  }

  return {
    handler: {
      name: STRANDED_JOB,
      batchMax: 1,
      async handle(jobs, { signal }) {
        let after = ((jobs[0]?.payload ?? {}) as Carried).after ?? null;
        for (let page = 0; page < pagesPerJob && !signal.aborted; page += 1) {
          after = await lookAtPage(after);
          if (after === null) return;
        }
        const payload: Carried = after === null ? {} : { after };
        await enqueueJobs(database, database.schema, [{ name: STRANDED_JOB, key: 'continue', payload }]);
      },
    },
    cron: { name: STRANDED_JOB, schedule: dailyAt(DAILY_AT.hour, DAILY_AT.minute) },
  };
}

import type { Database } from '@libs/db';
import { type CronEntry, enqueueJobs, everyMinutes, type Handler, type Job } from '@libs/jobs';
import type { ConnectorService } from '../connectors/service.ts';
import type { CredentialService } from '../credentials/service.ts';
import { probeSession } from './probes.ts';
import { listConnectedCustomers, listRunOut, type RunOut } from './watch-store.ts';

export interface WatchDependencies {
  database: Database;
  connectors: Pick<ConnectorService, 'connectors'>;
  credentials: Pick<CredentialService, 'open'>;
  now: () => Date;
  checkCustomer(customerId: string): Promise<unknown>;
  onError: (error: unknown, context: { platform: string }) => void;
}

const RUN_OUT_MINUTES = 1;
const RUN_OUT_ROWS = 200;
const RUN_OUT_PAGES_MAX = 500;
/** Every account is asked at its platform this often, though nobody looks. */
const ROUND_MINUTES = 6 * 60;
const CUSTOMERS_PER_PAGE = 100;
const CUSTOMERS_AT_ONCE = 8;

const PAGE_JOB = 'health.watch_page';

/**
 * Finds credentials that stopped working before a customer does: opening one that has run out, or asking its platform,
 * marks it as expired and emits `credential.expired`.
 */
export function createWatch(deps: WatchDependencies): {
  handlers: readonly Handler[];
  cron: readonly CronEntry[];
} {
  const { database, now, onError } = deps;
  const renewedAhead = deps.connectors.connectors.flatMap(({ id, renewAheadMs }) =>
    renewAheadMs === undefined ? [] : [id],
  );

  async function expireRunOut(signal: AbortSignal, platforms: readonly string[] | null): Promise<void> {
    let last: RunOut | undefined;
    for (let page = 0; page < RUN_OUT_PAGES_MAX && !signal.aborted; page += 1) {
      const rows = await listRunOut(database, {
        ...{ before: now(), renewedAhead: platforms, after: last, limit: RUN_OUT_ROWS },
      });
      for (const { customerId, platform } of rows) {
        await deps.credentials.open({ session: probeSession(customerId), platform });
      }
      last = rows.at(-1);
      if (rows.length < RUN_OUT_ROWS) return;
    }
  }

  async function checkAll(customerIds: readonly string[], signal: AbortSignal): Promise<void> {
    const waiting = [...customerIds];
    const work = async () => {
      for (let id = waiting.shift(); id !== undefined && !signal.aborted; id = waiting.shift()) {
        await deps.checkCustomer(id).catch((error: unknown) => onError(error, { platform: 'all' }));
      }
    };
    await Promise.all(Array.from({ length: CUSTOMERS_AT_ONCE }, work));
    // What was left out is looked at again when the job comes back.
    signal.throwIfAborted();
  }

  /** One page of customers, then the job of the next page: a round survives the process that began it. */
  async function watchPage(job: Job, signal: AbortSignal): Promise<void> {
    const { after } = job.payload as { after: string };
    const customerIds = await listConnectedCustomers(database, { after, limit: CUSTOMERS_PER_PAGE });
    await checkAll(customerIds, signal);
    const last = customerIds.at(-1);
    if (last !== undefined && customerIds.length === CUSTOMERS_PER_PAGE) await plantPage(last);
  }

  const plantPage = (after: string) =>
    enqueueJobs(database, database.schema, [{ name: PAGE_JOB, payload: { after }, key: after }]);

  const runOut: Handler = {
    name: 'health.run_out',
    async handle(_jobs, { signal }) {
      for (const platforms of [null, renewedAhead]) await expireRunOut(signal, platforms);
    },
  };
  const round: Handler = { name: 'health.watch', handle: () => plantPage('') };
  const page: Handler = {
    name: PAGE_JOB,
    batchMax: 1,
    handle: async ([job], { signal }) => watchPage(job as Job, signal),
  };
  return {
    handlers: [runOut, round, page],
    cron: [
      { name: runOut.name, schedule: everyMinutes(RUN_OUT_MINUTES) },
      { name: round.name, schedule: everyMinutes(ROUND_MINUTES) },
    ],
  };
}

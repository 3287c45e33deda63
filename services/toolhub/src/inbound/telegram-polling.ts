import type { Database } from '@libs/db';
import { type CronEntry, enqueueJobs, everyMinutes, type Handler, type Job } from '@libs/jobs';
import { ConnectorError } from '../connectors/connector.ts';
import type { ConnectorService } from '../connectors/service.ts';
import { BOT_CONNECTED_JOB } from '../connectors/telegram/looks.ts';
import type { CredentialService } from '../credentials/service.ts';
import type { Session } from '../customers/identity.ts';
import type { EmitEvent } from '../events/event.ts';

export interface TelegramPollingDependencies {
  database: Database;
  connectors: Pick<ConnectorService, 'find' | 'context'>;
  credentials: Pick<CredentialService, 'open' | 'customersOf' | 'hold'>;
  emitEvent: EmitEvent;
  onError: (error: unknown, context: { platform: string }) => void;
}

const PLATFORM = 'telegram';
const ROUND_MINUTES = 1;
const CUSTOMERS_PER_PAGE = 100;
const CUSTOMERS_AT_ONCE = 8;
/** One bot that does not answer must not hold up the others of its page. */
const BOT_TIMEOUT_MS = 15_000;
const PAGE_JOB = 'inbound.telegram_page';

/**
 * Looks after every connected bot, so that its messages are kept and told of though no tool asks: Telegram itself keeps
 * them for a day. A bot that is sent to (`telegram-webhook.ts`) is not asked, only looked at now and then. Jobs are taken by one process at a time, and a lease keeps calls of tools out of the way.
 */
export function createTelegramPolling(deps: TelegramPollingDependencies): {
  handlers: readonly Handler[];
  cron: readonly CronEntry[];
} {
  const { database, connectors, credentials } = deps;

  async function pollBot(customerId: string): Promise<void> {
    const connector = connectors.find(PLATFORM);
    if (connector?.collect === undefined) return;
    const opened = await credentials.open({ session: pollingSession(customerId), platform: PLATFORM });
    if (opened.kind !== 'ok') return;
    const { version, ...credential } = opened.opened;
    const signal = AbortSignal.timeout(BOT_TIMEOUT_MS);
    try {
      await connector.collect(
        connectors.context({
          ...{ ...credential, signal },
          stillConnected: (tx) => credentials.hold(tx, { customerId, platform: PLATFORM, version }),
        }),
        (tx, data) => deps.emitEvent(tx, { customerId, type: 'telegram.message.received', data }),
      );
    } catch (error) {
      // Another program reads this bot, its token is over, or Telegram is away: the account's health tells of it.
      if (!(error instanceof ConnectorError) && !signal.aborted) throw error;
    }
  }

  async function pollConnected(jobs: readonly Job[]): Promise<void> {
    for (const { payload } of jobs as readonly Job<{ customerId: string }>[])
      await pollBot(payload.customerId);
  }

  async function pollPage(job: Job, signal: AbortSignal): Promise<void> {
    const { after } = job.payload as { after: string };
    const customers = await credentials.customersOf(PLATFORM, { after, limit: CUSTOMERS_PER_PAGE });
    const waiting = [...customers];
    const work = async () => {
      for (let id = waiting.shift(); id !== undefined && !signal.aborted; id = waiting.shift())
        await pollBot(id).catch((error: unknown) => deps.onError(error, { platform: PLATFORM }));
    };
    await Promise.all(Array.from({ length: CUSTOMERS_AT_ONCE }, work));
    const last = customers.at(-1);
    if (last !== undefined && customers.length === CUSTOMERS_PER_PAGE) await plantPage(last);
  }

  const plantPage = (after: string) =>
    enqueueJobs(database, database.schema, [{ name: PAGE_JOB, payload: { after }, key: after }]);

  const round: Handler = { name: 'inbound.telegram', handle: () => plantPage('') };
  const page: Handler = {
    name: PAGE_JOB,
    batchMax: 1,
    handle: async ([job], { signal }) => pollPage(job as Job, signal),
  };
  // Several at once: Telegram may take its time over one, and the next customer waits for the first message.
  const connected: Handler = {
    ...{ name: BOT_CONNECTED_JOB, batchMax: 1, concurrency: CUSTOMERS_AT_ONCE },
    tenantsOf: (jobs) =>
      (jobs as readonly Job<{ customerId: string }>[]).map(({ payload }) => [payload.customerId]),
    handle: pollConnected,
  };
  return {
    handlers: [round, page, connected],
    cron: [{ name: round.name, schedule: everyMinutes(ROUND_MINUTES) }],
  };
}

/** Nobody's request: the service reads for the customer. */
function pollingSession(customerId: string): Session {
  return {
    ...{ kind: 'customer', customerId, via: 'personal', tokenId: 'polling' },
    ...{ scopes: ['tools:read'], audience: null },
  };
}

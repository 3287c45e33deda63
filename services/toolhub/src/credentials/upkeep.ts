import type { Database } from '@libs/db';
import { type CronEntry, everyMinutes, type Handler } from '@libs/jobs';
import { SealError } from '@libs/seal';
import type { ConnectorService } from '../connectors/service.ts';
import type { EmitEvent } from '../events/event.ts';
import type { CredentialKey, CredentialRow } from './credential.ts';
import type { Renewal } from './renewal.ts';
import { listEnding, listToWarnOf, markWarned } from './upkeep-store.ts';

export interface UpkeepDependencies {
  database: Database;
  connectors: Pick<ConnectorService, 'connectors'>;
  renewal: Pick<Renewal, 'renew'>;
  emitEvent: EmitEvent;
  onUnreadable: (error: SealError, key: CredentialKey) => void;
  now: () => Date;
}

const ROUND_MINUTES = 60;
const ROWS_PER_PAGE = 200;
const PAGES_MAX = 500;
/** Long enough for somebody who looks once a week. */
const WARNED_AHEAD_MS = 7 * 24 * 60 * 60_000;

/**
 * Tokens that can only be renewed while they work are renewed long before they end, though nobody calls; of one that will
 * end all the same its customer is warned, once.
 */
export function createUpkeep(deps: UpkeepDependencies): {
  handlers: readonly Handler[];
  cron: readonly CronEntry[];
} {
  const { database, now } = deps;
  const ahead = deps.connectors.connectors.flatMap(({ id, renewAheadMs }) =>
    renewAheadMs === undefined ? [] : [{ platform: id, renewAheadMs }],
  );

  async function renewAhead(signal: AbortSignal): Promise<void> {
    for (const { platform, renewAheadMs } of ahead) {
      const before = new Date(now().getTime() + renewAheadMs);
      let after: CredentialRow | undefined;
      for (let page = 0; page < PAGES_MAX && !signal.aborted; page += 1) {
        const rows = await listEnding(database, { platform, before, after, limit: ROWS_PER_PAGE });
        for (const row of rows) {
          if (signal.aborted) return;
          // What fails now is tried again in an hour; the token still works.
          await deps.renewal.renew(row, { isRefused: false, isAhead: true }).catch((error: unknown) => {
            if (!(error instanceof SealError)) throw error;
            deps.onUnreadable(error, row);
          });
        }
        after = rows.at(-1);
        if (rows.length < ROWS_PER_PAGE) break;
      }
    }
  }

  /** The mark and the event are one transaction, so that nobody is warned twice, nor not at all. */
  async function warn(row: CredentialRow): Promise<void> {
    await database.transaction(async (tx) => {
      if (!(await markWarned(tx, row))) return;
      const { customerId, platform, account, expiresAt } = row;
      const data = { platform, account, expires_at: expiresAt?.toISOString() ?? null };
      await deps.emitEvent(tx, { customerId, type: 'credential.expiring', data });
    });
  }

  async function warnAll(signal: AbortSignal): Promise<void> {
    const wanted = {
      ...{ after: now(), before: new Date(now().getTime() + WARNED_AHEAD_MS), limit: ROWS_PER_PAGE },
      renewedAhead: ahead.map(({ platform }) => platform),
    };
    for (let page = 0; page < PAGES_MAX && !signal.aborted; page += 1) {
      const rows = await listToWarnOf(database, wanted);
      for (const row of rows) await warn(row);
      if (rows.length < ROWS_PER_PAGE) return;
    }
  }

  const handler: Handler = {
    name: 'credentials.upkeep',
    async handle(_jobs, { signal }) {
      await renewAhead(signal);
      await warnAll(signal);
    },
  };
  return { handlers: [handler], cron: [{ name: handler.name, schedule: everyMinutes(ROUND_MINUTES) }] };
}

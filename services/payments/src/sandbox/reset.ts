import type { Database, Transaction } from '@libs/db';
import { realClock } from '../clock/clock.ts';
import type { Clocks } from '../clock/service.ts';
import type { KeyService } from '../keys/service.ts';
import type { Tenant } from '../tenant.ts';
import type { Webhooks } from '../webhooks/service.ts';
import {
  closeTenant,
  findClosedBefore,
  forgetClosed,
  removeRows,
  type TenantTable,
  tenantTables,
} from './store.ts';

/** Everything that was under way before a reset has ended by then, and reconciliation has looked at its days. */
export const CLOSED_KEPT_DAYS = 14;

export interface SandboxResetDependencies {
  database: Database;
  keys: Pick<KeyService, 'openNextEpoch'>;
  clocks: Pick<Clocks, 'set'>;
  webhooks: Pick<Webhooks, 'moveEndpoints'>;
  now: () => Date;
}

/**
 * Test mode begins anew as another tenant. Every key of every table begins with the tenant, so all that was there before
 * is out of sight at once: no query had to learn of it, and the hot path compares what it compared before. Rejected: a
 * mark on each row (every query must ask for it), and moving or deleting the rows in the request (as many as there are).
 */
export function createSandboxReset(deps: SandboxResetDependencies) {
  const { database, now } = deps;
  return {
    async reset(tx: Transaction, tenant: Tenant): Promise<{ at: Date }> {
      const at = now();
      const { closed, opened } = await deps.keys.openNextEpoch(tx, tenant.organisationId);
      await deps.clocks.set(tx, tenant.organisationId, realClock);
      await deps.webhooks.moveEndpoints(tx, closed, opened);
      await closeTenant(tx, closed.id, at);
      return { at };
    },

    /** Removes a bounded number of rows of tenants that were closed long enough ago; answers how many. */
    async sweep(limit: number): Promise<number> {
      const tenantId = await findClosedBefore(
        database,
        new Date(now().getTime() - CLOSED_KEPT_DAYS * 86_400_000),
      );
      if (tenantId === undefined) return 0;
      let removed = 0;
      for (const table of Object.keys(tenantTables) as TenantTable[]) {
        removed += await removeRows(database, table, { tenantId, limit: limit - removed });
        if (removed >= limit) return removed;
      }
      await forgetClosed(database, tenantId);
      // One more than nothing: the next turn asks for the next tenant.
      return limit;
    },
  };
}

export type SandboxReset = ReturnType<typeof createSandboxReset>;

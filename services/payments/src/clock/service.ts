import type { Queryable } from '@libs/db';
import { parseTenantId, type Tenant } from '../tenant.ts';
import { clockNow, realClock, type SandboxClock } from './clock.ts';
import { findClocks, lockClock, saveClock } from './store.ts';

/** The times of some tenants, all as of one real moment. */
export interface TenantTimes {
  readonly realNow: Date;
  clockOf(tenantId: string): SandboxClock;
  /** What time it is for the tenant's organisation. */
  at(tenantId: string): Date;
}

export interface Clocks {
  /** Reads the clocks of these tenants' organisations; live ones have none and cost nothing. */
  timesOf(db: Queryable, tenantIds: Iterable<string>): Promise<TenantTimes>;
  /** Reads an organisation's clock and keeps others from moving it until the transaction ends. */
  lock(tx: Queryable, organisationId: string): Promise<SandboxClock>;
  /** Gives the tenant that test mode is now. */
  set(tx: Queryable, organisationId: string, clock: SandboxClock): Promise<Tenant>;
}

export interface ClocksDependencies {
  now: () => Date;
  find?: typeof findClocks;
}

export function createClocks({ now, find = findClocks }: ClocksDependencies): Clocks {
  return {
    async timesOf(db, tenantIds) {
      const tests = new Set<string>();
      for (const tenantId of tenantIds) {
        const { mode, organisationId } = parseTenantId(tenantId);
        if (mode === 'test') tests.add(organisationId);
      }
      const clocks = tests.size === 0 ? new Map<string, SandboxClock>() : await find(db, [...tests]);
      return tenantTimes(clocks, now());
    },
    lock: lockClock,
    set: saveClock,
  };
}

function tenantTimes(clocks: ReadonlyMap<string, SandboxClock>, realNow: Date): TenantTimes {
  const clockOf = (tenantId: string): SandboxClock => {
    const { mode, organisationId } = parseTenantId(tenantId);
    return (mode === 'test' ? clocks.get(organisationId) : undefined) ?? realClock;
  };
  return { realNow, clockOf, at: (tenantId) => clockNow(clockOf(tenantId), realNow) };
}

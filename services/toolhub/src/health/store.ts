import { leasesOn, type Queryable } from '@libs/db';
import type { HealthReport, PlatformHealth } from './report.ts';

interface ReportRow {
  checked_at: Date;
  accounts: string;
  platforms: PlatformHealth[];
}

export async function findReport(db: Queryable, customerId: string): Promise<HealthReport | undefined> {
  const { rows } = await db.query<ReportRow>(
    {
      name: 'health.find',
      text: `select checked_at, accounts, platforms from health_reports
        where customer_id = $1 and checked_at is not null`,
    },
    [customerId],
  );
  const row = rows[0];
  return row && { checkedAt: row.checked_at, accounts: row.accounts, platforms: row.platforms };
}

export interface Lease {
  customerId: string;
  id: string;
}

const leases = leasesOn({
  table: 'health_reports',
  key: ['customer_id'],
  holder: 'lease_id',
  until: 'lease_until',
  rowIs: 'kept',
});

/** The right to make the next report, unless somebody else has it or has just made one that still holds. */
export function claimReport(
  db: Queryable,
  lease: Lease,
  wanted: { leaseMs: number; accounts: string; madeAfter: Date },
): Promise<boolean> {
  return leases.acquire(db, [lease.customerId], {
    holder: lease.id,
    ms: wanted.leaseMs,
    where: {
      sql: 'held.checked_at is null or held.checked_at <= $1 or held.accounts is distinct from $2',
      values: [wanted.madeAfter, wanted.accounts],
    },
  });
}

export async function extendLease(db: Queryable, lease: Lease, leaseMs: number): Promise<void> {
  await leases.extend(db, [lease.customerId], { holder: lease.id, ms: leaseMs });
}

/** Keeps the report and gives the lease back; one that was lost meanwhile changes nothing. */
export async function storeReport(db: Queryable, lease: Lease, report: HealthReport): Promise<void> {
  await leases.release(db, [lease.customerId], {
    holder: lease.id,
    set: {
      sql: 'checked_at = $1, accounts = $2, platforms = $3',
      values: [report.checkedAt, report.accounts, JSON.stringify(report.platforms)],
    },
  });
}

export async function releaseLease(db: Queryable, lease: Lease): Promise<void> {
  await leases.release(db, [lease.customerId], { holder: lease.id });
}

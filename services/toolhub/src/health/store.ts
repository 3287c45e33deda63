import type { Queryable } from '@libs/db';
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

/**
 * The right to make the next report, unless somebody else has it or has just made one that still holds. Leases go by
 * the database's clock, which all processes share.
 */
export async function claimReport(
  db: Queryable,
  lease: Lease,
  wanted: { leaseMs: number; accounts: string; madeAfter: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into health_reports as held (customer_id, lease_id, lease_until)
     values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
     on conflict (customer_id) do update set lease_id = excluded.lease_id, lease_until = excluded.lease_until
     where (held.lease_until is null or held.lease_until <= clock_timestamp())
       and (held.checked_at is null or held.checked_at <= $5 or held.accounts is distinct from $4)`,
    [lease.customerId, lease.id, wanted.leaseMs, wanted.accounts, wanted.madeAfter],
  );
  return rowCount === 1;
}

export async function extendLease(db: Queryable, lease: Lease, leaseMs: number): Promise<void> {
  await db.query(
    `update health_reports set lease_until = clock_timestamp() + $3 * interval '1 millisecond'
     where customer_id = $1 and lease_id = $2`,
    [lease.customerId, lease.id, leaseMs],
  );
}

/** Keeps the report and gives the lease back; one that was lost meanwhile changes nothing. */
export async function storeReport(db: Queryable, lease: Lease, report: HealthReport): Promise<void> {
  await db.query(
    `update health_reports set checked_at = $3, accounts = $4, platforms = $5, lease_id = null, lease_until = null
     where customer_id = $1 and lease_id = $2`,
    [lease.customerId, lease.id, report.checkedAt, report.accounts, JSON.stringify(report.platforms)],
  );
}

export async function releaseLease(db: Queryable, lease: Lease): Promise<void> {
  await db.query(
    `update health_reports set lease_id = null, lease_until = null where customer_id = $1 and lease_id = $2`,
    [lease.customerId, lease.id],
  );
}

import type { Queryable } from '@libs/db';
import { raiseVersion } from '../tenant-version-store.ts';

/**
 * Nothing is accepted for the tenant from the commit on: raising its version waits for the payments that are being
 * accepted, and makes all others look again.
 */
export async function closeTenant(tx: Queryable, tenantId: string, at: Date): Promise<void> {
  await raiseVersion(tx, tenantId);
  await tx.query('insert into closed_tenants (tenant_id, closed_at) values ($1, $2) on conflict do nothing', [
    tenantId,
    at,
  ]);
}

export async function findClosedBefore(db: Queryable, before: Date): Promise<string | undefined> {
  const { rows } = await db.query<{ tenant_id: string }>(
    'select tenant_id from closed_tenants where closed_at < $1 order by closed_at limit 1',
    [before],
  );
  return rows[0]?.tenant_id;
}

/**
 * Where rows of a test tenant lie, in the order in which they go: payments before what they name. Files and books of the
 * simulated ACH operator belong to a tenant where it had a clock; what all share is kept for its days.
 */
export const tenantTables = {
  reconciliation_differences: 'tenant_id',
  overview_places: 'tenant_id',
  payment_figures: 'tenant_id',
  payment_settle_times: 'tenant_id',
  request_logs: 'tenant_id',
  request_logs_left_out: 'tenant_id',
  rail_messages: 'tenant_id',
  ach_replies: 'tenant_id',
  ach_entries: 'tenant_id',
  ach_files: 'scope',
  ach_answers: 'scope',
  ach_counters: 'scope',
  sandbox_ach_files: 'mailbox',
  sandbox_ach_entries: 'mailbox',
  sandbox_ach_answers: 'mailbox',
  sandbox_ach_outbox: 'mailbox',
  rtp_submissions: 'tenant_id',
  ledger_places: 'tenant_id',
  ledger_sums: 'tenant_id',
  ledger_proofs: 'tenant_id',
  ledger_fees: 'tenant_id',
  ledger_transfers: 'tenant_id',
  ledger_balances: 'tenant_id',
  payments: 'tenant_id',
  payment_methods: 'tenant_id',
  idempotency_keys: 'tenant_id',
  events: 'tenant_id',
  webhook_endpoints: 'tenant_id',
  tenant_versions: 'tenant_id',
} as const;

export type TenantTable = keyof typeof tenantTables;

/** Scopes and mailboxes of a tenant are its id, alone or with a mark behind it. */
function ownedBy(column: string): string {
  return column === 'tenant_id' ? 'tenant_id = $1' : `(${column} = $1 or starts_with(${column}, $1 || '~'))`;
}

/** Removes at most `limit` rows of a closed tenant, and answers how many it removed. */
export async function removeRows(
  db: Queryable,
  table: TenantTable,
  { tenantId, limit }: { tenantId: string; limit: number },
): Promise<number> {
  // What is closed stays closed.
  const { rows } = await db.query('select 1 from closed_tenants where tenant_id = $1', [tenantId]);
  if (rows.length === 0) return 0;
  if (table === 'rtp_submissions') return removeTransfers(db, { tenantId, limit });
  const { rowCount } = await db.query(
    // Rows of different days of a table that is divided by days can have the same place, so the owner is asked for twice.
    `delete from ${table} where ${ownedBy(tenantTables[table])} and ctid = any (array(
       select t.ctid from ${table} t where ${ownedBy(tenantTables[table])} limit $2))`,
    [tenantId, limit],
  );
  return rowCount;
}

/**
 * With what the simulated network has of them, which knows no tenants, and that first: a clock may have been ahead, and on the day
 * that it showed, what is left there alone would be taken for a difference.
 */
async function removeTransfers(
  db: Queryable,
  { tenantId, limit }: { tenantId: string; limit: number },
): Promise<number> {
  const { rows } = await db.query<{ instruction_id: string }>(
    'select instruction_id from rtp_submissions where tenant_id = $1 limit $2',
    [tenantId, limit],
  );
  const ids = rows.map((row) => row.instruction_id);
  await db.query('delete from sandbox_rtp_transfers where instruction_id = any($1)', [ids]);
  const { rowCount } = await db.query(
    'delete from rtp_submissions where tenant_id = $1 and instruction_id = any($2)',
    [tenantId, ids],
  );
  return rowCount;
}

export async function forgetClosed(db: Queryable, tenantId: string): Promise<void> {
  await db.query('delete from closed_tenants where tenant_id = $1', [tenantId]);
}

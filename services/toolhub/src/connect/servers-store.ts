import { leasesOn, type Queryable } from '@libs/db';

/** Which server of which platform. */
export interface ServerKey {
  platform: string;
  /** Its origin. */
  server: string;
}

export interface Registration {
  sealedClient: Buffer | null;
  checkedAt: Date | null;
}

const leases = leasesOn({
  table: 'connect_servers',
  key: ['platform', 'server'],
  holder: 'lease_id',
  until: 'lease_until',
  rowIs: 'kept',
});

interface Row {
  sealed_client: Buffer | null;
  checked_at: Date | null;
}
const fromRow = (row: Row): Registration => ({ sealedClient: row.sealed_client, checkedAt: row.checked_at });
const keyOf = ({ platform, server }: ServerKey) => [platform, server];

export async function findRegistration(db: Queryable, key: ServerKey): Promise<Registration | undefined> {
  const { rows } = await db.query<Row>(
    'select sealed_client, checked_at from connect_servers where platform = $1 and server = $2',
    keyOf(key),
  );
  return rows[0] && fromRow(rows[0]);
}

/** The right to register there, with what is known; undefined while another has it. */
export async function claimRegistration(
  db: Queryable,
  key: ServerKey,
  { leaseId, leaseMs }: { leaseId: string; leaseMs: number },
): Promise<Registration | undefined> {
  const claim = { holder: leaseId, ms: leaseMs, columns: 'held.sealed_client, held.checked_at' };
  const row = await leases.acquireRow<Row>(db, keyOf(key), claim);
  return row && fromRow(row);
}

/** False when the lease was another's by now, who stores its own. */
export function storeRegistration(
  db: Queryable,
  key: ServerKey,
  { leaseId, sealedClient, checkedAt }: { leaseId: string; sealedClient: Buffer; checkedAt: Date },
): Promise<boolean> {
  const set = { sql: 'sealed_client = $1, checked_at = $2', values: [sealedClient, checkedAt] };
  return leases.release(db, keyOf(key), { holder: leaseId, set });
}

export function releaseRegistration(db: Queryable, key: ServerKey, leaseId: string): Promise<boolean> {
  return leases.release(db, keyOf(key), { holder: leaseId });
}

/** The server does not know this client any more. */
export async function forgetRegistration(db: Queryable, key: ServerKey): Promise<void> {
  await db.query(
    'update connect_servers set sealed_client = null, checked_at = null where platform = $1 and server = $2',
    keyOf(key),
  );
}

/** Those that nobody asked for in a long time, and those that came to nothing; at most `limit` at once. */
export async function deleteUnusedRegistrations(
  db: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<void> {
  await db.query(
    `delete from connect_servers where (platform, server) in (
       select platform, server from connect_servers
       where checked_at < $1 or (checked_at is null and (lease_until is null or lease_until < $1)) limit $2)`,
    [before, limit],
  );
}

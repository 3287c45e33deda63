import { leasesOn, type Queryable } from '@libs/db';
import type { CredentialKey, CredentialRow, CredentialStatus } from './credential.ts';

export interface CredentialRecordRow {
  customer_id: string;
  platform: string;
  slot: string;
  account: string;
  status: CredentialStatus;
  sealed: Buffer;
  expires_at: Date | null;
  refreshable: boolean;
  version: number;
  seed: string | null;
  updated_at: Date;
}

export const CREDENTIAL_COLUMNS =
  'customer_id, platform, slot, account, status, sealed, expires_at, refreshable, version, seed, updated_at';

export function fromCredentialRow(row: CredentialRecordRow): CredentialRow {
  return {
    customerId: row.customer_id,
    platform: row.platform,
    slot: row.slot,
    account: row.account,
    status: row.status,
    sealed: row.sealed,
    expiresAt: row.expires_at,
    refreshable: row.refreshable,
    version: row.version,
    seed: row.seed,
    updatedAt: row.updated_at,
  };
}

export async function findCredential(db: Queryable, key: CredentialKey): Promise<CredentialRow | undefined> {
  const { rows } = await db.query<CredentialRecordRow>(
    {
      name: 'credentials.find',
      text: `select ${CREDENTIAL_COLUMNS} from credentials where customer_id = $1 and platform = $2 and slot = $3`,
    },
    [key.customerId, key.platform, key.slot],
  );
  return rows[0] && fromCredentialRow(rows[0]);
}

/** Holds the row until the transaction ends, so that the status before a change is known for certain. */
export async function lockCredential(tx: Queryable, key: CredentialKey): Promise<CredentialRow | undefined> {
  const { rows } = await tx.query<CredentialRecordRow>(
    {
      name: 'credentials.lock',
      text: `select ${CREDENTIAL_COLUMNS} from credentials where customer_id = $1 and platform = $2 and slot = $3 for update`,
    },
    [key.customerId, key.platform, key.slot],
  );
  return rows[0] && fromCredentialRow(rows[0]);
}

/** Holds the row against every change until the transaction ends, unless it is another version by now, or over. */
export async function holdVersion(tx: Queryable, key: CredentialKey, version: number): Promise<boolean> {
  const { rows } = await tx.query(
    {
      name: 'credentials.hold',
      text: `select 1 from credentials where customer_id = $1 and platform = $2 and slot = $3 and version = $4
        and status = 'connected' for share`,
    },
    [key.customerId, key.platform, key.slot, version],
  );
  return rows.length > 0;
}

export async function listCredentials(
  db: Queryable,
  { customerId, after, limit }: { customerId: string; after: string; limit: number },
): Promise<CredentialRow[]> {
  const { rows } = await db.query<CredentialRecordRow>(
    {
      name: 'credentials.list',
      text: `select ${CREDENTIAL_COLUMNS} from credentials where customer_id = $1 and slot = '' and platform > $2
        order by platform limit $3`,
    },
    [customerId, after, limit],
  );
  return rows.map(fromCredentialRow);
}

export async function listConnectedPlatforms(db: Queryable, customerId: string): Promise<string[]> {
  const { rows } = await db.query<{ platform: string }>(
    {
      name: 'credentials.platforms',
      text: `select platform from credentials where customer_id = $1 and slot = ''`,
    },
    [customerId],
  );
  return rows.map(({ platform }) => platform);
}

export async function listCustomersOf(
  db: Queryable,
  { platform, after, limit }: { platform: string; after: string; limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ customer_id: string }>(
    {
      name: 'credentials.customers_of',
      text: `select customer_id from credentials
        where platform = $1 and customer_id > $2 and slot = '' and status = 'connected'
        order by customer_id limit $3`,
    },
    [platform, after, limit],
  );
  return rows.map(({ customer_id }) => customer_id);
}

export interface NewCredential extends CredentialKey {
  account: string;
  status: CredentialStatus;
  sealed: Buffer;
  expiresAt: Date | null;
  refreshable: boolean;
  seed: string | null;
  now: Date;
}

// Versions begin with the moment: one that is stored after another was removed must not be taken for that one.
const PUT = `insert into credentials as held (customer_id, platform, slot, account, status, sealed, expires_at,
    refreshable, seed, created_at, updated_at, version)
  values ($1, $2, $3, $4, $10, $5, $6, $7, $8, $9, $9, (extract(epoch from $9::timestamptz) * 1000)::bigint)
  on conflict (customer_id, platform, slot) do update set account = excluded.account, status = excluded.status,
    sealed = excluded.sealed, expires_at = excluded.expires_at, refreshable = excluded.refreshable,
    seed = excluded.seed, version = held.version + 1, lease_id = null, lease_until = null,
    updated_at = excluded.updated_at`;

function putValues(credential: NewCredential): unknown[] {
  const { customerId, platform, slot, account, status, sealed, expiresAt, refreshable, seed, now } =
    credential;
  return [customerId, platform, slot, account, sealed, expiresAt, refreshable, seed, now, status];
}

/** Takes the place of whatever was there; a renewal that is under way loses its lease and with it its right to store. */
export async function putCredential(tx: Queryable, credential: NewCredential): Promise<CredentialRow> {
  const { rows } = await tx.query<CredentialRecordRow>(
    { name: 'credentials.put', text: `${PUT} returning ${CREDENTIAL_COLUMNS}` },
    putValues(credential),
  );
  return fromCredentialRow(rows[0] as CredentialRecordRow);
}

/**
 * Undefined when the row of this seed is there already: it may hold newer tokens, which must not be overwritten, unless it
 * is the version that nobody can read.
 */
export async function seedCredential(
  db: Queryable,
  credential: NewCredential,
  unreadableVersion: number | null,
): Promise<CredentialRow | undefined> {
  const { rows } = await db.query<CredentialRecordRow>(
    {
      name: 'credentials.seed',
      text: `${PUT} where held.seed is distinct from excluded.seed or held.version = $11
        returning ${CREDENTIAL_COLUMNS}`,
    },
    [...putValues(credential), unreadableVersion],
  );
  return rows[0] && fromCredentialRow(rows[0]);
}

/** Its version stays: nothing of what is sealed has changed. */
export async function renameCredential(
  db: Queryable,
  key: CredentialKey,
  { version, account }: { version: number; account: string },
): Promise<void> {
  await db.query(
    {
      name: 'credentials.rename',
      text: `update credentials set account = $5
        where customer_id = $1 and platform = $2 and slot = $3 and version = $4`,
    },
    [key.customerId, key.platform, key.slot, version, account],
  );
}

export async function deleteCredential(tx: Queryable, key: CredentialKey): Promise<boolean> {
  const { rowCount } = await tx.query(
    {
      name: 'credentials.delete',
      text: 'delete from credentials where customer_id = $1 and platform = $2 and slot = $3',
    },
    [key.customerId, key.platform, key.slot],
  );
  return rowCount === 1;
}

const leases = leasesOn({
  table: 'credentials',
  key: ['customer_id', 'platform', 'slot'],
  holder: 'lease_id',
  until: 'lease_until',
  rowIs: 'given',
});

const leaseKeyOf = ({ customerId, platform, slot }: CredentialKey) => [customerId, platform, slot];

/** The right to renew exactly this version, or undefined: someone else has it, or it is not that version any more. */
export async function claimRenewal(
  db: Queryable,
  key: CredentialKey,
  { leaseId, leaseMs, version }: { leaseId: string; leaseMs: number; version: number },
): Promise<CredentialRow | undefined> {
  const row = await leases.acquireRow<CredentialRecordRow>(db, leaseKeyOf(key), {
    holder: leaseId,
    ms: leaseMs,
    where: { sql: `held.version = $1 and held.status = 'connected'`, values: [version] },
    columns: CREDENTIAL_COLUMNS,
  });
  return row && fromCredentialRow(row);
}

export async function releaseRenewal(db: Queryable, key: CredentialKey, leaseId: string): Promise<void> {
  await leases.release(db, leaseKeyOf(key), { holder: leaseId });
}

/** Undefined when the lease was lost, and with it the right to store. */
export async function storeRenewed(
  db: Queryable,
  key: CredentialKey,
  renewed: { leaseId: string; sealed: Buffer; expiresAt: Date | null; refreshable: boolean; now: Date },
): Promise<CredentialRow | undefined> {
  const { leaseId, sealed, expiresAt, refreshable, now } = renewed;
  const row = await leases.releaseRow<CredentialRecordRow>(db, leaseKeyOf(key), {
    holder: leaseId,
    set: {
      sql: 'sealed = $1, expires_at = $2, refreshable = $3, updated_at = $4, version = held.version + 1',
      values: [sealed, expiresAt, refreshable, now],
    },
    columns: CREDENTIAL_COLUMNS,
  });
  return row && fromCredentialRow(row);
}

/** Only the version that was found wanting: one that was stored since is another credential. */
export async function markExpired(
  tx: Queryable,
  key: CredentialKey,
  { version, now }: { version: number; now: Date },
): Promise<CredentialRow | undefined> {
  const { rows } = await tx.query<CredentialRecordRow>(
    {
      name: 'credentials.mark_expired',
      text: `update credentials set status = 'expired', lease_id = null, lease_until = null, updated_at = $5
        where customer_id = $1 and platform = $2 and slot = $3 and version = $4 and status = 'connected'
        returning ${CREDENTIAL_COLUMNS}`,
    },
    [key.customerId, key.platform, key.slot, version, now],
  );
  return rows[0] && fromCredentialRow(rows[0]);
}

/** Undefined when it was given up too short a time ago, or somebody else tries it already. */
export async function retryExpired(
  db: Queryable,
  key: CredentialKey,
  { version, givenUpBefore, now }: { version: number; givenUpBefore: Date; now: Date },
): Promise<CredentialRow | undefined> {
  const { rows } = await db.query<CredentialRecordRow>(
    {
      name: 'credentials.retry_expired',
      text: `update credentials set status = 'connected', updated_at = $5
        where customer_id = $1 and platform = $2 and slot = $3 and version = $4 and status = 'expired'
          and updated_at <= $6
        returning ${CREDENTIAL_COLUMNS}`,
    },
    [key.customerId, key.platform, key.slot, version, now, givenUpBefore],
  );
  return rows[0] && fromCredentialRow(rows[0]);
}

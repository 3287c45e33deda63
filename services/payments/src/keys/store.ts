import assert from 'node:assert/strict';
import type { Queryable } from '@libs/db';
import { LAST_MOMENT } from '../moment.ts';
import type { ApiKey, LiveAccess, Organisation } from './key.ts';

interface KeyRow {
  id: string;
  organisation_id: string;
  mode: ApiKey['mode'];
  name: string;
  hint: string;
  scopes: ApiKey['scopes'];
  expires_at: Date | null;
  revoked_at: Date | null;
  replaced_by: string | null;
  created_at: Date;
}

const COLUMNS =
  'id, organisation_id, mode, name, hint, scopes, expires_at, revoked_at, replaced_by, created_at';

function fromRow(row: KeyRow): ApiKey {
  return {
    id: row.id,
    organisationId: row.organisation_id,
    mode: row.mode,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes,
    expiresAt: row.expires_at && sayable(row.expires_at),
    revokedAt: row.revoked_at,
    replacedBy: row.replaced_by,
    createdAt: row.created_at,
  };
}

/** A key of an earlier version may end in the year 10000, which no answer can show. */
function sayable(end: Date): Date {
  return end > LAST_MOMENT ? LAST_MOMENT : end;
}

/** Does nothing where the organisation is there already: only the sandbox's has a fixed id. */
export async function insertOrganisation(tx: Queryable, organisation: Organisation): Promise<void> {
  await tx.query(
    `insert into organisations (id, name, live_access, created_at) values ($1, $2, $3, $4)
     on conflict (id) do nothing`,
    [organisation.id, organisation.name, organisation.liveAccess, organisation.createdAt],
  );
}

/** Until the transaction ends the operator's answer stays what it is here; undefined where there is no such organisation. */
export async function holdLiveAccess(tx: Queryable, id: string): Promise<LiveAccess | undefined> {
  const { rows } = await tx.query<{ live_access: LiveAccess }>(
    'select live_access from organisations where id = $1 for share',
    [id],
  );
  return rows[0]?.live_access;
}

export async function organisationExists(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query('select 1 from organisations where id = $1', [id]);
  return rowCount > 0;
}

/** Does nothing where the key is there already: only the sandbox's is fixed. */
export async function insertKey(tx: Queryable, key: ApiKey, hash: Buffer): Promise<void> {
  await tx.query(
    `insert into api_keys (hash, ${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (hash) do nothing`,
    [
      hash,
      key.id,
      key.organisationId,
      key.mode,
      key.name,
      key.hint,
      key.scopes,
      key.expiresAt,
      key.revokedAt,
      key.replacedBy,
      key.createdAt,
    ],
  );
}

/** With the epoch that the test mode of its organisation has come to. */
export async function findKeyByHash(
  db: Queryable,
  hash: Buffer,
): Promise<{ key: ApiKey; testEpoch: number } | undefined> {
  const { rows } = await db.query<KeyRow & { test_epoch: number }>(
    {
      name: 'keys.find',
      text: `select ${COLUMNS}, (select test_epoch from organisations o where o.id = organisation_id) as test_epoch
        from api_keys where hash = $1`,
    },
    [hash],
  );
  return rows[0] && { key: fromRow(rows[0]), testEpoch: rows[0].test_epoch };
}

/** Until the transaction ends nobody begins another one; undefined where there is no such organisation. */
export async function holdTestEpoch(tx: Queryable, organisationId: string): Promise<number | undefined> {
  const { rows } = await tx.query<{ test_epoch: number }>(
    'select test_epoch from organisations where id = $1 for share',
    [organisationId],
  );
  return rows[0]?.test_epoch;
}

/** Answers the epoch that begins. */
export async function raiseTestEpoch(tx: Queryable, organisationId: string): Promise<number> {
  const { rows } = await tx.query<{ test_epoch: number }>(
    'update organisations set test_epoch = test_epoch + 1 where id = $1 returning test_epoch',
    [organisationId],
  );
  assert(rows[0], `there is no organisation ${organisationId}`);
  return rows[0].test_epoch;
}

/** Locks the key, so that it is rolled once even when two ask at the same time. */
export async function lockKey(tx: Queryable, id: string): Promise<ApiKey | undefined> {
  const { rows } = await tx.query<KeyRow>(`select ${COLUMNS} from api_keys where id = $1 for update`, [id]);
  return rows[0] && fromRow(rows[0]);
}

/** Whether it works; until the transaction ends nobody revokes it then. */
export async function holdKey(tx: Queryable, id: string, now: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select 1 from api_keys where id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
     for share`,
    [id, now],
  );
  return rowCount === 1;
}

/** Of one mode or both, newest first; `before` is the id of the last one that was shown. */
export async function listKeys(
  db: Queryable,
  query: Pick<ApiKey, 'organisationId'> & {
    mode: ApiKey['mode'] | null;
    before: string | null;
    limit: number;
  },
): Promise<ApiKey[]> {
  const { rows } = await db.query<KeyRow>(
    `select ${COLUMNS} from api_keys where organisation_id = $1 and ($2::text is null or mode = $2)
       and ($3::text is null or id < $3) order by id desc limit $4`,
    [query.organisationId, query.mode, query.before, query.limit],
  );
  return rows.map(fromRow);
}

export async function countWorkingKeys(
  db: Queryable,
  query: Pick<ApiKey, 'organisationId' | 'mode'>,
  now: Date,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from api_keys where organisation_id = $1 and mode = $2
       and revoked_at is null and (expires_at is null or expires_at > $3)`,
    [query.organisationId, query.mode, now],
  );
  return rows[0]?.count ?? 0;
}

export async function endKey(
  tx: Queryable,
  id: string,
  end: Pick<ApiKey, 'expiresAt' | 'revokedAt' | 'replacedBy'>,
): Promise<void> {
  await tx.query('update api_keys set expires_at = $2, revoked_at = $3, replaced_by = $4 where id = $1', [
    id,
    end.expiresAt,
    end.revokedAt,
    end.replacedBy,
  ]);
}

/** Of an organisation; answers which of them worked until now. */
export async function endKeysOf(
  tx: Queryable,
  keys: { organisationId: string; modes: readonly ApiKey['mode'][] },
  at: Date,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update api_keys set revoked_at = $3
     where organisation_id = $1 and mode = any($2) and revoked_at is null returning id`,
    [keys.organisationId, keys.modes, at],
  );
  return rows.map(({ id }) => id);
}

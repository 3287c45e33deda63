import type { Queryable } from '@libs/db';
import { atTokenOwner, grantKey, noteTokenOwner } from '../token-owners-store.ts';
import { findClientName } from './clients-store.ts';

/** What the library wants kept, without the secret itself: rows are found by its hash. */
export type Payload = Record<string, unknown>;

/** What can be spent once: a code, or a refresh token. */
export interface Spendable {
  payload: Payload;
  used: boolean;
  usedAt: Date | null;
  exchangedAt: Date | null;
  contendedUntil: Date | null;
}

interface SpendableRow {
  payload: Payload;
  used: boolean;
  used_at: Date | null;
  exchanged_at: Date | null;
  contended_until: Date | null;
}

const SPENDABLE = 'payload, used, used_at, exchanged_at, contended_until';

function fromSpendableRow(row: SpendableRow): Spendable {
  return {
    payload: row.payload,
    used: row.used,
    usedAt: row.used_at,
    exchangedAt: row.exchanged_at,
    contendedUntil: row.contended_until,
  };
}

export async function insertCode(
  db: Queryable,
  code: {
    customerId: string;
    codeHash: Buffer;
    grantId: string;
    clientId: string;
    redirectUri: string;
    payload: Payload;
    createdAt: Date;
    expiresAt: Date;
  },
): Promise<void> {
  const { codeHash, customerId, expiresAt, createdAt } = code;
  await noteTokenOwner(db, { key: codeHash, customerId, expiresAt, now: createdAt });
  await db.query(
    `with client as (update oauth_clients set last_used_at = $7 where id = $4)
     insert into oauth_auth_codes
       (customer_id, code_hash, grant_id, client_id, redirect_uri, payload, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      code.customerId,
      code.codeHash,
      code.grantId,
      code.clientId,
      code.redirectUri,
      JSON.stringify(code.payload),
      code.createdAt,
      code.expiresAt,
    ],
  );
}

export async function findCode(db: Queryable, codeHash: Buffer): Promise<Spendable | undefined> {
  const owner = await atTokenOwner(db, codeHash, 2);
  const { rows } = await db.query<SpendableRow>(
    `select ${SPENDABLE} from oauth_auth_codes where code_hash = $1${owner.text}`,
    [codeHash, ...owner.values],
  );
  return rows[0] && fromSpendableRow(rows[0]);
}

/** The one statement that redeems a code: of all that try, in all processes, one changes the row. */
export async function consumeCode(db: Queryable, codeHash: Buffer, at: Date): Promise<boolean> {
  const owner = await atTokenOwner(db, codeHash, 3);
  const { rowCount } = await db.query(
    `update oauth_auth_codes set used = true, used_at = $2 where code_hash = $1 and used = false${owner.text}`,
    [codeHash, at, ...owner.values],
  );
  return rowCount === 1;
}

const spendables = {
  code: { table: 'oauth_auth_codes', hash: 'code_hash' },
  refresh: { table: 'oauth_tokens', hash: 'token_hash' },
} as const;
export type SpendableKind = keyof typeof spendables;

/** Prolongs the time in which racing requests wait for each other; null when the row is gone. */
export async function contend(
  db: Queryable,
  kind: SpendableKind,
  hash: Buffer,
  until: Date,
): Promise<Date | null> {
  const { table, hash: column } = spendables[kind];
  const owner = await atTokenOwner(db, hash, 3);
  const { rows } = await db.query<{ contended_until: Date }>(
    `update ${table} set contended_until = greatest(contended_until, $2) where ${column} = $1${owner.text}
     returning contended_until`,
    [hash, until, ...owner.values],
  );
  return rows[0]?.contended_until ?? null;
}

export async function readContention(db: Queryable, kind: SpendableKind, hash: Buffer): Promise<Date | null> {
  const { table, hash: column } = spendables[kind];
  const owner = await atTokenOwner(db, hash, 2);
  const { rows } = await db.query<{ contended_until: Date | null }>(
    `select contended_until from ${table} where ${column} = $1${owner.text}`,
    [hash, ...owner.values],
  );
  return rows[0]?.contended_until ?? null;
}

export async function markExchanged(
  db: Queryable,
  kind: SpendableKind,
  hash: Buffer,
  at: Date,
): Promise<void> {
  const { table, hash: column } = spendables[kind];
  const owner = await atTokenOwner(db, hash, 3);
  await db.query(`update ${table} set exchanged_at = $2 where ${column} = $1${owner.text}`, [
    ...[hash, at, ...owner.values],
  ]);
}

export interface NewOAuthToken {
  customerId: string;
  id: string;
  tokenHash: Buffer;
  kind: 'access' | 'refresh';
  grantId: string;
  clientId: string;
  scopes: readonly string[];
  audience: string | null;
  payload: Payload;
  createdAt: Date;
  expiresAt: Date;
}

/**
 * False when the grant is gone. Its row is held until the insert commits, so that a revocation at the same moment
 * either sees the new token or keeps it from being made.
 */
export async function insertOAuthToken(db: Queryable, token: NewOAuthToken): Promise<boolean> {
  const { customerId, tokenHash, expiresAt, createdAt } = token;
  await noteTokenOwner(db, { key: tokenHash, customerId, expiresAt, now: createdAt });
  const { rowCount } = await db.query(
    `with consent as (select id from oauth_grants where customer_id = $1 and id = $5 for key share)
     insert into oauth_tokens (customer_id, id, token_hash, kind, grant_id, client_id, scopes, audience, payload,
       created_at, expires_at)
     select $1, $2, $3, $4, consent.id, $6, $7, $8, $9, $10, $11 from consent`,
    [
      token.customerId,
      token.id,
      token.tokenHash,
      token.kind,
      token.grantId,
      token.clientId,
      token.scopes,
      token.audience,
      JSON.stringify(token.payload),
      token.createdAt,
      token.expiresAt,
    ],
  );
  return rowCount === 1;
}

export async function findToken(
  db: Queryable,
  tokenHash: Buffer,
  kind: 'access' | 'refresh',
): Promise<Spendable | undefined> {
  const owner = await atTokenOwner(db, tokenHash, 3);
  const { rows } = await db.query<SpendableRow>(
    `select ${SPENDABLE} from oauth_tokens where token_hash = $1 and kind = $2${owner.text}`,
    [tokenHash, kind, ...owner.values],
  );
  return rows[0] && fromSpendableRow(rows[0]);
}

export interface AccessTokenRecord {
  customerId: string;
  id: string;
  grantId: string;
  scopes: string[];
  audience: string | null;
  expiresAt: Date;
  /** What the client calls itself, or its id. */
  clientName: string;
}

const LIVE =
  'token.customer_id, token.id, token.client_id, token.grant_id, token.scopes, token.audience, token.expires_at';
const IS_LIVE = `token.token_hash = $1 and token.kind = 'access' and token.expires_at > $2`;

export async function findLiveAccessToken(
  db: Queryable,
  tokenHash: Buffer,
  now: Date,
): Promise<AccessTokenRecord | undefined> {
  const owner = await atTokenOwner(db, tokenHash, 3);
  const { rows } = await db.query<{
    customer_id: string;
    id: string;
    client_id: string;
    grant_id: string;
    scopes: string[];
    audience: string | null;
    expires_at: Date;
    client_name?: string | null;
  }>(
    // Tokens and clients lie on different servers where tables are spread.
    db.isSpread
      ? {
          name: `oauth_tokens.live.apart${owner.text}`,
          text: `select ${LIVE} from oauth_tokens as token where ${IS_LIVE}${owner.text}`,
        }
      : {
          name: 'oauth_tokens.live',
          text: `select ${LIVE}, client.metadata ->> 'client_name' as client_name
                 from oauth_tokens as token left join oauth_clients as client on client.id = token.client_id
                 where ${IS_LIVE}`,
        },
    [tokenHash, now, ...owner.values],
  );
  const [row] = rows;
  if (row !== undefined && owner.text === '')
    await noteTokenOwner(db, { key: tokenHash, customerId: row.customer_id, expiresAt: row.expires_at, now });
  const name = row && db.isSpread ? await findClientName(db, row.client_id) : row?.client_name;
  return (
    row && {
      customerId: row.customer_id,
      id: row.id,
      grantId: row.grant_id,
      scopes: row.scopes,
      audience: row.audience,
      expiresAt: row.expires_at,
      clientName: name ?? row.client_id,
    }
  );
}

export async function consumeRefreshToken(db: Queryable, tokenHash: Buffer, at: Date): Promise<boolean> {
  const owner = await atTokenOwner(db, tokenHash, 3);
  const { rowCount } = await db.query(
    `update oauth_tokens set used = true, used_at = $2
     where token_hash = $1 and kind = 'refresh' and used = false${owner.text}`,
    [tokenHash, at, ...owner.values],
  );
  return rowCount === 1;
}

export async function deleteOAuthToken(
  tx: Queryable,
  tokenHash: Buffer,
): Promise<{ customerId: string; id: string } | undefined> {
  const owner = await atTokenOwner(tx, tokenHash, 2);
  const { rows } = await tx.query<{ customer_id: string; id: string }>(
    `delete from oauth_tokens where token_hash = $1${owner.text} returning customer_id, id`,
    [tokenHash, ...owner.values],
  );
  return rows[0] && { customerId: rows[0].customer_id, id: rows[0].id };
}

/** Everything that one consent gave: the grant first, which also keeps further tokens from being made of it. */
export async function deleteFamily(
  tx: Queryable,
  grantId: string,
): Promise<{ customerId: string; clientId: string } | undefined> {
  const owner = await atTokenOwner(tx, grantKey(grantId), 2);
  const values = [grantId, ...owner.values];
  const { rows } = await tx.query<{ customer_id: string; client_id: string }>(
    `delete from oauth_grants where id = $1${owner.text} returning customer_id, client_id`,
    values,
  );
  await tx.query(`delete from oauth_tokens where grant_id = $1${owner.text}`, values);
  await tx.query(`update oauth_auth_codes set used = true where grant_id = $1${owner.text}`, values);
  return rows[0] && { customerId: rows[0].customer_id, clientId: rows[0].client_id };
}

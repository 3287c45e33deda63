import type { Queryable } from '@libs/db';
import { atTokenOwner, noteTokenOwner } from '../token-owners-store.ts';
import type { Scope } from './identity.ts';

export interface PersonalToken {
  customerId: string;
  id: string;
  name: string;
  scopes: readonly Scope[];
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

interface Row {
  customer_id: string;
  id: string;
  name: string;
  scopes: Scope[];
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
}

const COLUMNS = 'customer_id, id, name, scopes, created_at, expires_at, last_used_at';

function fromRow(row: Row): PersonalToken {
  return {
    customerId: row.customer_id,
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}

/** False when the customer has the most tokens that an account may have. */
export async function insertToken(
  tx: Queryable,
  token: PersonalToken & { tokenHash: Buffer },
  tokensMax: number,
): Promise<boolean> {
  // The customer's row is the lock under which two parallel calls count one after the other.
  await tx.query('select id from customers where id = $1 for update', [token.customerId]);
  const { rowCount } = await tx.query(
    `insert into personal_tokens (customer_id, id, token_hash, name, scopes, created_at, expires_at)
     select $1, $2, $3, $4, $5, $6, $7
     where (select count(*) from personal_tokens where customer_id = $1) < $8`,
    [
      token.customerId,
      token.id,
      token.tokenHash,
      token.name,
      token.scopes,
      token.createdAt,
      token.expiresAt,
      tokensMax,
    ],
  );
  if (rowCount === 1)
    await noteTokenOwner(tx, {
      ...{ key: token.tokenHash, customerId: token.customerId },
      ...{ expiresAt: token.expiresAt, now: token.createdAt },
    });
  return rowCount === 1;
}

/** Asked once a minute and process for a token in use, so the time of last use costs no write of its own. */
export async function findTokenInUse(
  db: Queryable,
  tokenHash: Buffer,
  now: Date,
): Promise<PersonalToken | undefined> {
  const owner = await atTokenOwner(db, tokenHash, 3);
  const { rows } = await db.query<Row>(
    {
      name: `personal_tokens.use${owner.text}`,
      text: `update personal_tokens set last_used_at = $2
             where token_hash = $1 and (expires_at is null or expires_at > $2)${owner.text} returning ${COLUMNS}`,
    },
    [tokenHash, now, ...owner.values],
  );
  const found = rows[0] && fromRow(rows[0]);
  if (found !== undefined && owner.text === '')
    await noteTokenOwner(db, {
      key: tokenHash,
      customerId: found.customerId,
      expiresAt: found.expiresAt,
      now,
    });
  return found;
}

export async function listTokens(
  db: Queryable,
  query: { customerId: string; before: string | undefined; limit: number },
): Promise<PersonalToken[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from personal_tokens where customer_id = $1 and ($2::text is null or id < $2)
     order by id desc limit $3`,
    [query.customerId, query.before ?? null, query.limit],
  );
  return rows.map(fromRow);
}

export async function deleteToken(
  tx: Queryable,
  token: { customerId: string; id: string },
): Promise<boolean> {
  const { rowCount } = await tx.query('delete from personal_tokens where customer_id = $1 and id = $2', [
    token.customerId,
    token.id,
  ]);
  return rowCount === 1;
}

export async function deleteTokensExpiredBefore(db: Queryable, at: Date): Promise<void> {
  await db.query('delete from personal_tokens where expires_at < $1', [at]);
}

export async function findPersonalToken(
  db: Queryable,
  { customerId, id }: { customerId: string; id: string },
): Promise<PersonalToken | undefined> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from personal_tokens where customer_id = $1 and id = $2`,
    [customerId, id],
  );
  return rows[0] && fromRow(rows[0]);
}

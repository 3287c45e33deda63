import type { Queryable } from '@libs/db';

export interface SessionRecord {
  id: string;
  customerId: string;
  createdAt: Date;
  expiresAt: Date;
  /** Where it was started from, for the person to recognise it. */
  ip: string | null;
  userAgent: string | null;
}

interface SessionRow {
  id: string;
  customer_id: string;
  created_at: Date;
  expires_at: Date;
  ip: string | null;
  user_agent: string | null;
}

const COLUMNS = 'id, customer_id, created_at, expires_at, ip, user_agent';

function fromRow(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    customerId: row.customer_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ip: row.ip,
    userAgent: row.user_agent,
  };
}

export async function insertSession(
  db: Queryable,
  session: SessionRecord & { tokenHash: Buffer },
): Promise<void> {
  await db.query(
    `insert into sessions (customer_id, id, token_hash, created_at, expires_at, ip, user_agent)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      session.customerId,
      session.id,
      session.tokenHash,
      session.createdAt,
      session.expiresAt,
      session.ip,
      session.userAgent,
    ],
  );
}

export async function findSession(
  db: Queryable,
  key: { tokenHash: Buffer } | { id: string },
  now: Date,
): Promise<SessionRecord | undefined> {
  const [column, value] = 'id' in key ? (['id', key.id] as const) : (['token_hash', key.tokenHash] as const);
  const { rows } = await db.query<SessionRow>(
    {
      name: `sessions.find.${column}`,
      text: `select ${COLUMNS} from sessions where ${column} = $1 and expires_at > $2`,
    },
    [value, now],
  );
  return rows[0] && fromRow(rows[0]);
}

/** Newest first; `before` is the id of the last one that was shown. */
export async function listSessions(
  db: Queryable,
  query: { customerId: string; before: string | undefined; limit: number; now: Date },
): Promise<SessionRecord[]> {
  const { rows } = await db.query<SessionRow>(
    `select ${COLUMNS} from sessions
     where customer_id = $1 and ($2::text is null or id < $2) and expires_at > $4 order by id desc limit $3`,
    [query.customerId, query.before ?? null, query.limit, query.now],
  );
  return rows.map(fromRow);
}

export async function deleteSession(db: Queryable, tokenHash: Buffer): Promise<SessionRecord | undefined> {
  const { rows } = await db.query<SessionRow>(
    `delete from sessions where token_hash = $1 returning ${COLUMNS}`,
    [tokenHash],
  );
  return rows[0] && fromRow(rows[0]);
}

export async function deleteSessionById(
  db: Queryable,
  session: { customerId: string; id: string },
): Promise<boolean> {
  const { rowCount } = await db.query('delete from sessions where customer_id = $1 and id = $2', [
    session.customerId,
    session.id,
  ]);
  return rowCount === 1;
}

/** Ends every session of the customer, or every one but the one that asks for it. */
export async function deleteSessionsOf(
  db: Queryable,
  customerId: string,
  except: string | null = null,
): Promise<void> {
  await db.query('delete from sessions where customer_id = $1 and ($2::text is null or id <> $2)', [
    customerId,
    except,
  ]);
}

export async function deleteExpiredSessions(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from sessions where expires_at < $1', [now]);
}

import type { Queryable } from '@libs/db';
import type { PersonColumn } from './person.ts';
import type { Session } from './session.ts';

interface SessionRow {
  id: string;
  person_id: string;
  context: string | null;
  created_at: Date;
  expires_at: Date;
  ip: string | null;
  user_agent: string | null;
}

function fromRow(row: SessionRow): Session {
  return {
    id: row.id,
    personId: row.person_id,
    context: row.context,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ip: row.ip,
    userAgent: row.user_agent,
  };
}

export interface SessionsStore {
  insert(db: Queryable, session: Session & { tokenHash: Buffer }): Promise<void>;
  find(db: Queryable, key: { tokenHash: Buffer } | { id: string }, now: Date): Promise<Session | undefined>;
  /** Newest first; `before` is the id of the last one that was shown. */
  list(
    db: Queryable,
    query: { personId: string; before: string | undefined; limit: number; now: Date },
  ): Promise<Session[]>;
  setContext(db: Queryable, session: { personId: string; id: string; context: string }): Promise<void>;
  hold(tx: Queryable, session: { personId: string; id: string }): Promise<boolean>;
  deleteByToken(db: Queryable, tokenHash: Buffer): Promise<Session | undefined>;
  deleteById(db: Queryable, session: { personId: string; id: string }): Promise<boolean>;
  /** Every session of the person, or every one but the one that asks for it. */
  deleteAll(db: Queryable, personId: string, except?: string | null): Promise<void>;
  deleteExpired(db: Queryable, now: Date): Promise<void>;
}

/** Where tables are spread by person: whose a session is, by the hash of its token or by its id, so that one server alone is asked for it. */
export interface SessionOwners {
  note(db: Queryable, owner: { key: Buffer; personId: string; expiresAt: Date }): Promise<void>;
  /** The end of a condition whose value takes this place; nothing where it is not known. */
  at(
    db: Queryable,
    key: Buffer,
    place: number,
  ): Promise<{ readonly text: string; readonly values: readonly string[] }>;
}

const NO_OWNERS: SessionOwners = {
  note: async () => {},
  at: async () => ({ text: '', values: [] }),
};

export function createSessionsStore(person: PersonColumn, owners: SessionOwners = NO_OWNERS): SessionsStore {
  const columns = `id, ${person} as person_id, context, created_at, expires_at, ip, user_agent`;
  return {
    async insert(db, session) {
      const { personId, expiresAt } = session;
      for (const key of [session.tokenHash, Buffer.from(session.id)])
        await owners.note(db, { key, personId, expiresAt });
      await db.query(
        `insert into sessions (${person}, id, token_hash, context, created_at, expires_at, ip, user_agent)
         values ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [
          session.personId,
          session.id,
          session.tokenHash,
          session.context,
          session.createdAt,
          session.expiresAt,
          session.ip,
          session.userAgent,
        ],
      );
    },

    async find(db, key, now) {
      const [column, value] =
        'id' in key ? (['id', key.id] as const) : (['token_hash', key.tokenHash] as const);
      const noted = 'id' in key ? Buffer.from(key.id) : key.tokenHash;
      const owner = await owners.at(db, noted, 3);
      const { rows } = await db.query<SessionRow>(
        {
          name: `sessions.find.${column}${owner.text}`,
          text: `select ${columns} from sessions where ${column} = $1 and expires_at > $2${owner.text}`,
        },
        [value, now, ...owner.values],
      );
      const [row] = rows;
      if (row !== undefined && owner.text === '')
        await owners.note(db, { key: noted, personId: row.person_id, expiresAt: row.expires_at });
      return row && fromRow(row);
    },

    async list(db, query) {
      const { rows } = await db.query<SessionRow>(
        `select ${columns} from sessions
         where ${person} = $1 and ($2::text is null or id < $2) and expires_at > $4 order by id desc limit $3`,
        [query.personId, query.before ?? null, query.limit, query.now],
      );
      return rows.map(fromRow);
    },

    async setContext(db, { personId, id, context }) {
      await db.query(`update sessions set context = $3 where ${person} = $1 and id = $2`, [
        personId,
        id,
        context,
      ]);
    },

    async hold(tx, { personId, id }) {
      const { rowCount } = await tx.query(
        `select 1 from sessions where ${person} = $1 and id = $2 for key share`,
        [personId, id],
      );
      return rowCount === 1;
    },

    async deleteByToken(db, tokenHash) {
      const owner = await owners.at(db, tokenHash, 2);
      const { rows } = await db.query<SessionRow>(
        `delete from sessions where token_hash = $1${owner.text} returning ${columns}`,
        [tokenHash, ...owner.values],
      );
      return rows[0] && fromRow(rows[0]);
    },

    async deleteById(db, { personId, id }) {
      const { rowCount } = await db.query(`delete from sessions where ${person} = $1 and id = $2`, [
        personId,
        id,
      ]);
      return rowCount === 1;
    },

    async deleteAll(db, personId, except = null) {
      await db.query(`delete from sessions where ${person} = $1 and ($2::text is null or id <> $2)`, [
        personId,
        except,
      ]);
    },

    async deleteExpired(db, now) {
      await db.query('delete from sessions where expires_at < $1', [now]);
    },
  };
}

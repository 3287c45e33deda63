import type { Database, Queryable } from '@libs/db';
import { hashToken, type NewId, newToken, type RandomBytes } from '@libs/seal';
import { SESSION_DAYS, type Session, type SessionOrigin } from './session.ts';
import type { SessionsStore } from './sessions-store.ts';

const DAY_MS = 24 * 60 * 60_000;
const USER_AGENT_CHARACTERS_MAX = 300;

export interface StartedSession {
  id: string;
  /** The value of the cookie; only its hash is stored. */
  token: string;
}

export interface Sessions {
  /** In the caller's transaction, or by itself. */
  start(
    db: Queryable,
    session: { personId: string; from: SessionOrigin; context?: string | null },
  ): Promise<StartedSession>;
  /** The session behind a cookie's value, if it still runs. */
  find(token: string): Promise<Session | undefined>;
  findById(id: string): Promise<Session | undefined>;
  list(query: { personId: string; before: string | undefined; limit: number }): Promise<Session[]>;
  setContext(db: Queryable, session: { personId: string; id: string; context: string }): Promise<void>;
  /** Whether it still runs; if so, nobody ends it before the transaction does. For what would outlive it. */
  hold(tx: Queryable, session: { personId: string; id: string }): Promise<boolean>;
  end(token: string): Promise<Session | undefined>;
  endById(session: { personId: string; id: string }): Promise<boolean>;
  /** All of a person's but the one that asks for it. */
  endOthers(asking: { personId: string; sessionId: string | undefined }): Promise<void>;
  /** All of a person's, or all but the one that asks for it. */
  endAll(tx: Queryable, personId: string, except?: string | null): Promise<void>;
  purge(): Promise<void>;
}

export interface SessionsOptions {
  database: Database;
  store: SessionsStore;
  /** By which a cookie's value is known for ours, without a look into the database. */
  tokenPrefix: string;
  newId: NewId;
  randomBytes: RandomBytes;
  now: () => Date;
}

/**
 * Sessions are looked up at every request and remembered by no process: one that was ended has ended everywhere at once.
 */
export function createSessions(options: SessionsOptions): Sessions {
  const { database, store, tokenPrefix, now } = options;
  return {
    async start(db, { personId, from, context = null }) {
      const createdAt = now();
      const token = newToken(tokenPrefix, options.randomBytes);
      const id = options.newId('ses');
      await store.insert(db, {
        ...{ id, personId, context, createdAt, tokenHash: hashToken(token), ip: from.ip },
        expiresAt: new Date(createdAt.getTime() + SESSION_DAYS * DAY_MS),
        userAgent: from.userAgent?.slice(0, USER_AGENT_CHARACTERS_MAX).toWellFormed() ?? null,
      });
      return { id, token };
    },
    async find(token) {
      if (!token.startsWith(tokenPrefix)) return undefined;
      return store.find(database, { tokenHash: hashToken(token) }, now());
    },
    findById: (id) => store.find(database, { id }, now()),
    list: (query) => store.list(database, { ...query, now: now() }),
    setContext: store.setContext,
    hold: store.hold,
    end: (token) => store.deleteByToken(database, hashToken(token)),
    endById: (session) => store.deleteById(database, session),
    endOthers: ({ personId, sessionId }) => store.deleteAll(database, personId, sessionId),
    endAll: store.deleteAll,
    purge: () => store.deleteExpired(database, now()),
  };
}

import type { Database } from '@libs/db';
import { hashToken, type NewId, newToken, type RandomBytes } from '@libs/seal';
import { errors } from '../errors.ts';
import { type Customer, emailKey } from './customer.ts';
import type { Session } from './identity.ts';
import { SCOPES } from './identity.ts';
import type { AccountMails } from './login/account-mails.ts';
import type { LoginLimit } from './login/login-limit.ts';
import type { Passwords } from './login/passwords.ts';
import {
  deleteExpiredSessions,
  deleteSession,
  findSession,
  insertSession,
  type SessionRecord,
} from './login/sessions-store.ts';
import { findCustomer, findLogin, insertCustomer, renameCustomer } from './store.ts';

export const SESSION_DAYS = 30;
const DAY_MS = 24 * 60 * 60_000;
const SESSION_PREFIX = 'ths_';
const USER_AGENT_CHARACTERS_MAX = 300;

export interface SignedIn {
  customer: Customer;
  /** The value of the cookie; only its hash is stored. */
  sessionToken: string;
}

/** Where a session is started from, so that its owner recognises it later. */
export interface SessionOrigin {
  ip: string | null;
  userAgent: string | null;
}

export type LoginOutcome = ({ ok: true } & SignedIn) | { ok: false; customerId: string | null };

export interface CustomerService {
  /** A mail to verify the address leaves with it. */
  signup(input: { email: string; name: string; password: string; from: SessionOrigin }): Promise<SignedIn>;
  /** Throws over the limit of failures. Whose account it was is for the audit log alone, never for the caller. */
  login(input: { email: string; password: string; from: SessionOrigin }): Promise<LoginOutcome>;
  logout(sessionToken: string): Promise<{ customerId: string } | undefined>;
  find(customerId: string): Promise<Customer | undefined>;
  rename(customerId: string, name: string): Promise<Customer | undefined>;
  /** The session behind a cookie's value. */
  resolveCookie(sessionToken: string): Promise<CookieSession | undefined>;
  findSessionById(sessionId: string): Promise<SessionRecord | undefined>;
  purge(): Promise<void>;
}

export interface CookieSession {
  id: string;
  createdAt: Date;
  session: Session;
}

export interface CustomerDependencies {
  database: Database;
  passwords: Passwords;
  loginLimit: LoginLimit;
  mails: Pick<AccountMails, 'plan'>;
  newId: NewId;
  randomBytes: RandomBytes;
  now: () => Date;
}

/** A person at the dashboard may do everything; `offline_access` only means something for OAuth clients. */
const COOKIE_SCOPES = SCOPES.filter((scope) => scope !== 'offline_access');

export function createCustomerService(deps: CustomerDependencies): CustomerService {
  const { database, passwords, loginLimit, newId, randomBytes, now } = deps;

  function newSession(customerId: string, { ip, userAgent }: SessionOrigin) {
    const createdAt = now();
    const sessionToken = newToken(SESSION_PREFIX, randomBytes);
    return {
      sessionToken,
      row: {
        id: newId('ses'),
        customerId,
        tokenHash: hashToken(sessionToken),
        createdAt,
        expiresAt: new Date(createdAt.getTime() + SESSION_DAYS * DAY_MS),
        ip,
        userAgent: userAgent?.slice(0, USER_AGENT_CHARACTERS_MAX).toWellFormed() ?? null,
      },
    };
  }

  return {
    async signup({ email, name, password, from }) {
      const customer = {
        id: newId('cus'),
        email: email.trim(),
        name: name.trim(),
        plan: 'free',
        createdAt: now(),
        emailVerified: false,
      };
      const passwordHash = await passwords.hash(password);
      const { row, sessionToken } = newSession(customer.id, from);
      await database.transaction(async (tx) => {
        const isNew = await insertCustomer(tx, { ...customer, emailKey: emailKey(email), passwordHash });
        if (!isNew) throw errors.email_taken();
        await insertSession(tx, row);
        await deps.mails.plan(tx, 'verify', customer.id);
      });
      return { customer, sessionToken };
    },

    login({ email, password, from }) {
      const key = emailKey(email);
      return loginLimit.attempt<LoginOutcome>(key, async () => {
        const found = await findLogin(database, key);
        const matches = await passwords.verify(password, found?.passwordHash);
        if (!matches || found === undefined) return { ok: false, customerId: found?.customer.id ?? null };
        const { row, sessionToken } = newSession(found.customer.id, from);
        await insertSession(database, row);
        return { ok: true, customer: found.customer, sessionToken };
      });
    },

    async logout(sessionToken) {
      const ended = await deleteSession(database, hashToken(sessionToken));
      return ended && { customerId: ended.customerId };
    },

    find: (customerId) => findCustomer(database, customerId),
    rename: (customerId, name) => renameCustomer(database, customerId, name.trim()),

    async resolveCookie(sessionToken) {
      if (!sessionToken.startsWith(SESSION_PREFIX)) return undefined;
      const found = await findSession(database, { tokenHash: hashToken(sessionToken) }, now());
      if (found === undefined) return undefined;
      const { id, customerId, createdAt } = found;
      const session: Session = {
        kind: 'customer',
        customerId,
        via: 'cookie',
        tokenId: null,
        scopes: COOKIE_SCOPES,
        audience: null,
        sessionId: id,
      };
      return { id, createdAt, session };
    },

    findSessionById: (id) => findSession(database, { id }, now()),
    purge: () => deleteExpiredSessions(database, now()),
  };
}

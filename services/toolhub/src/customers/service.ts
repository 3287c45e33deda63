import type { Database, Queryable } from '@libs/db';
import { emailKeys, type Login, loginErrors, type People, type SessionOrigin } from '@libs/login';
import type { NewId } from '@libs/seal';
import { type Customer, FIRST_PLAN } from './customer.ts';
import type { Session } from './identity.ts';
import { SCOPES } from './identity.ts';
import type { Standing } from './standing.ts';
import {
  findCustomer,
  findLogin,
  insertCustomer,
  lockCustomer,
  markVerified,
  renameCustomer,
  setPassword,
} from './store.ts';

export const SESSION_TOKEN_PREFIX = 'ths_';

export interface SignedIn {
  customer: Customer;
  /** The value of the cookie; only its hash is stored. */
  sessionToken: string;
}

export type LoginOutcome =
  | ({ ok: true } & SignedIn)
  /** `suspended` is said to nobody but who has proved to be this customer. */
  | { ok: false; why: 'wrong' | 'suspended'; customerId: string | null };

export interface CustomerService {
  /** A mail to verify the address leaves with it. */
  signup(input: { email: string; name: string; password: string; from: SessionOrigin }): Promise<SignedIn>;
  /** Throws over the limit of failures. Whose account it was is for the audit log alone, never for the caller. */
  login(input: { email: string; password: string; from: SessionOrigin }): Promise<LoginOutcome>;
  logout(sessionToken: string): Promise<{ customerId: string } | undefined>;
  find(customerId: string): Promise<Customer | undefined>;
  rename(customerId: string, name: string, standing: Standing): Promise<Customer | undefined>;
  /** The session behind a cookie's value. */
  resolveCookie(sessionToken: string): Promise<CookieSession | undefined>;
  findSessionById(sessionId: string): Promise<StartedSession | undefined>;
  /** For a person who has proved to be this customer. */
  startSession(customerId: string, from: SessionOrigin): Promise<LoginOutcome>;
}

/** A session, as the OAuth server asks after it. */
export interface StartedSession {
  id: string;
  customerId: string;
  createdAt: Date;
  expiresAt: Date;
}

export interface CookieSession {
  id: string;
  createdAt: Date;
  session: Session;
}

export interface CustomerDependencies {
  database: Database;
  login: Pick<Login<Customer>, 'passwords' | 'sessions' | 'mails' | 'security'>;
  isSuspended: (customerId: string) => boolean;
  newId: NewId;
  now: () => Date;
}

/** The customers of this service, as the login library asks for them. */
export const customersOfLogin: People<Customer> = {
  find: findCustomer,
  findLogin,
  lock: lockCustomer,
  setPassword,
  markVerified,
};

/** A person at the dashboard may do everything; `offline_access` only means something for OAuth clients. */
const COOKIE_SCOPES = SCOPES.filter((scope) => scope !== 'offline_access');

export function createCustomerService(deps: CustomerDependencies): CustomerService {
  const { database, login, newId, now } = deps;

  async function signIn(db: Queryable, customer: Customer, from: SessionOrigin): Promise<LoginOutcome> {
    if (deps.isSuspended(customer.id)) return { ok: false, why: 'suspended', customerId: customer.id };
    const { token } = await login.sessions.start(db, { personId: customer.id, from });
    return { ok: true, customer, sessionToken: token };
  }

  return {
    async signup({ email, name, password, from }) {
      const customer = {
        id: newId('cus'),
        email: email.trim(),
        name: name.trim(),
        plan: FIRST_PLAN,
        createdAt: now(),
        emailVerified: false,
      };
      const passwordHash = await login.passwords.hash(password);
      return database.transaction(async (tx) => {
        const isNew = await insertCustomer(tx, { ...customer, emailKeys: emailKeys(email), passwordHash });
        if (!isNew) throw loginErrors.email_taken();
        const { token } = await login.sessions.start(tx, { personId: customer.id, from });
        await login.mails.plan(tx, 'verify', customer.id);
        return { customer, sessionToken: token };
      });
    },

    async login({ email, password, from }) {
      const outcome = await login.security.checkPassword({ email, password });
      if (!outcome.ok) return { ok: false, why: 'wrong', customerId: outcome.personId };
      const { person } = outcome;
      return database.transaction(async (tx) =>
        (await login.security.holdPassword(tx, outcome))
          ? signIn(tx, person, from)
          : { ok: false, why: 'wrong', customerId: person.id },
      );
    },

    async startSession(customerId, from) {
      const customer = await findCustomer(database, customerId);
      return customer ? signIn(database, customer, from) : { ok: false, why: 'wrong', customerId: null };
    },

    async logout(sessionToken) {
      const ended = await login.sessions.end(sessionToken);
      return ended && { customerId: ended.personId };
    },

    find: (customerId) => findCustomer(database, customerId),
    rename: (customerId, name, standing) =>
      database.transaction(async (tx) => {
        await standing(tx);
        return renameCustomer(tx, customerId, name.trim());
      }),

    async resolveCookie(sessionToken) {
      const found = await login.sessions.find(sessionToken);
      if (found === undefined) return undefined;
      const { id, personId, createdAt } = found;
      const session: Session = {
        kind: 'customer',
        customerId: personId,
        via: 'cookie',
        tokenId: null,
        scopes: COOKIE_SCOPES,
        audience: null,
        sessionId: id,
      };
      return { id, createdAt, session };
    },

    async findSessionById(id) {
      const found = await login.sessions.findById(id);
      if (found === undefined) return undefined;
      const { personId: customerId, createdAt, expiresAt } = found;
      return { id, customerId, createdAt, expiresAt };
    },
  };
}

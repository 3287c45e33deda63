import type { Database, Queryable } from '@libs/db';
import { hashToken } from '@libs/seal';
import { errors } from '../../errors.ts';
import { type Customer, emailKey } from '../customer.ts';
import { findCustomer, findLogin, lockPassword, markVerified, setPassword } from '../store.ts';
import type { AccountMails } from './account-mails.ts';
import type { LoginLimit } from './login-limit.ts';
import { deleteMailTokensBefore, spendMailToken, voidMailTokens } from './mail-tokens-store.ts';
import type { Passwords } from './passwords.ts';
import { deleteSessionById, deleteSessionsOf, listSessions, type SessionRecord } from './sessions-store.ts';

export interface AccountSecurity {
  /** Proves the address; throws for a link that is used, expired or unknown. */
  verify(token: string): Promise<Customer>;
  resendVerification(customerId: string): Promise<void>;
  /** Whoever asks, nothing is told; a mail leaves where there is such an account. */
  forgot(email: string): Promise<void>;
  /** Ends all sessions. The link came by mail, so it proves the address, too. */
  reset(input: { token: string; password: string }): Promise<{ customerId: string }>;
  /** Ends all other sessions. Throws over the limit of failures, and for a wrong password. */
  changePassword(input: {
    customerId: string;
    sessionId: string | null;
    current: string;
    next: string;
  }): Promise<void>;
  /** Throws over the limit of failures, and for a wrong password. */
  requirePassword(customerId: string, password: string): Promise<void>;
  sessions(query: {
    customerId: string;
    before: string | undefined;
    limit: number;
  }): Promise<SessionRecord[]>;
  endSession(session: { customerId: string; id: string }): Promise<boolean>;
  purge(): Promise<void>;
}

export interface AccountSecurityDependencies {
  database: Database;
  passwords: Passwords;
  loginLimit: LoginLimit;
  mails: AccountMails;
  /** In the transaction that verifies an address: what waited for it may leave. */
  onVerified(tx: Queryable, customerId: string): Promise<void>;
  now: () => Date;
}

const TOKENS_KEPT_MS = 48 * 60 * 60_000;

export function createAccountSecurity(deps: AccountSecurityDependencies): AccountSecurity {
  const { database, passwords, mails, now } = deps;

  async function verifyAddress(tx: Queryable, customerId: string): Promise<Customer> {
    const customer = await markVerified(tx, customerId, now());
    if (customer === undefined) throw errors.link_not_valid();
    await deps.onVerified(tx, customerId);
    return customer;
  }

  /** Checks under the same limit as logins, so that this is no way to guess beside them. */
  async function requirePassword(customerId: string, password: string): Promise<void> {
    const customer = await findCustomer(database, customerId);
    if (customer === undefined) throw errors.unauthenticated();
    const key = emailKey(customer.email);
    const { ok } = await deps.loginLimit.attempt(key, async () => {
      const found = await findLogin(database, key);
      return { ok: await passwords.verify(password, found?.passwordHash) };
    });
    if (!ok) throw errors.wrong_password();
  }

  return {
    verify: (token) =>
      database.transaction(async (tx) => {
        const spent = await spendMailToken(tx, { kind: 'verify', tokenHash: hashToken(token), now: now() });
        if (spent === undefined) throw errors.link_not_valid();
        return verifyAddress(tx, spent.customerId);
      }),

    async resendVerification(customerId) {
      const customer = await findCustomer(database, customerId);
      if (customer === undefined || customer.emailVerified) return;
      await database.transaction((tx) => mails.plan(tx, 'verify', customerId));
    },

    async forgot(email) {
      const found = await findLogin(database, emailKey(email));
      if (found === undefined) return;
      await database.transaction((tx) => mails.plan(tx, 'reset', found.customer.id));
    },

    async reset({ token, password }) {
      const passwordHash = await passwords.hash(password);
      return database.transaction(async (tx) => {
        const spent = await spendMailToken(tx, { kind: 'reset', tokenHash: hashToken(token), now: now() });
        if (spent === undefined) throw errors.link_not_valid();
        const { customerId } = spent;
        await setPassword(tx, customerId, passwordHash);
        await voidMailTokens(tx, { customerId, kind: 'reset' });
        await deleteSessionsOf(tx, customerId);
        await verifyAddress(tx, customerId);
        return { customerId };
      });
    },

    async changePassword({ customerId, sessionId, current, next }) {
      await requirePassword(customerId, current);
      const passwordHash = await passwords.hash(next);
      await database.transaction(async (tx) => {
        if ((await lockPassword(tx, customerId)) === undefined) throw errors.unauthenticated();
        await setPassword(tx, customerId, passwordHash);
        await voidMailTokens(tx, { customerId, kind: 'reset' });
        await deleteSessionsOf(tx, customerId, sessionId);
      });
    },

    requirePassword,
    sessions: (query) => listSessions(database, { ...query, now: now() }),
    endSession: (session) => deleteSessionById(database, session),
    purge: () => deleteMailTokensBefore(database, new Date(now().getTime() - TOKENS_KEPT_MS)),
  };
}

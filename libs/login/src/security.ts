import type { Database, Queryable } from '@libs/db';
import { hashToken } from '@libs/seal';
import type { AccountMails } from './account-mails.ts';
import { loginErrors } from './errors.ts';
import type { LoginLimit } from './limit.ts';
import type { MailTokenKind } from './mail-token.ts';
import type { MailTokensStore } from './mail-tokens-store.ts';
import type { Passkeys } from './passkeys.ts';
import { proofOf } from './password-proof.ts';
import type { Passwords } from './passwords.ts';
import { emailKey, emailKeys, type People, type Person } from './person.ts';
import type { Sessions } from './sessions.ts';

export type PasswordOutcome<P extends Person> = ProvenPassword<P> | { ok: false; personId: string | null };

export type ProvenPassword<P extends Person> = {
  ok: true;
  person: P;
  /** What the password was compared with. */
  passwordHash: string;
};

/** Proving an address, a password, and getting back in. */
export interface AccountSecurity<P extends Person> {
  /** Throws over the limit of failures. Whose account it was is for the audit log alone, never for the caller. */
  checkPassword(input: { email: string; password: string }): Promise<PasswordOutcome<P>>;
  /**
   * In the transaction of what the password is asked for: whether it is still the one that was proved. It stays so until
   * the end: comparing takes long, and whoever sets another one meanwhile ends the sessions that there are.
   */
  holdPassword(tx: Queryable, proven: ProvenPassword<P>): Promise<boolean>;
  /** The same, by what was kept of it while a device was asked. */
  holdProof(tx: Queryable, proof: { personId: string; passwordProof: Buffer }): Promise<boolean>;
  /** Proves the address; throws for a link that is used, expired or unknown. */
  verify(token: string): Promise<P>;
  /** In the transaction of something else that proves the address. */
  verifyAddress(tx: Queryable, personId: string): Promise<P>;
  resendVerification(personId: string): Promise<void>;
  /** Whoever asks, nothing is told; a mail leaves where there is such an account. */
  forgot(email: string): Promise<void>;
  /**
   * Ends all sessions. The link came by mail, so it proves the address, too; where nobody had proved it before, what
   * was made until then goes.
   */
  reset(input: { token: string; password: string }): Promise<{ personId: string; isReclaimed: boolean }>;
  /** Ends all other sessions. Throws over the limit of failures, and for a wrong password. */
  changePassword(input: {
    personId: string;
    sessionId: string | null;
    current: string;
    next: string;
  }): Promise<void>;
  /** Throws over the limit of failures, and for a wrong password. */
  requirePassword(personId: string, password: string): Promise<ProvenPassword<P>>;
  /** The same before the work, in whose transaction the password is still the one that was proved. */
  withPassword<T>(
    proof: { personId: string; password: string },
    work: (tx: Queryable) => Promise<T>,
  ): Promise<T>;
  purge(): Promise<void>;
}

export interface AccountSecurityOptions<P extends Person> {
  database: Database;
  people: People<P>;
  mailTokens: MailTokensStore;
  passwords: Passwords;
  limit: LoginLimit;
  sessions: Pick<Sessions, 'endAll'>;
  passkeys: Pick<Passkeys, 'forgetSecondFactors'>;
  mails: AccountMails;
  /** In the transaction that verifies an address: what waited for it may leave. */
  onVerified?(tx: Queryable, personId: string): Promise<void>;
  /** In the transaction of a reset that is the first proof of the address: who was in before may have been somebody else. */
  onReclaimed?(tx: Queryable, personId: string): Promise<void>;
  now: () => Date;
}

/** The id of no person. */
const NOBODY = 'nobody';
const TOKENS_KEPT_MS = 48 * 60 * 60_000;

export function createAccountSecurity<P extends Person>(
  options: AccountSecurityOptions<P>,
): AccountSecurity<P> {
  const { database, people, mailTokens, passwords, limit, mails, now } = options;

  /**
   * The person before the link, as who changes the password or closes the account locks them: in the other order one could
   * end as a deadlock.
   */
  async function spendLink(
    tx: Queryable,
    { kind, token }: { kind: MailTokenKind; token: string },
  ): Promise<{ personId: string }> {
    const link = { kind, tokenHash: hashToken(token) };
    const owner = await mailTokens.ownerOf(tx, link);
    if (owner !== undefined) await people.lock(tx, owner.personId);
    const spent = await mailTokens.spend(tx, { ...link, now: now() });
    if (spent === undefined) throw loginErrors.link_not_valid();
    return spent;
  }

  async function verifyAddress(tx: Queryable, personId: string): Promise<P> {
    const person = await people.markVerified(tx, personId, now());
    if (person === undefined) throw loginErrors.link_not_valid();
    await options.onVerified?.(tx, personId);
    return person;
  }

  /** Checks under the same limit as logins, so that this is no way to guess beside them. */
  async function requirePassword(personId: string, password: string): Promise<ProvenPassword<P>> {
    const person = await people.find(database, personId);
    const outcome = person && (await checkPassword({ email: person.email, password }));
    if (!outcome?.ok) throw loginErrors.wrong_password();
    return outcome;
  }

  const holdPassword = (tx: Queryable, { person, passwordHash }: ProvenPassword<P>): Promise<boolean> =>
    holdProof(tx, { personId: person.id, passwordProof: proofOf(passwordHash) });

  async function holdProof(
    tx: Queryable,
    { personId, passwordProof }: { personId: string; passwordProof: Buffer },
  ): Promise<boolean> {
    if (!(await people.lock(tx, personId))) return false;
    const person = await people.find(tx, personId);
    const found = person && (await people.findLogin(tx, emailKeys(person.email)));
    return found !== undefined && proofOf(found.passwordHash).equals(passwordProof);
  }

  /** In the transaction that sets another one: what was begun with the one of before ends in nothing. */
  async function setPassword(tx: Queryable, personId: string, passwordHash: string): Promise<void> {
    await people.setPassword(tx, personId, passwordHash);
    await mailTokens.voidAll(tx, { personId, kind: 'reset' });
    await options.passkeys.forgetSecondFactors(tx, personId);
  }

  function checkPassword({ email, password }: { email: string; password: string }) {
    return limit.attempt<PasswordOutcome<P>>(emailKey(email), async () => {
      const found = await people.findLogin(database, emailKeys(email));
      const matches = await passwords.verify(password, found?.passwordHash);
      if (!matches || found === undefined) return { ok: false, personId: found?.person.id ?? null };
      return { ok: true, ...found };
    });
  }

  return {
    checkPassword,
    holdPassword,
    holdProof,
    requirePassword,
    verifyAddress,

    async withPassword({ personId, password }, work) {
      const proven = await requirePassword(personId, password);
      return database.transaction(async (tx) => {
        if (!(await holdPassword(tx, proven))) throw loginErrors.wrong_password();
        return work(tx);
      });
    },

    verify: (token) =>
      database.transaction(async (tx) => {
        const { personId } = await spendLink(tx, { kind: 'verify', token });
        return verifyAddress(tx, personId);
      }),

    async resendVerification(personId) {
      const person = await people.find(database, personId);
      if (person === undefined || person.emailVerified) return;
      await database.transaction((tx) => mails.plan(tx, 'verify', personId));
    },

    async forgot(email) {
      const found = await people.findLogin(database, emailKeys(email));
      // A mail to nobody is planned as well, and never sent: the time of the answer tells no more than its words.
      await database.transaction((tx) => mails.plan(tx, 'reset', found?.person.id ?? NOBODY));
    },

    async reset({ token, password }) {
      const passwordHash = await passwords.hash(password);
      return database.transaction(async (tx) => {
        const { personId } = await spendLink(tx, { kind: 'reset', token });
        await setPassword(tx, personId, passwordHash);
        await options.sessions.endAll(tx, personId);
        const before = await people.find(tx, personId);
        const isReclaimed = before?.emailVerified === false;
        if (isReclaimed) await options.onReclaimed?.(tx, personId);
        await verifyAddress(tx, personId);
        return { personId, isReclaimed };
      });
    },

    async changePassword({ personId, sessionId, current, next }) {
      const proven = await requirePassword(personId, current);
      const passwordHash = await passwords.hash(next);
      await database.transaction(async (tx) => {
        // Who knew the old password must not take the account back from whoever reset it meanwhile.
        if (!(await holdPassword(tx, proven))) throw loginErrors.wrong_password();
        await setPassword(tx, personId, passwordHash);
        await options.sessions.endAll(tx, personId, sessionId);
      });
    },

    purge: () => mailTokens.deleteBefore(database, new Date(now().getTime() - TOKENS_KEPT_MS)),
  };
}

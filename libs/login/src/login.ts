import type { Database, Queryable } from '@libs/db';
import type { Handler } from '@libs/jobs';
import type { Mailer } from '@libs/mail';
import type { NewId, RandomBytes } from '@libs/seal';
import { type AccountMails, createAccountMails, type MailWords } from './account-mails.ts';
import { createLoginLimit } from './limit.ts';
import { createMailTokensStore } from './mail-tokens-store.ts';
import type { RelyingParty } from './passkey.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { createPasskeysStore } from './passkeys-store.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import type { People, Person, PersonColumn } from './person.ts';
import { type AccountSecurity, createAccountSecurity } from './security.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createSessionsStore, type SessionOwners } from './sessions-store.ts';

export interface LoginOptions<P extends Person> {
  database: Database;
  people: People<P>;
  personColumn?: PersonColumn;
  mailer: Pick<Mailer, 'send'>;
  words: MailWords;
  sessionTokenPrefix: string;
  relyingParty: RelyingParty;
  /** In the transaction that verifies an address: what waited for it may leave. */
  onVerified?(tx: Queryable, personId: string): Promise<void>;
  /** In the transaction of a reset that is the first proof of the address: who was in before may have been somebody else. */
  onReclaimed?(tx: Queryable, personId: string): Promise<void>;
  /** Where tables are spread by tenant: whether each person is one, whose rows lie together. */
  personIsTenant?: boolean;
  sessionOwners?: SessionOwners;
  newId: NewId;
  randomBytes: RandomBytes;
  now: () => Date;
}

/** Everything about getting in as a person. */
export interface Login<P extends Person> {
  passwords: Passwords;
  sessions: Sessions;
  passkeys: Passkeys;
  mails: Pick<AccountMails, 'plan'>;
  security: AccountSecurity<P>;
  readonly handlers: readonly Handler[];
  /** Removes what is past its time. */
  purge(): Promise<void>;
}

export function createLogin<P extends Person>(options: LoginOptions<P>): Login<P> {
  const { database, people, personColumn = 'person_id', newId, randomBytes, now } = options;
  const passwords = createPasswords();
  const limit = createLoginLimit({ database, newId, now });
  const mailTokens = createMailTokensStore(personColumn);
  const sessions = createSessions({
    ...{ database, newId, randomBytes, now },
    store: createSessionsStore(personColumn, options.sessionOwners),
    tokenPrefix: options.sessionTokenPrefix,
  });
  const mails = createAccountMails({
    ...{ database, people, newId, randomBytes, now, store: mailTokens },
    ...{ mailer: options.mailer, words: options.words, personIsTenant: options.personIsTenant ?? false },
  });
  const passkeys = createPasskeys({
    ...{ database, sessions, newId, randomBytes, now, relyingParty: options.relyingParty },
    store: createPasskeysStore(personColumn),
  });
  const security = createAccountSecurity({
    ...{ database, people, mailTokens, passwords, limit, sessions, passkeys, mails, now },
    ...(options.onVerified && { onVerified: options.onVerified }),
    ...(options.onReclaimed && { onReclaimed: options.onReclaimed }),
  });
  return {
    ...{ passwords, sessions, passkeys, mails, security, handlers: mails.handlers },
    async purge() {
      await Promise.all([limit.purge(), sessions.purge(), passkeys.purge()]);
      await security.purge();
    },
  };
}

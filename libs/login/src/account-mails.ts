import type { Database, Queryable } from '@libs/db';
import { enqueueJobs, type Handler, type Job } from '@libs/jobs';
import { type Mail, MailError, type Mailer } from '@libs/mail';
import { hashToken, type NewId, type RandomBytes } from '@libs/seal';
import type { MailTokenKind } from './mail-token.ts';
import type { MailTokensStore } from './mail-tokens-store.ts';
import type { People, Person } from './person.ts';

/** What a service says of itself in its mails. */
export interface MailWords {
  /** As in `your Toolhub account`. */
  product: string;
  /** The page that a link leads to; the token is added as `?token=`. */
  pages: Readonly<Record<MailTokenKind, string>>;
  /** Of the tokens in links, by which a person sees what it is. */
  tokenPrefix: string;
  /** What goes when a reset is the first proof of an address, as in `keys and webhooks`. */
  reclaimed: string;
}

export interface AccountMailsOptions {
  database: Database;
  store: MailTokensStore;
  people: Pick<People<Person>, 'find' | 'lock'>;
  mailer: Pick<Mailer, 'send'>;
  words: MailWords;
  /** Where tables are spread by tenant: whether each person is one, whose rows lie together. */
  personIsTenant: boolean;
  newId: NewId;
  randomBytes: RandomBytes;
  now: () => Date;
}

/** Mails with a link that proves who reads the address. They hold no word that anybody chose. */
export interface AccountMails {
  /** In the caller's transaction: the mail leaves when that has committed. */
  plan(tx: Queryable, kind: MailTokenKind, personId: string): Promise<void>;
  readonly handlers: readonly Handler[];
}

const HOUR_MS = 60 * 60_000;
const TOKEN_HOURS: Record<MailTokenKind, number> = { verify: 24, reset: 1 };
/** Whoever asks again and again fills somebody's mailbox, not ours: of a kind, in an hour. */
const MAILS_MAX = 5;
/** 144 random bits, short enough that a link stays one line of a mail. */
const TOKEN_BYTES = 18;
const JOB = 'mail.account';

interface Planned {
  kind: MailTokenKind;
  /** The name that the first version of these jobs gave it; some may still wait. */
  customerId: string;
}

export function createAccountMails(options: AccountMailsOptions): AccountMails {
  const { database, store, people, words, now } = options;

  /** The token is made when the mail leaves, so that no queue ever holds one. */
  async function send({ kind, customerId: personId }: Planned): Promise<void> {
    const person = await people.find(database, personId);
    if (person === undefined || (kind === 'verify' && person.emailVerified)) return;
    const token = words.tokenPrefix + options.randomBytes(TOKEN_BYTES).toString('base64url');
    const id = options.newId('mtk');
    const createdAt = now();
    const expiresAt = new Date(createdAt.getTime() + TOKEN_HOURS[kind] * HOUR_MS);
    const isWithinLimit = await database.transaction(async (tx) => {
      // The person's row is the lock under which two parallel mails count one after the other.
      if (!(await people.lock(tx, personId))) return false;
      return store.insert(
        tx,
        { personId, id, kind, createdAt, expiresAt, tokenHash: hashToken(token) },
        { since: new Date(createdAt.getTime() - windowMsOf(person)), tokensMax: MAILS_MAX },
      );
    });
    if (!isWithinLimit) return;
    try {
      await options.mailer.send(mailOf(kind, { id, person, token }, words));
    } catch (error) {
      // What did not leave filled nobody's mailbox: it must not use up the tries of a server that is away. What may have
      // left counts, and its link works beside that of the repeat.
      const mayHaveLeft = error instanceof MailError && error.mayHaveLeft;
      if (!mayHaveLeft) await store.remove(database, { personId, id });
      throw error;
    }
  }

  return {
    plan: (tx, kind, personId) =>
      enqueueJobs(tx, database.schema, [{ name: JOB, payload: { kind, customerId: personId } }]),
    handlers: [
      {
        name: JOB,
        // One at a time: a mail that fails must not send its neighbours again.
        batchMax: 1,
        tenantsOf: (jobs) =>
          (jobs as readonly Job<Planned>[]).map(({ payload }) =>
            options.personIsTenant ? [payload.customerId] : [],
          ),
        handle: async (jobs) => {
          for (const { payload } of jobs as readonly Job<Planned>[]) await send(payload);
        },
      },
    ],
  };
}

/** Who has not verified the address may never have asked for an account: there it is as many in a day. */
function windowMsOf({ emailVerified }: Person): number {
  return emailVerified ? HOUR_MS : 24 * HOUR_MS;
}

function mailOf(
  kind: MailTokenKind,
  { id, person, token }: { id: string; person: Person; token: string },
  { product, pages, reclaimed }: MailWords,
): Mail {
  const link = `${pages[kind]}?token=${token}`;
  const text =
    kind === 'verify'
      ? [
          `somebody opened a ${product} account with this address. If it was you, open`,
          ...['', link, ''],
          'The link works once, for 24 hours. If it was not you, do nothing: this address',
          'then gets nothing but such links, when somebody asks for one.',
        ]
      : [
          `somebody asked for a new password for your ${product} account. To choose one, open`,
          ...['', link, ''],
          'The link works once, for an hour, and ends all sessions. If it was not you, do',
          'nothing: your password stays as it is.',
          ...(person.emailVerified ? [] : firstProof(reclaimed)),
        ];
  const subject = kind === 'verify' ? 'Verify your e-mail address' : 'Choose a new password';
  return { id, to: person.email, subject, text: ['Hello,', '', ...text, ''].join('\n') };
}

/** Who opened the account themselves must know before they choose a password. */
function firstProof(reclaimed: string): string[] {
  return [
    '',
    'Nobody has verified this address until now, so somebody else may have opened the',
    'account. The link verifies it, and removes what was made before:',
    `${reclaimed}.`,
  ];
}

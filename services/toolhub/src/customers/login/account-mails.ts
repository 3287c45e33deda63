import type { Database, Queryable } from '@libs/db';
import { enqueueJobs, type Handler, type Job } from '@libs/jobs';
import type { Mail, Mailer } from '@libs/mail';
import { hashToken, type NewId, type RandomBytes } from '@libs/seal';
import type { Customer } from '../customer.ts';
import { insertMailToken, type MailTokenKind } from './mail-tokens-store.ts';

export interface AccountMailsDependencies {
  database: Database;
  mailer: Pick<Mailer, 'send'>;
  findCustomer(customerId: string): Promise<Customer | undefined>;
  publicUrl: string;
  newId: NewId;
  randomBytes: RandomBytes;
  now: () => Date;
}

/** Mails with a link that proves who reads the address. They hold no word that anybody chose. */
export interface AccountMails {
  /** In the caller's transaction: the mail leaves when that has committed. */
  plan(tx: Queryable, kind: MailTokenKind, customerId: string): Promise<void>;
  readonly handlers: readonly Handler[];
}

const HOUR_MS = 60 * 60_000;
const TOKEN_HOURS: Record<MailTokenKind, number> = { verify: 24, reset: 1 };
/** Whoever asks again and again fills somebody's mailbox, not ours. */
const MAILS_PER_HOUR_MAX = 5;
/** 144 random bits, short enough that a link stays one line of a mail. */
const TOKEN_BYTES = 18;
const JOB = 'mail.account';

interface Planned {
  kind: MailTokenKind;
  customerId: string;
}

export function createAccountMails(deps: AccountMailsDependencies): AccountMails {
  const { database, now } = deps;

  /** The token is made when the mail leaves, so that no queue ever holds one. */
  async function send({ kind, customerId }: Planned): Promise<void> {
    const customer = await deps.findCustomer(customerId);
    if (customer === undefined || (kind === 'verify' && customer.emailVerified)) return;
    const token = `thm_${deps.randomBytes(TOKEN_BYTES).toString('base64url')}`;
    const id = deps.newId('mtk');
    const createdAt = now();
    const isWithinLimit = await database.transaction((tx) =>
      insertMailToken(
        tx,
        {
          ...{ customerId, id, kind, createdAt, tokenHash: hashToken(token) },
          expiresAt: new Date(createdAt.getTime() + TOKEN_HOURS[kind] * HOUR_MS),
        },
        { since: new Date(createdAt.getTime() - HOUR_MS), tokensMax: MAILS_PER_HOUR_MAX },
      ),
    );
    if (isWithinLimit)
      await deps.mailer.send(mailOf(kind, { id, to: customer.email, token }, deps.publicUrl));
  }

  return {
    plan: (tx, kind, customerId) =>
      enqueueJobs(tx, database.schema, [{ name: JOB, payload: { kind, customerId } }]),
    handlers: [
      {
        name: JOB,
        // One at a time: a mail that fails must not send its neighbours again.
        batchMax: 1,
        handle: async (jobs) => {
          for (const { payload } of jobs as readonly Job<Planned>[]) await send(payload);
        },
      },
    ],
  };
}

function mailOf(
  kind: MailTokenKind,
  { id, to, token }: { id: string; to: string; token: string },
  publicUrl: string,
): Mail {
  const text =
    kind === 'verify'
      ? [
          'Hello,',
          '',
          'somebody opened a Toolhub account with this address. If it was you, open',
          '',
          `${publicUrl}/verify?token=${token}`,
          '',
          'The link works once, for 24 hours. If it was not you, do nothing: this address',
          'then gets no other mail.',
        ]
      : [
          'Hello,',
          '',
          'somebody asked for a new password for your Toolhub account. To choose one, open',
          '',
          `${publicUrl}/reset?token=${token}`,
          '',
          'The link works once, for an hour, and ends all sessions. If it was not you, do',
          'nothing: your password stays as it is.',
        ];
  const subject = kind === 'verify' ? 'Verify your e-mail address' : 'Choose a new password';
  return { id, to, subject, text: [...text, ''].join('\n') };
}

import type { Database, Queryable } from '@libs/db';
import { enqueueJobs, type Handler, type Job } from '@libs/jobs';
import { emailKey, emailKeys, loginErrors } from '@libs/login';
import type { Mailer } from '@libs/mail';
import { hashToken, type NewId, type Sealer } from '@libs/seal';
import { errors } from '../errors.ts';
import {
  countOtherInvitations,
  deleteInvitation,
  deleteInvitationsBefore,
  listInvitations,
  lockInvitation,
  replaceInvitation,
  setToken,
} from './invitations-store.ts';
import { isMemberByEmail } from './members-store.ts';
import type { Invitation, Role } from './person.ts';
import { insertMembership } from './store.ts';

const INVITATION_DAYS = 7;
const DAY_MS = 24 * 60 * 60_000;
const INVITATIONS_MAX = 100;
const TOKEN_PREFIX = 'piv_';
/** 144 bits, short enough that a link stays one line of a mail. */
const TOKEN_LENGTH = 24;
const JOB = 'mail.invitation';

export interface Invitations {
  /** A mail with the link leaves when the transaction has committed. */
  invite(
    tx: Queryable,
    request: { organisationId: string; email: string; role: Role; invitedBy: string },
  ): Promise<Invitation>;
  /** Those that have not expired. */
  list(query: { organisationId: string; before: string | null; limit: number }): Promise<Invitation[]>;
  revoke(key: { organisationId: string; id: string }): Promise<void>;
  /** What a link invites to; throws for one that is used, taken back or expired. */
  read(token: string): Promise<Invitation & { organisationName: string }>;
  /** Makes the person a member. Throws where the invitation is for another address. */
  accept(
    tx: Queryable,
    request: { token: string; userId: string; email: string },
  ): Promise<{ organisationId: string }>;
  purge(): Promise<void>;
  readonly handlers: readonly Handler[];
}

export interface InvitationsDependencies {
  database: Database;
  mailer: Pick<Mailer, 'send'>;
  publicUrl: string;
  sealer: Pick<Sealer, 'fingerprint'>;
  newId: NewId;
  now: () => Date;
}

interface Planned {
  organisationId: string;
  id: string;
}

export function createInvitations(deps: InvitationsDependencies): Invitations {
  const { database, mailer, publicUrl, sealer, newId, now } = deps;

  /**
   * The token is made when the mail leaves, so that no queue ever holds one, and each try makes the same: of a mail of
   * which no answer told that it had arrived, the link works as that of its repeat does.
   */
  async function send({ organisationId, id }: Planned): Promise<void> {
    const token = TOKEN_PREFIX + sealer.fingerprint(id, 'invitations.token').slice(0, TOKEN_LENGTH);
    const invitation = await setToken(database, { organisationId, id, tokenHash: hashToken(token) });
    if (invitation === undefined) return;
    await mailer.send({
      id,
      to: invitation.email,
      subject: 'You are invited to an organisation',
      text: textOf(`${publicUrl}/dashboard/invitation?token=${token}`),
    });
  }

  async function lock(tx: Queryable, token: string) {
    const found = await lockInvitation(tx, { tokenHash: hashToken(token), now: now() });
    if (found === undefined) throw loginErrors.link_not_valid();
    return found;
  }

  return {
    async invite(tx, { organisationId, email, role, invitedBy }) {
      const key = emailKey(email);
      if (await isMemberByEmail(tx, { organisationId, emailKeys: emailKeys(email) }))
        throw errors.already_member();
      const createdAt = now();
      const others = await countOtherInvitations(tx, { organisationId, emailKey: key, now: createdAt });
      if (others >= INVITATIONS_MAX) {
        throw errors.limit_reached({ detail: `At most ${INVITATIONS_MAX} invitations can be open.` });
      }
      const invitation: Invitation = {
        ...{ id: newId('inv'), organisationId, email: email.trim(), role, invitedBy, createdAt },
        expiresAt: new Date(createdAt.getTime() + INVITATION_DAYS * DAY_MS),
      };
      await replaceInvitation(tx, { ...invitation, emailKey: key });
      const payload: Planned = { organisationId, id: invitation.id };
      await enqueueJobs(tx, database.schema, [{ name: JOB, payload }]);
      return invitation;
    },

    list: (query) => listInvitations(database, { ...query, now: now() }),

    async revoke(key) {
      if (!(await deleteInvitation(database, key))) {
        throw errors.not_found({ detail: 'There is no such invitation.' });
      }
    },

    read: (token) => database.transaction((tx) => lock(tx, token)),

    async accept(tx, { token, userId, email }) {
      const { organisationId, id, role, email: invited } = await lock(tx, token);
      if (emailKey(invited) !== emailKey(email)) throw errors.invitation_for_another();
      await insertMembership(tx, { organisationId, userId, role, createdAt: now() });
      await deleteInvitation(tx, { organisationId, id });
      return { organisationId };
    },

    purge: () => deleteInvitationsBefore(database, now()),

    handlers: [
      {
        name: JOB,
        // One at a time: a mail that fails must not send its neighbours again.
        batchMax: 1,
        // People, and what is mailed to them, lie on the first server.
        tenantsOf: (jobs) => jobs.map(() => []),
        handle: async (jobs) => {
          for (const { payload } of jobs as readonly Job<Planned>[]) await send(payload);
        },
      },
    ],
  };
}

/** Neither the organisation nor who invites is named: both are text that somebody chose. The page behind the link says it. */
function textOf(link: string): string {
  return [
    'Hello,',
    '',
    'somebody invited you to an organisation at Payments. To see which, and to join, open',
    ...['', link, ''],
    `The link works once, for ${INVITATION_DAYS} days. If you do not know what this is, do nothing.`,
    '',
  ].join('\n');
}

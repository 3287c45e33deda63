import type { Database, Queryable } from '@libs/db';
import { enqueueJobs, type Handler, type Job } from '@libs/jobs';
import type { Mailer } from '@libs/mail';
import type { NewId } from '@libs/seal';
import type { Members } from '../people/members.ts';
import { type Notice, rolesFor, wordsOf } from './notice.ts';

export interface Notices {
  /** Mails leave when the transaction has committed. */
  plan(tx: Queryable, organisationId: string, notice: Notice): Promise<void>;
  readonly handlers: readonly Handler[];
}

export interface NoticesDependencies {
  database: Pick<Database, 'schema'>;
  mailer: Pick<Mailer, 'send'>;
  members: Pick<Members, 'reachable'>;
  /** How many of a kind leave to one address: a program can have an endpoint switched off as often as it likes. */
  limit: { take(key: string): { allowed: boolean } | Promise<{ allowed: boolean }> };
  publicUrl: string;
  newId: NewId;
}

interface PlannedNotice {
  id: string;
  email: string;
  notice: Notice;
  /** Not in those that were planned before it was kept. */
  organisationId?: string;
}

const JOB = 'mail.notice';

export function createNotices(deps: NoticesDependencies): Notices {
  const dashboard = `${deps.publicUrl}/dashboard`;
  return {
    async plan(tx, organisationId, notice) {
      const people = await deps.members.reachable(tx, { organisationId, roles: rolesFor(notice) });
      const jobs = people.map(({ email }) => {
        const payload: PlannedNotice = { id: deps.newId('ntc'), email, notice, organisationId };
        return { name: JOB, payload };
      });
      if (jobs.length > 0) await enqueueJobs(tx, deps.database.schema, jobs);
    },
    handlers: [
      {
        name: JOB,
        // One at a time: a mail that fails must not send its neighbours again.
        batchMax: 1,
        // People, and what is mailed to them, lie on the first server.
        tenantsOf: (jobs) => jobs.map(() => []),
        handle: async (jobs) => {
          for (const { payload, attempt } of jobs as readonly Job<PlannedNotice>[]) {
            const { id, email, notice, organisationId } = payload;
            // Only the first try counts: those of a mail server that is away must not use up what may leave.
            if (attempt === 1 && !(await deps.limit.take(`${notice.kind} ${email}`)).allowed) continue;
            await deps.mailer.send({ id, to: email, ...wordsOf(notice, { dashboard, organisationId }) });
          }
        },
      },
    ],
  };
}

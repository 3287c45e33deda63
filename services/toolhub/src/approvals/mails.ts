import type { Queryable } from '@libs/db';
import { enqueueJobs, type Handler, type Job } from '@libs/jobs';
import type { Mailer } from '@libs/mail';
import type { CustomerService } from '../customers/service.ts';
import { planMail } from './mails-store.ts';
import { countPending } from './store.ts';

export interface ApprovalMailsDependencies {
  schema: string;
  database: Queryable;
  mailer: Pick<Mailer, 'send'>;
  customers: Pick<CustomerService, 'find'>;
  publicUrl: string;
  now: () => Date;
}

/** Tells a person that calls wait, who may not be looking at the client that made them. */
export interface ApprovalMails {
  /** In the transaction that notes a waiting call. */
  plan(tx: Queryable, customerId: string, at: Date): Promise<void>;
  readonly handlers: readonly Handler[];
}

interface Notice {
  customerId: string;
  plannedAt: string;
}

const JOB = 'mail.approval_waits';
/** One mail in so long a time at most, however many calls wait. */
const GAP_MS = 10 * 60_000;

export function createApprovalMails(deps: ApprovalMailsDependencies): ApprovalMails {
  async function send({ customerId, plannedAt }: Notice): Promise<void> {
    const customer = await deps.customers.find(customerId);
    // To an address that nobody has proved to read, what assistants do is nobody's business.
    if (customer === undefined || !customer.emailVerified) return;
    const { count } = await countPending(deps.database, { customerId, now: deps.now() });
    if (count === 0) return;
    await deps.mailer.send({
      id: `approvals_${customerId}_${Date.parse(plannedAt)}`,
      to: customer.email,
      subject: count === 1 ? 'A call waits for you' : `${count} calls wait for you`,
      text: [
        'Hello,',
        '',
        count === 1
          ? 'an assistant wants to do something that you asked to be asked about.'
          : `assistants want to do ${count} things that you asked to be asked about.`,
        'Look at what would be sent, and allow or deny it:',
        '',
        `${deps.publicUrl}/approvals`,
        '',
        'What nobody decides on within 24 hours expires, and nothing is sent.',
        '',
      ].join('\n'),
    });
  }
  return {
    async plan(tx, customerId, at) {
      const runAt = await planMail(tx, { customerId, at, gapMs: GAP_MS });
      if (runAt === undefined) return;
      const payload: Notice = { customerId, plannedAt: runAt.toISOString() };
      await enqueueJobs(tx, deps.schema, [{ name: JOB, payload, ...(runAt > at ? { runAt } : {}) }]);
    },
    handlers: [
      {
        name: JOB,
        // One at a time: a mail that fails must not send its neighbours again.
        batchMax: 1,
        tenantsOf: (jobs) => (jobs as readonly Job<Notice>[]).map(({ payload }) => [payload.customerId]),
        handle: async (jobs) => {
          for (const { payload } of jobs as readonly Job<Notice>[]) await send(payload);
        },
      },
    ],
  };
}

import { enqueueJobs, type Handler, type Job } from '@libs/jobs';
import type { Mail, Mailer } from '@libs/mail';
import type { Customer } from '../customers/customer.ts';
import type { CustomerService } from '../customers/service.ts';
import type { EmitEvent, NewEvent } from '../events/event.ts';
import { periodTitle } from '../invoices/period.ts';

export interface NoticesDependencies {
  schema: string;
  mailer: Pick<Mailer, 'send'>;
  customers: Pick<CustomerService, 'find'>;
  /** Whether calls beyond the customer's limit are refused; otherwise they are charged. */
  stopsAtLimit: (customerId: string) => Promise<boolean>;
  publicUrl: string;
}

/** Mails that go with events: what a customer should hear of even without a webhook. */
export interface Notices {
  /** The same, and in the same transaction a mail is planned for those events that have one. */
  withMail(emitEvent: EmitEvent): EmitEvent;
  readonly handlers: readonly Handler[];
}

interface Notice {
  eventId: string;
  customerId: string;
  data: { threshold_percent: number; used: number; limit: number; period: string };
}

const JOB = 'mail.usage_threshold';

export function createNotices(deps: NoticesDependencies): Notices {
  async function send({ payload }: Job<Notice>): Promise<void> {
    const customer = await deps.customers.find(payload.customerId);
    // To an address that nobody has proved to read, usage is nobody's business.
    if (customer === undefined || !customer.emailVerified) return;
    const stopsAtLimit = await deps.stopsAtLimit(customer.id);
    await deps.mailer.send(toMail(payload, customer, { publicUrl: deps.publicUrl, stopsAtLimit }));
  }
  return {
    withMail: (emitEvent) => async (tx, event) => {
      const eventId = await emitEvent(tx, event);
      if (event.type === 'usage.threshold') {
        const { customerId, data } = event as NewEvent & { data: Notice['data'] };
        const payload: Notice = { eventId, customerId, data };
        await enqueueJobs(tx, deps.schema, [{ name: JOB, payload }]);
      }
      return eventId;
    },
    handlers: [
      {
        name: JOB,
        // One at a time: a mail that fails must not send its neighbours again.
        batchMax: 1,
        tenantsOf: (jobs) => (jobs as readonly Job<Notice>[]).map(({ payload }) => [payload.customerId]),
        handle: async (jobs) => {
          for (const job of jobs as readonly Job<Notice>[]) await send(job);
        },
      },
    ],
  };
}

/** Named after the event, so that a repeat is recognised as one. */
function toMail(
  { eventId, data }: Notice,
  customer: Customer,
  { publicUrl, stopsAtLimit }: { publicUrl: string; stopsAtLimit: boolean },
): Mail {
  const { threshold_percent: percent, used, limit, period } = data;
  const isOver = percent >= 100;
  const month = periodTitle(period);
  const then = stopsAtLimit
    ? 'refused until the next month begins (UTC)'
    : 'charged by the price of your plan';
  return {
    id: eventId,
    to: customer.email,
    subject: isOver
      ? `You have used all calls of ${month}`
      : `You have used ${percent} % of the calls of ${month}`,
    text: [
      'Hello,',
      '',
      `you have made ${used.toLocaleString('en-US')} of the ${limit.toLocaleString('en-US')} calls of ${month}.`,
      isOver ? `Further calls are ${then}.` : `When they are used up, further calls are ${then}.`,
      '',
      `Your plan, its limit and its spend cap are at ${publicUrl}/billing.`,
      '',
    ].join('\n'),
  };
}

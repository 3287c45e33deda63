/** A connection that loses, repeats, delays and garbles, as a plan for each payment says. */
import type { Database } from '@libs/db';
import { enqueueJobs, type Handler } from '@libs/jobs';
import fc from 'fast-check';
import { SUBMIT_JOB } from '../../../payments/submit-job.ts';
import type { Delivery, OutgoingMessage, RtpTransport } from '../lines/transport.ts';
import { readMessage } from '../messages/read.ts';
import { READ_JOB, type ReadPayload, readJobs, SEND_JOB } from '../work/jobs.ts';

const REQUEST_FAULTS = [
  'none',
  'lost',
  'arrives_unnoticed',
  'arrives_twice',
  'arrives_late',
  'crash_before',
  'crash_after',
  'never_left',
] as const;
const ANSWER_FAULTS = ['none', 'lost', 'twice', 'late', 'garbled'] as const;

export type RequestFault = (typeof REQUEST_FAULTS)[number];
export type AnswerFault = (typeof ANSWER_FAULTS)[number];

const ARRIVES: ReadonlySet<RequestFault> = new Set([
  'none',
  'arrives_unnoticed',
  'arrives_twice',
  'crash_after',
]);

function deliveryAfter(fault: RequestFault): Delivery {
  if (fault === 'never_left') return { kind: 'never_left', reason: 'ECONNREFUSED' };
  if (fault === 'none' || fault === 'arrives_twice') return { kind: 'delivered', answers: [] };
  return { kind: 'unknown', reason: fault };
}

/** What happens to the first, second … message that we send about a payment, and to its answers; then all is well. */
export interface Plan {
  destination: string;
  requests: readonly RequestFault[];
  answers: readonly AnswerFault[];
}

export const plan: fc.Arbitrary<Plan> = fc.record({
  destination: fc.constantFrom(
    'pm_anyone',
    'pm_anyone',
    'pm_test_rtp_reject_rc04',
    'pm_test_rtp_reject_ac04',
    'pm_test_rtp_timeout',
    'pm_test_rtp_timeout_reject_rc04',
  ),
  requests: fc.array(fc.constantFrom(...REQUEST_FAULTS), { maxLength: 3 }),
  answers: fc.array(fc.constantFrom(...ANSWER_FAULTS), { maxLength: 3 }),
});

/** How late a late message is: before and after the first questions are asked. */
const LATE_MS = [10, 60, 250];

export function createUnreliable() {
  const plans = new Map<string, Plan>();
  const paymentOf = new Map<string, string>();
  const sent = new Map<string, number>();
  const answered = new Map<string, number>();
  const late = new Set<Promise<unknown>>();
  let lateCount = 0;

  const count = (counter: Map<string, number>, payment: string) => {
    const before = counter.get(payment) ?? 0;
    counter.set(payment, before + 1);
    return before;
  };
  const lateMs = () => {
    lateCount += 1;
    return LATE_MS[lateCount % LATE_MS.length] as number;
  };

  function requestFault(xml: string): RequestFault {
    const reading = readMessage(xml);
    if (!reading.ok) throw new Error('we have sent something that cannot be read');
    if (reading.message.kind === 'pacs.008') {
      const { instructionId, endToEndId } = reading.message.transfer;
      paymentOf.set(instructionId, endToEndId);
    }
    const payment = paymentOf.get(instructionIn(xml)) as string;
    return plans.get(payment)?.requests[count(sent, payment)] ?? 'none';
  }

  function wrap(transport: RtpTransport): RtpTransport {
    const arriveLate = (message: OutgoingMessage) => {
      const arrival = new Promise((done) => setTimeout(done, lateMs())).then(() => transport.send([message]));
      late.add(arrival);
      void arrival.finally(() => late.delete(arrival));
    };
    return {
      ...transport,
      inFlightMax: 5,
      async send(messages) {
        const faults = messages.map(({ xml }) => requestFault(xml));
        await transport.send(
          messages.filter((_message, index) => ARRIVES.has(faults[index] as RequestFault)),
        );
        await transport.send(messages.filter((_message, index) => faults[index] === 'arrives_twice'));
        for (const message of messages.filter((_message, index) => faults[index] === 'arrives_late')) {
          arriveLate(message);
        }
        if (faults.some((fault) => fault.startsWith('crash')))
          throw new Error('the process died while sending');
        return faults.map(deliveryAfter);
      },
    };
  }

  /** Answers pass through the plan once each; what comes late or twice is queued as it is. */
  const passed = new Set<string>();

  function faultyAnswers(messages: readonly string[]) {
    const now: string[] = [];
    const later: { messages: string[]; delayMs: number }[] = [];
    for (const xml of messages) {
      const payment = paymentOf.get(instructionIn(xml));
      const fault = payment && !passed.has(xml) ? answerFault(payment) : 'none';
      passed.add(xml);
      if (fault === 'none' || fault === 'twice') now.push(xml);
      if (fault === 'twice') later.push({ messages: [xml], delayMs: 0 });
      if (fault === 'late') later.push({ messages: [xml], delayMs: lateMs() });
      if (fault === 'garbled') now.push(xml.slice(0, -20));
    }
    return { now, later };
  }

  const answerFault = (payment: string) => plans.get(payment)?.answers[count(answered, payment)] ?? 'none';

  function wrapHandler(handler: Handler, database: Database): Handler {
    // Small bites, so that a crash hits few payments and spares the others.
    if (handler.name === SUBMIT_JOB) return { ...handler, batchMax: 1 };
    if (handler.name === SEND_JOB) return { ...handler, batchMax: 1, retryDelayMs: () => 20 };
    if (handler.name !== READ_JOB) return handler;
    return {
      ...handler,
      async handle(jobs, context) {
        const changed = [];
        for (const job of jobs) {
          const payload = job.payload as ReadPayload;
          const { now, later } = faultyAnswers(payload.messages);
          changed.push({ ...job, payload: { ...payload, messages: now } });
          for (const { messages, delayMs } of later) {
            const runAt = new Date(Date.now() + delayMs);
            const again = readJobs('test', messages).map((one) => ({ ...one, runAt }));
            await enqueueJobs(database, database.schema, again);
          }
        }
        await handler.handle(changed, context);
      },
    };
  }

  return {
    plans,
    wrap,
    wrapHandler,
    async calm(): Promise<void> {
      while (late.size > 0) await Promise.all(late);
    },
  };
}

/** Requests and answers name the instruction in different elements, both with its id as the only text. */
function instructionIn(xml: string): string {
  return /<\w+:(?:Orgnl)?InstrId>([^<]+)</.exec(xml)?.[1] ?? '';
}

import assert from 'node:assert/strict';
import type { Queryable } from '@libs/db';
import { completeJobs, enqueueJobs, type Handler, type Job, type NewJob } from '@libs/jobs';
import { jobNameFor, lanesOf } from '../../../job-lanes.ts';
import type { Mode } from '../../../tenant.ts';
import type { RailOutcome } from '../../rail.ts';
import { keepMessages, openMessages } from '../kept/kept-messages.ts';
import type { NetworkMessage } from '../kept/message-store.ts';
import type { RtpConnection } from '../lines/connection.ts';
import type { OutgoingMessage } from '../lines/transport.ts';
import { markAsDuplicate } from '../messages/envelope.ts';
import { readCreditTransfer } from '../messages/read.ts';
import { writeStatusRequest } from '../sending/outgoing.ts';
import {
  drawSerials,
  findOpen,
  lockOpen,
  oldestWaiting,
  type StoredSubmission,
  type SubmissionKey,
  updateSubmissions,
} from '../submissions/store.ts';
import { nextSubmission, type Step, type Submission } from '../submissions/submission.ts';
import {
  ATTEMPTS_WITHOUT_END,
  connectionOf,
  inChunks,
  type RtpWorkerDependencies,
  reportDeliveries,
  retryDelayMs,
} from '../work/context.ts';
import {
  type AnswerWait,
  ASK_JOB,
  type AskPayload,
  askJob,
  READ_JOB,
  readJobs,
  toPairs,
} from '../work/jobs.ts';

/** How often to look again while answers that came in time wait to be read, and how long that may go on. */
const LOOK_AGAIN_MS_MAX = 500;
const LOOK_AGAIN_FOR_MS_MAX = 30_000;

/**
 * Asks after instructions that nothing was heard of. The question, its text and the next time to ask commit together
 * before it leaves; one that is lost on the way is asked again by the next.
 */
export function createAskHandler(deps: RtpWorkerDependencies): Handler {
  return {
    ...lanesOf(ASK_JOB),
    batchMax: 50,
    attemptsMax: ATTEMPTS_WITHOUT_END,
    retryDelayMs,
    tenantsOf: (jobs) =>
      jobs.map(({ payload }) => (payload as AskPayload).submissions.map(([tenantId]) => tenantId)),
    async handle(jobs) {
      for (const [mode, group] of Map.groupBy(jobs, (job) => (job.payload as AskPayload).mode)) {
        const connection = connectionOf(deps, mode);
        const messages = await deps.database.transaction(async (tx) => {
          const messages = await ask(deps, tx, { mode, connection, unheard: unheardIn(group) });
          await completeJobs(tx, group);
          return messages;
        });
        await send(deps, { mode, connection, messages });
      }
    },
  };
}

interface Unheard extends SubmissionKey {
  wait: AnswerWait | undefined;
}

function unheardIn(jobs: readonly Job[]): Unheard[] {
  return jobs.flatMap((job) => {
    const { submissions, wait } = job.payload as AskPayload;
    return submissions.map(([tenantId, instructionId]) => ({ tenantId, instructionId, wait }));
  });
}

interface Asking {
  mode: Mode;
  connection: RtpConnection;
  unheard: readonly Unheard[];
}

async function ask(deps: RtpWorkerDependencies, tx: Queryable, asking: Asking): Promise<OutgoingMessage[]> {
  const { mode, connection, unheard } = asking;
  // In this order: an answer that is read in between is missing in the queues, but not in the lock below.
  const open = await findOpen(tx, unheard);
  if (open.length === 0) return [];
  const queues = await findQueues(tx, { mode, connection });
  const at = deps.now();
  const waits = new Map(unheard.map((one) => [one.instructionId, one.wait]));
  const silent: SubmissionKey[] = [];
  const looks: Look[] = [];
  for (const stored of open) {
    const dueAt = stored.submission?.dueAt;
    if (!dueAt) continue;
    const later = lookLater({ dueAt, at, wait: waits.get(stored.instructionId), queues });
    if (later) looks.push({ key: stored, ...later });
    else silent.push(stored);
  }
  const due = silent.length === 0 ? [] : await lockDue(tx, { connection, silent, at });
  for (const { stored, submission } of due) {
    if (submission.dueAt) looks.push({ key: stored, runAt: submission.dueAt, wait: undefined });
  }
  await enqueueJobs(tx, deps.database.schema, jobsFor(mode, looks));
  return due.length === 0 ? [] : record(deps, tx, { connection, due });
}

async function lockDue(
  tx: Queryable,
  { connection, silent, at }: { connection: RtpConnection; silent: readonly SubmissionKey[]; at: Date },
): Promise<Due[]> {
  const locked = await lockOpen(tx, silent);
  return locked.flatMap((stored) => {
    if (!stored.submission) return [];
    const moved = nextSubmission(stored.submission, { type: 'due', at }, connection.policy);
    return [{ stored, before: stored.submission, ...moved }];
  });
}

/** Since when jobs wait in the queues through which answers come, and how soon to look again. */
interface Queues {
  oldest: (Date | null)[];
  lookAgainMs: number;
}

async function findQueues(
  tx: Queryable,
  { mode, connection: { transport, policy } }: { mode: Mode; connection: RtpConnection },
): Promise<Queues> {
  const names = [...transport.answerJobs, jobNameFor(READ_JOB, mode)];
  const oldest = await oldestWaiting(tx, names);
  return {
    oldest: names.map((name) => oldest.get(name) ?? null),
    lookAgainMs: Math.min(LOOK_AGAIN_MS_MAX, policy.inquireAfterMs / 2),
  };
}

interface Look {
  key: SubmissionKey;
  runAt: Date;
  wait: AnswerWait | undefined;
}

/**
 * Null when it is time to ask. An answer may be there and wait behind others; to ask then would only make the line
 * longer. It is in the first queue at the latest now; when all that is in that queue now has left it, it is in the
 * second at the latest; and when it has left the last, it was read, or there is none.
 */
function lookLater(look: { dueAt: Date; at: Date; wait: AnswerWait | undefined; queues: Queues }) {
  const { dueAt, at, wait, queues } = look;
  const atMs = at.getTime();
  if (at < dueAt) return { runAt: dueAt, wait };
  if (atMs - dueAt.getTime() >= LOOK_AGAIN_FOR_MS_MAX) return null;
  for (let queue = wait?.queue ?? 0; queue < queues.oldest.length; queue += 1) {
    const untilMs = queue === wait?.queue ? wait.untilMs : atMs;
    const oldest = queues.oldest[queue]?.getTime() ?? Number.POSITIVE_INFINITY;
    if (oldest < untilMs) return { runAt: new Date(atMs + queues.lookAgainMs), wait: { queue, untilMs } };
  }
  return null;
}

/** Submissions that were sent together are due together: one job for each moment. */
function jobsFor(mode: Mode, looks: readonly Look[]): NewJob[] {
  const groups = Map.groupBy(
    looks,
    ({ runAt, wait }) => `${runAt.getTime()} ${wait?.queue} ${wait?.untilMs}`,
  );
  return [...groups.values()].map((group) => {
    const { runAt, wait } = group[0] as Look;
    const submissions = toPairs(group.map(({ key }) => key));
    return askJob({ mode, submissions, ...(wait && { wait }) }, runAt);
  });
}

interface Due {
  stored: StoredSubmission;
  before: Submission;
  submission: Submission;
  step: Step;
}

async function record(
  deps: RtpWorkerDependencies,
  tx: Queryable,
  { connection, due }: { connection: RtpConnection; due: readonly Due[] },
): Promise<OutgoingMessage[]> {
  const sending = due.filter(({ step }) => step.do === 'inquire' || step.do === 'resend_identical');
  const written = await writeMessages(deps, tx, { connection, due: sending });
  const asked = due.filter(({ before, submission }) => before.state !== submission.state);
  const outcomes = asked.map(({ stored }): RailOutcome => {
    const { tenantId, paymentId, attemptId } = stored;
    return { tenantId, paymentId, attemptId, kind: 'unknown' };
  });
  await updateSubmissions(
    tx,
    due.map(({ stored, submission }) => ({ ...stored, submission })),
  );
  await keepMessages(
    tx,
    deps.vault,
    written.map(({ message }) => message),
  );
  await deps.applyOutcomes(tx, outcomes);
  for (const { stored, step } of due) {
    if (step.do !== 'escalate') continue;
    const fields = { alert: 'rtp_unknown', payment: stored.paymentId, instruction: stored.instructionId };
    deps.log.error(fields, 'the network does not say what became of a payment: someone has to ask');
  }
  return written.map(({ message, clockIsSet }) => ({ xml: message.content, clockIsSet }));
}

async function writeMessages(
  deps: RtpWorkerDependencies,
  tx: Queryable,
  { connection, due }: { connection: RtpConnection; due: readonly Due[] },
): Promise<{ message: NetworkMessage; clockIsSet: boolean }[]> {
  if (due.length === 0) return [];
  const contents = await openMessages(
    tx,
    deps.vault,
    due.map(({ stored: { tenantId, paymentId, storedMessageId } }) => ({
      tenantId,
      paymentId,
      id: storedMessageId,
    })),
  );
  const times = await deps.clocks.timesOf(
    tx,
    due.map(({ stored }) => stored.tenantId),
  );
  const serials = await drawSerials(tx, due.length);
  return due.map(({ stored, step }, index) => {
    const { tenantId, paymentId } = stored;
    const sent = contents.get(stored.storedMessageId);
    assert(sent, 'the text of a message is stored with its submission');
    const createdAt = times.at(tenantId);
    const again = step.do === 'resend_identical';
    const content = again
      ? markAsDuplicate(sent)
      : writeStatusRequest(transferIn(sent), {
          identity: connection.identity,
          serial: serials[index] as number,
          at: createdAt,
        });
    const kind = again ? ('pacs.008' as const) : ('pacs.028' as const);
    const id = deps.newId('msg');
    return {
      message: { tenantId, paymentId, id, direction: 'out' as const, kind, content, createdAt },
      clockIsSet: times.clockOf(tenantId).state !== 'real',
    };
  });
}

/** A request repeats the original to the letter, so it is read from what was sent. */
function transferIn(xml: string) {
  const reading = readCreditTransfer(xml);
  assert(reading.ok, 'a transfer that we have written can be read');
  return reading.message;
}

interface Sending {
  mode: Mode;
  connection: RtpConnection;
  messages: readonly OutgoingMessage[];
}

async function send(deps: RtpWorkerDependencies, { mode, connection, messages }: Sending): Promise<void> {
  const { transport } = connection;
  for (const chunk of inChunks(messages, transport.inFlightMax)) {
    const deliveries = await transport.send(chunk);
    const answers = deliveries.flatMap((delivery) => (delivery.kind === 'delivered' ? delivery.answers : []));
    await enqueueJobs(deps.database, deps.database.schema, readJobs(mode, answers));
    await reportDeliveries(deps, mode, deliveries);
  }
}

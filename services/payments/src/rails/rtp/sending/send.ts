import assert from 'node:assert/strict';
import type { Queryable } from '@libs/db';
import { enqueueJobs, type Handler, type Job } from '@libs/jobs';
import { lanesOf } from '../../../job-lanes.ts';
import type { Mode } from '../../../tenant.ts';
import type { RailOutcome } from '../../rail.ts';
import { keepMessages, openMessages } from '../kept/kept-messages.ts';
import type { RtpConnection } from '../lines/connection.ts';
import type { Delivery } from '../lines/transport.ts';
import { markAsDuplicate } from '../messages/envelope.ts';
import { handOverFirst } from '../submissions/ordinary-store.ts';
import {
  type ChangedSubmission,
  lockOpen,
  type StoredSubmission,
  type SubmissionKey,
  updateSubmissions,
} from '../submissions/store.ts';
import {
  type InquiryPolicy,
  mayTryElsewhere,
  nextSubmission,
  type Submission,
  startSubmission,
} from '../submissions/submission.ts';
import {
  ATTEMPTS_WITHOUT_END,
  connectionOf,
  inChunks,
  type RtpWorkerDependencies,
  reportDeliveries,
  retryDelayMs,
} from '../work/context.ts';
import { askJob, readJobs, SEND_JOB, type SendPayload, toPairs } from '../work/jobs.ts';

/**
 * Between the commit that says "handed over" and the handing over itself a process may be held up. After this long it
 * gives up and lets the job come again, which sends a marked duplicate, rather than send as if nothing had happened.
 */
const HAND_OVER_MS_MAX = 10_000;

/** Far below this a transaction costs more than its messages; far above it the batch is a burden on memory. */
const MESSAGES_AT_ONCE = 200;
const JOBS_AT_ONCE = 50;

interface Waiting extends SubmissionKey {
  clockIsSet: boolean;
}

/** A message that is handed over now. */
interface Sent extends ChangedSubmission {
  xml: string;
  clockIsSet: boolean;
}

/**
 * Sends what `submit` has stored. Each message is noted as handed over before it is, so whatever happens in between,
 * it is asked after; and a job that comes again sends the identical message, marked as a duplicate.
 */
export function createSendHandler(deps: RtpWorkerDependencies): Handler {
  return {
    ...lanesOf(SEND_JOB),
    batchMax: JOBS_AT_ONCE,
    items: { max: MESSAGES_AT_ONCE, of: ({ payload }) => (payload as SendPayload).messages.length },
    concurrency: 2,
    attemptsMax: ATTEMPTS_WITHOUT_END,
    retryDelayMs,
    tenantsOf: (jobs) =>
      jobs.map(({ payload }) => (payload as SendPayload).messages.map(([tenantId]) => tenantId)),
    async handle(jobs) {
      for (const [mode, waiting] of waitingByMode(jobs)) {
        const connection = connectionOf(deps, mode);
        for (const chunk of inChunks(waiting, connection.transport.inFlightMax)) {
          await sendChunk(deps, { mode, connection, chunk });
        }
      }
    },
  };
}

function waitingByMode(jobs: readonly Job[]): Map<Mode, Waiting[]> {
  const byMode = new Map<Mode, Waiting[]>();
  for (const job of jobs) {
    const { mode, messages } = job.payload as SendPayload;
    const waiting = byMode.get(mode) ?? [];
    for (const [tenantId, instructionId, clock] of messages) {
      waiting.push({ tenantId, instructionId, clockIsSet: clock === 1 });
    }
    byMode.set(mode, waiting);
  }
  return byMode;
}

interface Chunk {
  mode: Mode;
  connection: RtpConnection;
  chunk: readonly Waiting[];
}

async function sendChunk(deps: RtpWorkerDependencies, { mode, connection, chunk }: Chunk): Promise<void> {
  const at = deps.now();
  const sent = await noteHandOver(deps, { mode, connection, chunk, at });
  if (sent.length === 0) return;
  if (deps.now().getTime() - at.getTime() > HAND_OVER_MS_MAX) {
    throw new Error('too much time has passed since the messages were noted as handed over');
  }
  const deliveries = await connection.transport.send(sent);
  await takeDeliveries(deps, { mode, connection, sent, deliveries });
  await reportDeliveries(deps, mode, deliveries);
}

/** Those that never left are noted by one statement; what is left of them then was sent before, and is looked at each. */
async function noteHandOver(deps: RtpWorkerDependencies, noting: Chunk & { at: Date }): Promise<Sent[]> {
  const { chunk } = noting;
  const first = await deps.database.transaction((tx) => noteFirst(deps, tx, noting));
  if (first.length === chunk.length) return first;
  const noted = new Set(first.map((one) => one.instructionId));
  const others = chunk.filter((one) => !noted.has(one.instructionId));
  const repeated = await deps.database.transaction((tx) =>
    noteRepeats(deps, tx, { ...noting, chunk: others }),
  );
  return [...first, ...repeated];
}

async function noteFirst(
  deps: RtpWorkerDependencies,
  tx: Queryable,
  { mode, connection, chunk, at }: Chunk & { at: Date },
): Promise<Sent[]> {
  const submission = startSubmission(at, connection.policy);
  const stored = await handOverFirst(tx, chunk, submission);
  if (stored.length === 0) return [];
  const first = stored.map((one) => ({ ...one, submission }));
  const ask = askJob({ mode, submissions: toPairs(first) }, submission.dueAt ?? at);
  await enqueueJobs(tx, deps.database.schema, [ask]);
  return withTexts(deps, tx, { handed: first, chunk });
}

async function noteRepeats(
  deps: RtpWorkerDependencies,
  tx: Queryable,
  { connection, chunk, at }: Chunk & { at: Date },
): Promise<Sent[]> {
  const handed = (await lockOpen(tx, chunk)).flatMap((stored) => {
    if (!stored.submission)
      throw new Error('a message that never left was changed meanwhile: it is tried again');
    const submission = handOverAgain(stored.submission, at, connection.policy);
    return submission ? [{ ...stored, submission }] : [];
  });
  if (handed.length === 0) return [];
  const sent = (await withTexts(deps, tx, { handed, chunk })).map((one) => ({
    ...one,
    xml: markAsDuplicate(one.xml),
  }));
  await updateSubmissions(tx, sent);
  await keepCopies(deps, tx, sent);
  return sent;
}

async function withTexts(
  { vault }: RtpWorkerDependencies,
  tx: Queryable,
  { handed, chunk }: { handed: readonly ChangedSubmission[]; chunk: readonly Waiting[] },
): Promise<Sent[]> {
  const clocks = new Map(chunk.map((one) => [one.instructionId, one.clockIsSet]));
  const contents = await openMessages(tx, vault, handed.map(messageKey));
  return handed.map((stored): Sent => {
    const xml = contents.get(stored.storedMessageId);
    assert(xml, 'the text of a message is stored with its submission');
    return { ...stored, xml, clockIsSet: clocks.get(stored.instructionId) ?? false };
  });
}

const isRepeat = ({ submission }: ChangedSubmission) => submission.resends > 0;

/** Null for what must not be sent again: too often, or too long ago for the network to remember. */
function handOverAgain(before: Submission, at: Date, policy: InquiryPolicy): Submission | null {
  const isFresh = at.getTime() - before.firstSentAt.getTime() <= policy.resendWithinMs;
  return isFresh && before.resends < policy.resendsMax ? { ...before, resends: before.resends + 1 } : null;
}

function messageKey({ tenantId, paymentId, storedMessageId }: StoredSubmission) {
  return { tenantId, paymentId, id: storedMessageId };
}

async function keepCopies(
  deps: RtpWorkerDependencies,
  tx: Queryable,
  repeated: readonly Sent[],
): Promise<void> {
  if (repeated.length === 0) return;
  const times = await deps.clocks.timesOf(
    tx,
    repeated.map((one) => one.tenantId),
  );
  const copies = repeated.map(({ tenantId, paymentId, xml }) => ({
    tenantId,
    paymentId,
    id: deps.newId('msg'),
    direction: 'out' as const,
    kind: 'pacs.008' as const,
    content: xml,
    createdAt: times.at(tenantId),
  }));
  await keepMessages(tx, deps.vault, copies);
}

interface Taken {
  mode: Mode;
  connection: RtpConnection;
  sent: readonly Sent[];
  deliveries: readonly Delivery[];
}

/** Answers that came at once are read by a job of their own; what never left is given back to the payments. */
async function takeDeliveries(deps: RtpWorkerDependencies, taken: Taken): Promise<void> {
  const { mode, sent, deliveries } = taken;
  const answers = deliveries.flatMap((delivery) => (delivery.kind === 'delivered' ? delivery.answers : []));
  // Only at the first attempt: later, an earlier one may have arrived.
  const neverLeft = sent.filter((one, index) => deliveries[index]?.kind === 'never_left' && !isRepeat(one));
  if (answers.length === 0 && neverLeft.length === 0) return;
  await deps.database.transaction(async (tx) => {
    const locked = neverLeft.length === 0 ? [] : await lockOpen(tx, neverLeft);
    const changed = [];
    const outcomes: RailOutcome[] = [];
    for (const stored of locked) {
      // Another worker may have taken the job over meanwhile and sent it.
      if (!stored.submission || stored.submission.resends > 0) continue;
      const { submission, step } = nextSubmission(
        stored.submission,
        { type: 'never_left' },
        taken.connection.policy,
      );
      if (step.do !== 'give_back') continue;
      changed.push({ ...stored, submission });
      outcomes.push({
        tenantId: stored.tenantId,
        paymentId: stored.paymentId,
        attemptId: stored.attemptId,
        kind: 'rejected',
        networkCode: null,
        code: 'network_unavailable',
        detail: 'The instant network could not be reached, and nothing was sent.',
        mayWorkElsewhere: mayTryElsewhere(submission),
      });
    }
    await updateSubmissions(tx, changed);
    await deps.applyOutcomes(tx, outcomes);
    await enqueueJobs(tx, deps.database.schema, readJobs(mode, answers));
  });
}

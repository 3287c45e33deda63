import type { Database, Queryable } from '@libs/db';
import { batchesForCores, completeJobs, enqueueJobs, type Handler, type Job, type NewJob } from '@libs/jobs';
import type { Behaviour } from '../../../payment-methods/test-accounts.ts';
import { businessMessageId, messageId } from '../identifiers.ts';
import { justWrittenReports } from '../messages/just-written.ts';
import { type AnyMessage, readMessage } from '../messages/read.ts';
import { buildStatusReport, reportOn } from '../messages/status-report.ts';
import { ATTEMPTS_WITHOUT_END, inChunks, retryDelayMs } from '../work/context.ts';
import { type AccountMarks, decide, isSameTransfer, refusalOf, senderOf, toBooked } from './decision.ts';
import {
  type BookedTransfer,
  bookTransfers,
  drawAnswerSerials,
  findOrders,
  findTransfers,
  orderOutcome,
  totalsByDay,
} from './store.ts';

/*
 * The instant network of the sandbox. It sees messages and nothing else, as a network would: what an account does is
 * written in its number. It keeps books of its own, books no instruction twice, and answers by messages. Its clock is
 * that of whoever it answers, so an organisation that lives in another year gets answers from that year.
 */
export const ANSWER_JOB = 'sandbox.rtp.answer';

export interface SandboxRtpNetworkDependencies {
  database: Database;
  /** The network's own name in headers. */
  participant: string;
  behaviourOf: (accountNumber: string) => Behaviour;
  marks: AccountMarks;
  now: () => Date;
}

/**
 * Brings answers to the participant that they are for, in the transaction that makes them: the books are what lasts, so
 * an answer that is not taken is simply made again. What is given back is to be done after the commit.
 */
export type DeliverAnswers = (tx: Queryable, messages: readonly string[]) => Promise<() => Promise<void>>;

/** For each of several lists of instructions, the tenants that they are of: the network knows none, and takes these as they are. */
export type FindOwners = (lists: readonly (readonly string[])[]) => Promise<readonly string[][]>;

export interface ReceivedMessage {
  xml: string;
  /** How long the network takes to answer. */
  answerAfterMs: number;
}

/** Whether the network took a message in; a refused one has no effect and gets no answer. */
export type Receipt = { ok: true } | { ok: false; reason: string };

export interface SandboxRtpNetwork {
  receive(messages: readonly ReceivedMessage[]): Promise<Receipt[]>;
  /** In the sender's transaction: with it the messages arrive, or never did. */
  receiveWithin(tx: Queryable, messages: readonly ReceivedMessage[]): Promise<Receipt[]>;
  /** Gives a transfer, arrived or on its way, the outcome that a developer wants; answers that are due say so. */
  order(
    tx: Queryable,
    instructionId: string,
    outcome: { status: 'ACTC' } | { status: 'RJCT'; code: string },
  ): Promise<void>;
  handlers(deliver: DeliverAnswers, findOwners: FindOwners): Handler[];
  readonly books: {
    find: typeof findTransfers;
    totalsByDay: typeof totalsByDay;
  };
}

/** An answer to give: about which instruction, and the time of the message that it answers. */
type Answer = [instructionId: string, at: string];

export function createSandboxRtpNetwork(deps: SandboxRtpNetworkDependencies): SandboxRtpNetwork {
  return {
    receive: (messages) => deps.database.transaction((tx) => receiveWithin(deps, tx, messages)),
    receiveWithin: (tx, messages) => receiveWithin(deps, tx, messages),
    order: (tx, instructionId, outcome) => orderOutcome(tx, instructionId, { code: null, ...outcome }),
    handlers: (deliver, findOwners) => [answerHandler(deps, deliver, findOwners)],
    books: { find: findTransfers, totalsByDay },
  };
}

async function receiveWithin(
  deps: SandboxRtpNetworkDependencies,
  tx: Queryable,
  messages: readonly ReceivedMessage[],
): Promise<Receipt[]> {
  const opened = messages.map(({ xml }) => open(xml, deps.participant));
  const taken = opened.flatMap((one) => (one.ok ? [one.message] : []));
  if (taken.length === 0) return opened.map(toReceipt);
  const books = await openBooks(deps, tx, taken);
  const receipts: Receipt[] = [];
  const answers = new Map<number, Answer[]>();
  for (const [index, one] of opened.entries()) {
    const reaction = one.ok ? reactTo(one.message, books, deps.marks) : one;
    receipts.push(toReceipt(reaction));
    if (!reaction.ok || !('answer' in reaction) || reaction.answer === null) continue;
    const delayMs = messages[index]?.answerAfterMs ?? 0;
    const sameDelay = answers.get(delayMs);
    if (sameDelay) sameDelay.push(reaction.answer);
    else answers.set(delayMs, [reaction.answer]);
  }
  await enqueueJobs(tx, deps.database.schema, answerJobs(answers, deps.now()));
  return receipts;
}

function toReceipt(result: { ok: true } | { ok: false; reason: string }): Receipt {
  return result.ok ? { ok: true } : { ok: false, reason: result.reason };
}

type Opening = { ok: true; message: AnyMessage } | { ok: false; reason: string };

/** Reads a message as strictly as a bank does, and checks that it is from whom it says and meant for us. */
function open(xml: string, participant: string): Opening {
  const reading = readMessage(xml);
  if (!reading.ok) return { ok: false, reason: `${reading.refusal.reason}: ${reading.refusal.detail}` };
  const { header, message } = reading;
  const reason = refusalOf(header, message, participant);
  return reason === null ? { ok: true, message } : { ok: false, reason };
}

interface Books {
  /** What this batch has put in, and what was in before. */
  added: ReadonlyMap<string, Pick<BookedTransfer, 'silent'>>;
  known: ReadonlyMap<string, BookedTransfer>;
}

async function openBooks(
  deps: SandboxRtpNetworkDependencies,
  tx: Queryable,
  messages: readonly AnyMessage[],
): Promise<Books> {
  const transfers = messages.flatMap((message) =>
    message.kind === 'pacs.008'
      ? [toBooked(message.transfer, decide(message.transfer, deps.behaviourOf), deps.marks)]
      : [],
  );
  const added = transfers.length === 0 ? new Map() : await bookTransfers(tx, transfers, deps.now());
  const asked = messages.flatMap((message) =>
    message.kind === 'pacs.028' ? [message.request.transfer.instructionId] : [],
  );
  const repeated = transfers.map((one) => one.instructionId).filter((id) => !added.has(id));
  const wanted = [...asked, ...repeated];
  const known = wanted.length === 0 ? [] : await findTransfers(tx, wanted);
  return { added, known: new Map(known.map((one) => [one.instructionId, one])) };
}

type Reaction = { ok: true; answer: Answer | null } | { ok: false; reason: string };

function reactTo(message: AnyMessage, { added, known }: Books, marks: AccountMarks): Reaction {
  switch (message.kind) {
    case 'pacs.008': {
      const { transfer } = message;
      const before = known.get(transfer.instructionId);
      const booked = added.get(transfer.instructionId) ?? before;
      if (!booked || (before && !isSameTransfer(before, transfer, marks))) {
        return { ok: false, reason: 'an identifier was used before, for another transfer' };
      }
      return { ok: true, answer: booked.silent ? null : [transfer.instructionId, transfer.createdAt] };
    }
    case 'pacs.028': {
      const { transfer, createdAt } = message.request;
      const booked = known.get(transfer.instructionId);
      // Of a transfer that never arrived there is nothing to say: it may still come.
      const isKnown = booked?.messageId === transfer.messageId && booked.amountCents === transfer.amountCents;
      return { ok: true, answer: isKnown ? [transfer.instructionId, createdAt] : null };
    }
    case 'pacs.002':
      return { ok: false, reason: 'wrong_message: the network takes no status reports' };
  }
}

interface AnswerPayload {
  answers: Answer[];
}

function answersIn({ payload }: Job): Answer[] {
  return (payload as AnswerPayload).answers;
}

/** So that one job stays small: giving its answers is one transaction, which locks all of their payments. */
const ANSWERS_PER_JOB_MAX = 250;
const ANSWER_JOBS_AT_ONCE = 50;

function answerJobs(answers: ReadonlyMap<number, Answer[]>, now: Date): NewJob[] {
  return [...answers].flatMap(([delayMs, group]) =>
    inChunks(group, ANSWERS_PER_JOB_MAX).map((chunk): NewJob => {
      const payload: AnswerPayload = { answers: chunk };
      const job: NewJob = { name: ANSWER_JOB, payload };
      return delayMs === 0 ? job : { ...job, runAt: new Date(now.getTime() + delayMs) };
    }),
  );
}

/** An outcome was ordered after the books were read: what was answered by them is taken back. */
class OrderedMeanwhile extends Error {
  override readonly name = 'OrderedMeanwhile';
}

/** A transfer is ordered once, since that ends its payment; then the job is tried again as after any fault. */
const ANSWER_TRIES_MAX = 5;

/** Says what the books say at the time of the answer, so that an outcome that was ordered meanwhile counts. */
function answerHandler(
  deps: SandboxRtpNetworkDependencies,
  deliver: DeliverAnswers,
  findOwners: FindOwners,
): Handler {
  return {
    name: ANSWER_JOB,
    batchMax: ANSWER_JOBS_AT_ONCE,
    items: { max: ANSWERS_PER_JOB_MAX, of: (job) => answersIn(job).length },
    concurrency: { most: batchesForCores() },
    attemptsMax: ATTEMPTS_WITHOUT_END,
    retryDelayMs,
    tenantsOf: (jobs) =>
      findOwners(jobs.map((job) => answersIn(job).map(([instructionId]) => instructionId))),
    async handle(jobs) {
      const answers = jobs.flatMap(answersIn);
      const give = () =>
        deps.database.transaction(async (tx) => {
          const later = await giveAnswers(deps, tx, { answers, deliver });
          await completeJobs(tx, jobs);
          return later;
        });
      for (let left = ANSWER_TRIES_MAX - 1; ; left -= 1) {
        try {
          const afterCommit = await give();
          return await afterCommit();
        } catch (error) {
          if (!(error instanceof OrderedMeanwhile) || left === 0) throw error;
        }
      }
    },
  };
}

async function giveAnswers(
  deps: SandboxRtpNetworkDependencies,
  tx: Queryable,
  { answers, deliver }: { answers: readonly Answer[]; deliver: DeliverAnswers },
): Promise<() => Promise<void>> {
  const instructionIds = answers.map(([instructionId]) => instructionId);
  const found = await findTransfers(tx, instructionIds);
  const booked = new Map(found.map((one) => [one.instructionId, one]));
  const serials = await drawAnswerSerials(tx, answers.length);
  const messages = answers.flatMap(([instructionId, at], index) => {
    const transfer = booked.get(instructionId);
    const serial = serials[index] as number;
    return transfer ? [writeAnswer(transfer, { participant: deps.participant, serial, at })] : [];
  });
  const later = await deliver(tx, messages);
  // Who takes the answers holds their payments from here on, and so does who orders: what is not ordered by now comes too
  // late. To hold them before the books are read would cost every answer two statements that lock.
  for (const [instructionId, ordered] of await findOrders(tx, instructionIds)) {
    const { status, code } = booked.get(instructionId) ?? ordered;
    if (status !== ordered.status || code !== ordered.code) throw new OrderedMeanwhile();
  }
  return later;
}

function writeAnswer(
  booked: BookedTransfer,
  { participant, serial, at }: { participant: string; serial: number; at: string },
): string {
  const id = { date: at.slice(0, 10), participant, source: 'H', serial } as const;
  const header = {
    from: participant,
    to: senderOf(booked.instructionId),
    businessMessageId: businessMessageId(id),
    createdAt: at,
    copy: null,
  };
  const report = reportOn(
    { ...booked, createdAt: booked.messageCreatedAt },
    {
      messageId: messageId(id),
      createdAt: at,
      status: booked.status,
      reason: booked.status === 'RJCT' ? { code: booked.code, text: null } : null,
      acceptedAt: booked.messageCreatedAt,
      clearingReference: null,
    },
  );
  const xml = buildStatusReport(header, report);
  justWrittenReports.remember(xml, header, report);
  return xml;
}

import { hash } from 'node:crypto';
import type { Database, Queryable } from '@libs/db';
import { toNewYork } from '../../../clock/new-york.ts';
import type { Behaviour } from '../../../payment-methods/test-accounts.ts';
import type { AchTransport, InboundFile, OutboundFile, SendResult } from '../bank/transport.ts';
import { fromFileDate } from '../nacha/dates.ts';
import type { NachaFile } from '../nacha/model.ts';
import { readNacha } from '../nacha/read.ts';
import { findTransactionCode } from '../nacha/transaction-codes.ts';
import { writeNacha } from '../nacha/write.ts';
import type { Originator } from '../outgoing/files.ts';
import type { AchTerms } from '../schedule/terms.ts';
import { type AnswerOrder, answerFile, orderedAnswer } from './answers.ts';
import { findHandedOver, forgetFile, noteHandedOver, noteReturned, takeOverChange } from './orders-store.ts';
import { type EntryToBook, isRetry, judgeFile, judgeRetries } from './rules.ts';
import {
  bookEntries,
  countUsedTraces,
  debitedReferences,
  findDebits,
  findDueAnswers,
  findOutbox,
  findReceived,
  insertReceived,
  lockMailbox,
  markFetched,
  type NewAnswer,
  nextAnswerAt,
  planAnswers,
  putIntoOutbox,
} from './store.ts';
import { answerDueAt, type LinePace, settlementOf } from './times.ts';

/*
 * The other side of ACH, in the sandbox: it stands for the operator and for every receiving bank. It is handed files
 * and gives files back, and knows nothing else of us: what an account does is written in its number, and what day it
 * is, in the file.
 */

export interface AchOperatorDependencies {
  database: Database;
  now: () => Date;
  terms: AchTerms;
  /** Who may send. */
  originator: Originator;
  /** How long a payment takes on a line where windows do not wait. */
  sandboxMs: number;
  behaviourOf: (accountNumber: string) => Behaviour;
}

export interface AchOperator {
  /** A customer's line: files of one mailbox never meet those of another. */
  connect(mailbox: string, pace: LinePace): AchTransport;
  /** Takes a file that is on its way at this moment, which an order is about; it is no other when it comes. */
  receiveFile(tx: Queryable, mailbox: string, pace: LinePace, file: ReceivedText): Promise<SendResult>;
  /** Sends an entry back now, because somebody ordered it; null where it has no such entry, or sent it back before. */
  returnEntry(tx: Queryable, mailbox: string, order: AnswerOrder): Promise<InboundFile | null>;
  /** Tells of a change now, because somebody ordered it; null where the same waits to be fetched. */
  notifyOfChange(tx: Queryable, mailbox: string, order: AnswerOrder): Promise<InboundFile | null>;
  /** Takes nothing of a file after all, as a bank that finds out later: its entries leave the books. */
  rejectFile(tx: Queryable, mailbox: string, file: RejectedFile): Promise<void>;
}

export interface RejectedFile {
  name: string;
  traces: readonly string[];
  reason: string;
}

type ReceivedText = Pick<OutboundFile, 'name' | 'content' | 'asOf'>;

const ANSWERS_PER_FILE_MAX = 1_000;
const FILES_PER_FETCH_MAX = 100;

export function createAchOperator(options: AchOperatorDependencies): AchOperator {
  const { database } = options;

  return {
    connect: (mailbox, pace) => ({
      send: (file) => database.transaction((tx) => receive(tx, options, { mailbox, pace }, file)),

      async collect(asOf) {
        for (let file = 0; file < FILES_PER_FETCH_MAX; file += 1) {
          if (!(await database.transaction((tx) => writeAnswers(tx, options, mailbox, asOf)))) break;
        }
        const files = await findOutbox(database, mailbox, { asOf, limit: FILES_PER_FETCH_MAX });
        return { files, isAll: files.length < FILES_PER_FETCH_MAX };
      },

      acknowledge: (name) => markFetched(database, mailbox, name, options.now()),

      nextAnswerAt: () => nextAnswerAt(database, mailbox),
    }),

    receiveFile: (tx, mailbox, pace, file) => receive(tx, options, { mailbox, pace }, file),

    async returnEntry(tx, mailbox, order) {
      await lockMailbox(tx, mailbox);
      const { entry } = order.original;
      const noted = await noteReturned(tx, mailbox, { trace: entry.trace, code: order.code, at: order.asOf });
      if (!noted) return null;
      const name = `ordered-${entry.trace}-${order.sequence.getTime()}.ach`;
      return { name, content: orderedAnswer('return', order, options.originator) };
    },

    async notifyOfChange(tx, mailbox, order) {
      await lockMailbox(tx, mailbox);
      const { original, code, asOf } = order;
      if (await takeOverChange(tx, mailbox, { trace: original.entry.trace, code })) return null;
      const file = { name: changeNameOf(order), content: orderedAnswer('noc', order, options.originator) };
      await noteHandedOver(tx, mailbox, { ...file, at: asOf });
      return file;
    },

    async rejectFile(tx, mailbox, file) {
      await lockMailbox(tx, mailbox);
      await forgetFile(tx, mailbox, file);
    },
  };
}

/** What an entry is told by order, which may be before its file comes: then nothing is planned to tell the same. */
function changeNameOf({ original: { entry }, code }: Pick<AnswerOrder, 'original' | 'code'>): string {
  return `ordered-${code}-${entry.trace}-${entry.individualId}.ach`;
}

interface Line {
  mailbox: string;
  pace: LinePace;
}

async function receive(
  tx: Queryable,
  options: AchOperatorDependencies,
  line: Line,
  file: ReceivedText,
): Promise<SendResult> {
  const read = readNacha(file.content);
  const identity = read.ok ? identityOf(read.file) : `unreadable ${file.name}`;
  const contentHash = hash('sha256', file.content, 'buffer');
  await lockMailbox(tx, line.mailbox);
  const known = await findReceived(tx, line.mailbox, { name: file.name, identity });
  const same = known.find((earlier) => earlier.contentHash.equals(contentHash));
  if (same) return same.refusals ? { ok: false, reasons: same.refusals } : { ok: true };
  const refusals = read.ok
    ? judgeFile(read.file, options)
    : read.faults.map(({ line: at, column, rule, detail }) => `${at}:${column} ${rule} ${detail}`);
  if (known.length > 0)
    refusals.push(`A file ${known[0]?.identity} was received before as ${known[0]?.name}.`);
  if (refusals.length === 0 && read.ok) refusals.push(...(await book(tx, options, line, { ...file, read })));
  const received = { mailbox: line.mailbox, name: file.name, identity, contentHash, receivedAt: file.asOf };
  // A name that is taken cannot be noted twice; the refusal is the answer.
  if (!known.some((earlier) => earlier.name === file.name))
    await insertReceived(tx, { ...received, refusals: refusals.length > 0 ? refusals : null });
  return refusals.length > 0 ? { ok: false, reasons: refusals } : { ok: true };
}

function identityOf({ header }: NachaFile): string {
  return `${header.immediateOrigin.trim()} ${header.creationDate} ${header.idModifier}`;
}

/** Takes the entries into the books and decides what will be answered. Answers why that cannot be. */
async function book(
  tx: Queryable,
  options: AchOperatorDependencies,
  line: Line,
  file: ReceivedText & { read: { file: NachaFile } },
): Promise<string[]> {
  const { batches, header } = file.read.file;
  const day = fromFileDate(header.creationDate);
  const entries = batches.flatMap((batch) =>
    batch.entries.map((entry): EntryToBook => {
      const direction = findTransactionCode(entry.transactionCode)?.direction ?? 'credit';
      const settlesAt =
        line.pace === 'calendar'
          ? settlementOf(batch.header, options.terms)
          : new Date(file.asOf.getTime() + options.sandboxMs / 2);
      return { original: { header: batch.header, entry }, direction, settlesAt };
    }),
  );
  const booked = entries.map(({ original: { entry }, direction, settlesAt }) => ({
    trace: entry.trace,
    day,
    direction,
    amount: entry.amountCents,
    reference: entry.individualId,
    settlesAt,
  }));
  const traces = booked.map((entry) => entry.trace);
  if (new Set(traces).size < traces.length) return ['A trace stands in the file twice.'];
  const used = await countUsedTraces(tx, line.mailbox, { traces, day });
  if (used > 0) return [`${used} traces were used before on ${day}.`];
  const retries = entries.filter(({ original }) => isRetry(original.header));
  if (retries.length > 0) {
    const references = retries.map(({ original }) => original.entry.individualId);
    const refusals = judgeRetries(retries, await findDebits(tx, line.mailbox, references), options.terms);
    if (refusals.length > 0) return refusals;
  }
  await bookEntries(tx, line.mailbox, booked);
  await planAnswers(tx, line.mailbox, await answersTo(tx, options, line, { entries, day, at: file.asOf }));
  return [];
}

async function answersTo(
  tx: Queryable,
  options: AchOperatorDependencies,
  line: Line,
  { entries, day, at }: { entries: readonly EntryToBook[]; day: string; at: Date },
): Promise<NewAnswer[]> {
  const odd = entries
    .map((entry) => ({ ...entry, behaviour: options.behaviourOf(entry.original.entry.accountNumber) }))
    .filter(({ behaviour }) => behaviour.kind.startsWith('ach_') && behaviour.code !== undefined)
    .filter((entry) => entry.behaviour.kind !== 'ach_return_once' || isFirstDebit(entry));
  if (odd.length === 0) return [];
  const references = odd.map(({ original }) => original.entry.individualId);
  const debited = await debitedReferences(tx, line.mailbox, references);
  const answers = odd.map(({ original, direction, settlesAt, behaviour }): NewAnswer => {
    const isSecondHalf = direction === 'credit' && debited.has(original.entry.individualId);
    return {
      dueAt: answerDueAt(
        behaviour.kind,
        { settlesAt, receivedAt: at, direction, isSecondHalf, pace: line.pace },
        options,
      ),
      kind: behaviour.kind === 'ach_noc' ? 'noc' : 'return',
      code: behaviour.code ?? '',
      trace: original.entry.trace,
      day,
      original,
    };
  });
  const told = await findHandedOver(tx, line.mailbox, answers.map(changeNameOf));
  return answers.filter((answer) => answer.kind === 'return' || !told.has(changeNameOf(answer)));
}

/** An account that returns once has its money the second time, and takes back what is refunded. */
function isFirstDebit({ direction, original }: EntryToBook): boolean {
  return direction === 'debit' && !isRetry(original.header);
}

/**
 * Writes a file of what is due first; false where nothing is due by then. Of one hour alone and as of that hour: another worker
 * may have come to it and not to that of this one, and settles there what it finds no answer to.
 */
async function writeAnswers(
  tx: Queryable,
  options: AchOperatorDependencies,
  mailbox: string,
  asOf: Date,
): Promise<boolean> {
  await lockMailbox(tx, mailbox);
  const due = await findDueAnswers(tx, mailbox, { asOf, limit: ANSWERS_PER_FILE_MAX });
  const first = due[0];
  if (!first) return false;
  const { dueAt } = first;
  const answers = due.filter((answer) => answer.dueAt.getTime() === dueAt.getTime());
  const { date } = toNewYork(dueAt);
  await putIntoOutbox(tx, mailbox, {
    name: `answers-${date.replaceAll('-', '')}-${first.id}.ach`,
    content: writeNacha(
      answerFile(answers, { asOf: dueAt, originator: options.originator, sequence: first.id }),
    ),
    createdAt: dueAt,
    answers,
  });
  return true;
}

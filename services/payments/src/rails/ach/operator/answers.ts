import assert from 'node:assert/strict';
import { toNewYork } from '../../../clock/new-york.ts';
import { routingNumberOf } from '../../routing-number.ts';
import type { ChangeCode, Correction, ReturnCode } from '../codes/codes.ts';
import { toFileDate } from '../nacha/dates.ts';
import type { Batch, Entry, NachaFile } from '../nacha/model.ts';
import { changeBatch, returnBatch } from '../nacha/replies.ts';
import { findTransactionCode, transactionCodeFor } from '../nacha/transaction-codes.ts';
import { writeNacha } from '../nacha/write.ts';
import type { Originator } from '../outgoing/files.ts';
import { FILES_PER_DAY_MAX, fileIdModifier, TRACE_SEQUENCE_MAX } from '../outgoing/traces.ts';
import type { Original } from './store.ts';

export interface AnswerToWrite {
  id: number;
  kind: 'return' | 'noc';
  code: string;
  original: Original;
}

export interface AnswerFileOptions {
  asOf: Date;
  originator: Originator;
  /** Tells files of a day apart. */
  sequence: number;
}

/** What the receiving banks send back, as the operator hands it on: from it, to the bank that sent the entries. */
export function answerFile(
  answers: readonly AnswerToWrite[],
  { asOf, originator, sequence }: AnswerFileOptions,
): NachaFile {
  const { date, time } = toNewYork(asOf);
  return {
    header: {
      immediateDestination: routingNumberOf(originator.odfi),
      immediateOrigin: originator.immediateDestination,
      creationDate: toFileDate(date),
      creationTime: time.replace(':', ''),
      idModifier: fileIdModifier(sequence % FILES_PER_DAY_MAX),
      destinationName: originator.originName,
      originName: originator.destinationName,
      referenceCode: '',
    },
    batches: answers.map((answer, index) => answerBatch(answer, index + 1, toFileDate(date))),
  };
}

/** An answer that somebody ordered, beside those that accounts ask for. */
export interface AnswerOrder {
  original: Original;
  code: string;
  asOf: Date;
  /** Real time, which tells apart what is ordered at one moment of a clock that stands still. */
  sequence: Date;
}

/** The text of a file with this one answer. */
export function orderedAnswer(
  kind: AnswerToWrite['kind'],
  { original, code, asOf, sequence }: AnswerOrder,
  originator: Originator,
): string {
  const id = sequence.getTime();
  return writeNacha(answerFile([{ id, kind, code, original }], { asOf, originator, sequence: id }));
}

function answerBatch({ id, kind, code, original }: AnswerToWrite, batchNumber: number, date: string): Batch {
  const traceSequence = (id % TRACE_SEQUENCE_MAX) + 1;
  const to = { ...original, traceSequence, batchNumber, effectiveDate: date };
  if (kind === 'return') return returnBatch(to, { code: code as ReturnCode });
  const change = changeBatch(to, code as ChangeCode, correctionFor(original.entry));
  assert(change.ok, 'what is corrected fits its columns');
  return change.batch;
}

const MOVED: ReadonlyMap<string, string> = new Map([
  ['110000000', '110000026'],
  ['110000026', '110000000'],
]);
const MOVED_ELSEWHERE = '110000026';
const NAMES = ['CORRECTED HOLDER', 'CORRECTED HOLDER II'] as const;
const LAST_DIGITS = /\d{1,6}$/;

/**
 * Details that differ from those of the entry and work as they did: an account keeps what its number says of its
 * behaviour, so the next payment is answered like this one. The layout of the code takes what it needs.
 */
function correctionFor(entry: Entry): Correction {
  return {
    routingNumber: MOVED.get(entry.routingNumber) ?? MOVED_ELSEWHERE,
    accountNumber: nextAccountNumber(entry.accountNumber),
    name: entry.individualName === NAMES[0] ? NAMES[1] : NAMES[0],
    transactionCode: otherAccountType(entry.transactionCode),
    individualId: `ID ${entry.individualId}`,
  };
}

function nextAccountNumber(accountNumber: string): string {
  return accountNumber.replace(LAST_DIGITS, (digits) =>
    String((Number(digits) + 1) % 10 ** digits.length).padStart(digits.length, '0'),
  );
}

/** From checking to savings, and back. */
function otherAccountType(code: string): string {
  const known = findTransactionCode(code);
  const account = known?.account === 'checking' ? 'savings' : 'checking';
  const other = known && transactionCodeFor({ ...known, account });
  assert(other, `there is no other kind of account for code ${code}`);
  return other;
}

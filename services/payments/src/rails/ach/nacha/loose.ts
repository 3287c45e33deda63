import type { Correction } from '../codes/codes.ts';
import { parseCorrectedData } from '../codes/corrected-data.ts';
import {
  ADDENDA_98,
  ADDENDA_99,
  BATCH_HEADER,
  ENTRY,
  FILE_CONTROL,
  type Field,
  LINE_WIDTH,
} from './layout.ts';
import { forEachLine, isBlank } from './lines.ts';
import { READ_LIMITS, type ReadLimits } from './read.ts';
import { findTransactionCode } from './transaction-codes.ts';

/*
 * What banks send back, read one entry at a time. Only what says which entry is answered, and how, must be there:
 * headers that name others, controls, padding, blank or odd fields, letter case and foreign characters stop nothing.
 */

interface AnswerBase {
  /** The trace of the entry that this answers: by it the payment is found. */
  readonly originalTrace: string;
  /** Eight digits of the bank that answers, or empty where the file does not say. */
  readonly originalRdfi: string;
  /** Null where the transaction code says nothing. */
  readonly direction: 'debit' | 'credit' | null;
}

export type ReturnAnswer = AnswerBase & {
  readonly kind: 'return';
  /** As the bank wrote it, in upper case; it need not be in our table. */
  readonly code: string;
  /** Null where the line of its entry, or the amount in that, is lost or spoiled. */
  readonly amountCents: number | null;
};

export type ChangeAnswer = AnswerBase & {
  readonly kind: 'noc';
  readonly code: string;
  readonly correction: Correction;
};

export type BankAnswer = ReturnAnswer | ChangeAnswer;

/** An entry of the file, with the text that it stands in, and what it says or why that cannot be told. */
export type LooseEntry = { readonly text: string } & (
  | { readonly answer: BankAnswer; readonly fault: null }
  | { readonly answer: null; readonly fault: string }
);

export type LooseFile = { ok: true; entries: LooseEntry[] } | { ok: false; reason: string };

const DIGITS = /^\d+$/;
/** Of three characters; which ones exist is for the banks to say. */
const CODE = /^[A-Z0-9]{1,3}$/;
const DFI = /^\d{8}$/;
/** Part of an account number looks like one: a correction whose line stops before this column is none. */
const CORRECTED_DATA_END = ADDENDA_98.correctedData.at + ADDENDA_98.correctedData.width;
/** Nothing but blanks stands behind the totals of a file, and programs take those away. */
const CONTROL_END = FILE_CONTROL.reserved.at;
const RECORD = /^[156789]/;
const PADDING = /^9+\s*$/;
const RECORDS_OF_EMPTY_FILE = 2;

function isReply(line: string): boolean {
  return line[0] === '7' && ['98', '99'].includes(textOf(line, ADDENDA_99.type));
}

/** Whether a further answer is to the same entry: else the line of its own is missing between the two. */
function answersTheSame(before: readonly string[], line: string): boolean {
  const [first] = before.filter(isReply);
  const { originalTrace } = ADDENDA_99;
  return first !== undefined && textOf(first, originalTrace) === textOf(line, originalTrace);
}

function textOf(line: string, { at, width }: Field): string {
  return line.slice(at, at + width).trim();
}

export function readLoosely(
  content: string,
  { linesMax }: Pick<ReadLimits, 'linesMax'> = READ_LIMITS,
): LooseFile {
  const entries: LooseEntry[] = [];
  let batchHeader = '';
  let open: string[] | undefined;
  let spoiled: string[] = [];
  let lines = 0;
  let last = '';
  const close = (): void => {
    if (open) entries.push(entryOf(open, batchHeader));
    open = undefined;
  };
  const take = (line: string): void => {
    if (line[0] === '7') {
      const before = open;
      // The line of its entry was lost or is spoiled; what it says must not be lost, too.
      if (before === undefined) open = [...spoiled];
      else if (isReply(line) && before.some(isReply)) {
        close();
        open = before.filter((other) => other[0] === '6' && answersTheSame(before, line));
      }
      open?.push(line);
    } else {
      close();
      if (line[0] === '6') open = [line];
      if (line[0] === '5') batchHeader = line;
    }
    spoiled = RECORD.test(line) ? [] : [line];
  };
  const isWhole = forEachLine(content, (raw) => {
    lines += 1;
    // A blank line ends no entry: the rest of it may follow.
    if (!isBlank(raw)) {
      last = raw;
      take(raw.padEnd(LINE_WIDTH));
    }
    return lines <= linesMax;
  });
  // Blanks would hide that the columns of its correction are not all there.
  if (!isWhole && last.length < CORRECTED_DATA_END) open?.splice(-1, 1, last);
  close();
  if (lines > linesMax) return { ok: false, reason: `It has more than ${linesMax} lines.` };
  const isGood = entries.length > 0 || saysItIsEmpty(content);
  return isGood ? { ok: true, entries } : { ok: false, reason: 'The file holds no entries.' };
}

/** Some banks send a file on every day, also where nothing came back: a header, and a control that counts nothing. */
function saysItIsEmpty(content: string): boolean {
  const records: string[] = [];
  forEachLine(content, (line) => {
    if (!isBlank(line) && !PADDING.test(line)) records.push(line);
    return records.length <= RECORDS_OF_EMPTY_FILE;
  });
  const [header = '', control = '', ...others] = records;
  const { batchCount, entryCount } = FILE_CONTROL;
  const counts = [batchCount, entryCount].map((field) => textOf(control, field));
  return header[0] === '1' && control[0] === '9' && counts.every(isZero) && others.length === 0;
}

function isZero(digits: string): boolean {
  return DIGITS.test(digits) && Number(digits) === 0;
}

/** Whether the last record is the whole control of a file: what follows may be padding, or no record at all. */
export function hasEnd(content: string): boolean {
  let last = '';
  const isWhole = forEachLine(content, (line) => {
    // Padding stands behind a record that has come to its end.
    if (RECORD.test(line)) last = PADDING.test(line) ? last.padEnd(LINE_WIDTH) : line;
    return true;
  });
  return last[0] === '9' && (isWhole || last.length >= CONTROL_END);
}

function entryOf(lines: readonly string[], batchHeader: string): LooseEntry {
  const text = [...(batchHeader === '' ? [] : [batchHeader]), ...lines]
    .map((line) => line.slice(0, CORRECTED_DATA_END) + line.slice(CORRECTED_DATA_END).trimEnd())
    .join('\n');
  const answer = answerOf(lines);
  return typeof answer === 'string' ? { text, answer: null, fault: answer } : { text, answer, fault: null };
}

/** What the entry says, or in words why nobody can tell. */
function answerOf(lines: readonly string[]): BankAnswer | string {
  const entry = lines.find((line) => line[0] === '6') ?? '';
  const reply = lines.find(isReply);
  if (reply === undefined) return 'It is neither a return nor a notification of change.';
  const originalTrace = textOf(reply, ADDENDA_99.originalTrace);
  if (!DIGITS.test(originalTrace)) return 'It does not say which trace it answers.';
  const code = textOf(reply, ADDENDA_99.code).toUpperCase();
  if (!CODE.test(code)) return 'It has no code.';
  const rdfi = textOf(reply, ADDENDA_99.originalRdfi);
  const base: AnswerBase = {
    originalTrace,
    originalRdfi: DFI.test(rdfi) ? rdfi : '',
    direction: findTransactionCode(textOf(entry, ENTRY.transactionCode))?.direction ?? null,
  };
  if (textOf(reply, ADDENDA_99.type) === '98') return changeOf(base, code, reply);
  const amount = textOf(entry, ENTRY.amount);
  return { ...base, kind: 'return', code, amountCents: DIGITS.test(amount) ? Number(amount) : null };
}

function changeOf(base: AnswerBase, code: string, line: string): BankAnswer | string {
  if (line.length < CORRECTED_DATA_END) return 'It is cut off.';
  const { at, width } = ADDENDA_98.correctedData;
  const parsed = parseCorrectedData(code, line.slice(at, at + width));
  return parsed.ok ? { ...base, kind: 'noc', code, correction: parsed.correction } : parsed.detail;
}

const HASH_MODULUS = 10_000_000_000;

/** A small file of one entry that could not be written by the rules: its lines as they came, with controls for them. */
export function looseExcerpt(content: string, originalTrace: string, kind?: BankAnswer['kind']): string {
  let fileHeader = '';
  forEachLine(content, (line) => {
    if (line[0] === '1') fileHeader = line.trimEnd();
    return fileHeader === '' && line[0] !== '6';
  });
  const read = readLoosely(content);
  const answers = (read.ok ? read.entries : []).filter(
    ({ answer }) => answer?.originalTrace === originalTrace,
  );
  const found = answers.find(({ answer }) => answer?.kind === kind) ?? answers[0];
  if (!found) return '';
  const lines = found.text.split('\n').map((line) => line.padEnd(LINE_WIDTH));
  const totals = totalsOf(lines);
  const header = lines.find((line) => line[0] === '5') ?? ''.padEnd(LINE_WIDTH);
  const batch =
    `8${header.slice(BATCH_HEADER.serviceClass.at, 4)}${totals.count(6)}${totals.sums}` +
    `${textOf(header, BATCH_HEADER.companyId).padEnd(10)}${''.padEnd(25)}` +
    header.slice(BATCH_HEADER.odfi.at);
  const file = `9000001000001${totals.count(8)}${totals.sums}`;
  return [fileHeader, ...lines, batch, file].map((line) => line.padEnd(LINE_WIDTH)).join('\n');
}

function totalsOf(lines: readonly string[]) {
  const entry = lines.find((line) => line[0] === '6') ?? '';
  const count = lines.filter((line) => line[0] === '6' || line[0] === '7').length;
  const amount = textOf(entry, ENTRY.amount).padStart(12, '0');
  const isDebit = findTransactionCode(textOf(entry, ENTRY.transactionCode))?.direction === 'debit';
  const hash = Number(textOf(entry, ENTRY.routingNumber).slice(0, 8)) % HASH_MODULUS;
  const none = ''.padStart(12, '0');
  return {
    count: (width: number) => String(count).padStart(width, '0'),
    sums: `${String(hash || 0).padStart(10, '0')}${isDebit ? amount + none : none + amount}`,
  };
}

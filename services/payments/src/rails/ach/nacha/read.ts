import {
  checkAddenda,
  checkBatch,
  checkBatchHeader,
  checkEntry,
  checkEntryWithAddenda,
  checkFileHeader,
} from './checks.ts';
import { checkBatchControl, checkFileControl } from './control-checks.ts';
import { type Fault, FaultLog, type NachaRule } from './faults.ts';
import { ADDENDA_05, BLOCKING_FACTOR, ENTRY, LINE_WIDTH } from './layout.ts';
import { forEachLine } from './lines.ts';
import type { Addenda, Batch, BatchHeader, Entry, FileHeader, NachaFile } from './model.ts';
import {
  type AddendaPlace,
  addendaIndicator,
  addendaType,
  parseAddenda05,
  parseAddenda98,
  parseAddenda99,
  parseBatchControl,
  parseBatchHeader,
  parseEntry,
  parseFileControl,
  parseFileHeader,
} from './parse.ts';
import { addTotals, countEntry, emptyTotals, type Totals } from './totals.ts';

export type ReadResult =
  | { readonly ok: true; readonly file: NachaFile }
  | { readonly ok: false; readonly faults: readonly Fault[] };

export type ReadLimits = { readonly linesMax: number; readonly faultsMax: number };

/** Two million lines are 190 MB of text, ten times the largest file that banks take. */
export const READ_LIMITS: ReadLimits = { linesMax: 2_000_000, faultsMax: 10_000 };

const NOT_PRINTABLE = /[^\x20-\x7e]/;
const ALL_NINES = /^9+ *$/;

type OpenEntry = {
  line: number;
  entry: Entry;
  addenda: Addenda[];
  /** Also counts those whose type is unknown: they are faulty, not absent. */
  addendaLines: number;
  indicator: string;
};

type OpenBatch = {
  line: number;
  header: BatchHeader;
  entries: Entry[];
  totals: Totals;
  traceBefore: string;
  openEntry: OpenEntry | undefined;
};

/** Only blanks: another kind of white space is a character that the rules forbid. */
function withoutBlanksAtEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') end -= 1;
  return line.slice(0, end);
}

/** Reads the whole file even when it is broken, so that one answer names everything that must be mended. */
class Reading {
  readonly log: FaultLog;
  readonly #batches: Batch[] = [];
  readonly #totals = emptyTotals();
  #header: FileHeader | undefined;
  #hasControl = false;
  #batch: OpenBatch | undefined;
  #numberBefore = 0;
  #records = 0;
  #padding = 0;
  #blankLine = 0;

  readonly #readers: Readonly<Record<string, (line: string) => void>> = {
    1: (line) => this.#readFileHeader(line),
    5: (line) => this.#readBatchHeader(line),
    6: (line) => this.#readEntry(line),
    7: (line) => this.#readAddenda(line),
    8: (line) => this.#readBatchControl(line),
    9: (line) => this.#readFileControl(line),
  };

  constructor(faultsMax: number) {
    this.log = new FaultLog(faultsMax);
  }

  readLine(raw: string, number: number): void {
    const trimmed = withoutBlanksAtEnd(raw);
    if (trimmed === '') {
      this.#blankLine ||= number;
      return;
    }
    if (this.#blankLine > 0) {
      this.#fault(this.#blankLine, 1, 'line_blank', 'An empty line stands before further records.');
      this.#blankLine = 0;
    }
    this.log.line = number;
    if (trimmed.length > LINE_WIDTH)
      this.#fault(
        number,
        LINE_WIDTH + 1,
        'line_length',
        `${trimmed.length} columns instead of ${LINE_WIDTH}.`,
      );
    const odd = trimmed.search(NOT_PRINTABLE);
    if (odd >= 0) this.#fault(number, odd + 1, 'character', 'Only printable ASCII is allowed.');
    const line = trimmed.slice(0, LINE_WIDTH).padEnd(LINE_WIDTH);
    if (this.#hasControl) this.#readPadding(line);
    else this.#readRecord(line);
  }

  finish(lastLine: number): ReadResult {
    this.log.line = Math.max(1, lastLine);
    if (!this.#hasControl) {
      this.#closeBatch();
      this.#fault(this.log.line, 1, 'file_control_missing', 'The file ends without a file control.');
    }
    if (!this.#header)
      this.#fault(1, 1, 'file_header_missing', 'The file does not begin with a file header.');
    if (!this.log.isEmpty || !this.#header) return { ok: false, faults: this.log.sorted() };
    return { ok: true, file: { header: this.#header, batches: this.#batches } };
  }

  #fault(line: number, column: number, rule: NachaRule, detail: string): void {
    this.log.add({ line, column, rule, detail });
  }

  #outOfOrder(detail: string): void {
    this.#fault(this.log.line, 1, 'record_order', detail);
  }

  #readRecord(line: string): void {
    this.#records += 1;
    const read = this.#readers[line[0] as string];
    if (read) read(line);
    else this.#fault(this.log.line, 1, 'record_type', `"${line[0]}" begins no record.`);
  }

  #readFileHeader(line: string): void {
    if (this.#header || this.#records > 1) this.#outOfOrder('A file header stands only in the first line.');
    const header = parseFileHeader(line, this.log.report);
    checkFileHeader(header, this.log.report);
    this.#header ??= header;
  }

  #readBatchHeader(line: string): void {
    this.#closeBatch();
    const header = parseBatchHeader(line, this.log.report);
    checkBatchHeader(header, this.#numberBefore, this.log.report);
    if (!Number.isNaN(header.batchNumber)) this.#numberBefore = header.batchNumber;
    this.#batch = {
      line: this.log.line,
      header,
      entries: [],
      totals: emptyTotals(),
      traceBefore: '',
      openEntry: undefined,
    };
  }

  #readEntry(line: string): void {
    const batch = this.#batch;
    if (!batch) {
      this.#outOfOrder('An entry stands outside a batch.');
      return;
    }
    this.#closeEntry(batch);
    const addenda: Addenda[] = [];
    const entry = parseEntry(line, addenda, this.log.report);
    checkEntry(entry, batch.header, batch.traceBefore, this.log.report);
    if (entry.trace !== '') batch.traceBefore = entry.trace;
    batch.openEntry = {
      line: this.log.line,
      entry,
      addenda,
      addendaLines: 0,
      indicator: addendaIndicator(line),
    };
  }

  #readAddenda(line: string): void {
    const open = this.#batch?.openEntry;
    if (!this.#batch || !open) {
      this.#outOfOrder('An addenda record stands without an entry before it.');
      return;
    }
    const index = open.addendaLines;
    open.addendaLines += 1;
    const addenda = this.#parseAddenda(line, { entryTrace: open.entry.trace, sequence: open.addendaLines });
    if (!addenda) return;
    open.addenda.push(addenda);
    checkAddenda(addenda, { entry: open.entry, header: this.#batch.header, index }, this.log.report);
  }

  #parseAddenda(line: string, place: AddendaPlace): Addenda | undefined {
    switch (addendaType(line)) {
      case '05':
        return parseAddenda05(line, place, this.log.report);
      case '98':
        return parseAddenda98(line, place, this.log.report);
      case '99':
        return parseAddenda99(line, place, this.log.report);
      default:
        this.log.report(ADDENDA_05.type, 'addenda_type', `"${addendaType(line)}" is not 05, 98 or 99.`);
        return undefined;
    }
  }

  #closeEntry(batch: OpenBatch): void {
    const open = batch.openEntry;
    if (!open) return;
    batch.openEntry = undefined;
    const report = this.log.reportOn(open.line);
    const indicator = open.addendaLines > 0 ? '1' : '0';
    if (open.indicator !== indicator)
      report(ENTRY.addendaIndicator, 'addenda_indicator', `"${open.indicator}" instead of ${indicator}.`);
    checkEntryWithAddenda(open.entry, batch.header, report);
    countEntry(batch.totals, open.entry);
    batch.totals.entryCount += open.addendaLines - open.addenda.length;
    batch.entries.push(open.entry);
  }

  /** A batch that still stands open when this is called has no control. */
  #closeBatch(): void {
    const batch = this.#batch;
    if (!batch) return;
    this.#fault(this.log.line, 1, 'batch_control_missing', `The batch of line ${batch.line} has no control.`);
    this.#takeBatch(batch, {});
  }

  #readBatchControl(line: string): void {
    const batch = this.#batch;
    if (!batch) {
      this.#outOfOrder('A batch control stands outside a batch.');
      return;
    }
    this.#closeEntry(batch);
    const control = parseBatchControl(line, this.log.report);
    checkBatchControl(control, batch, this.log.report);
    this.#takeBatch(batch, {
      ...(control.companyId === batch.header.companyId ? {} : { controlCompanyId: control.companyId }),
      ...(control.authenticationCode === '' ? {} : { authenticationCode: control.authenticationCode }),
    });
  }

  #takeBatch(batch: OpenBatch, control: Pick<Batch, 'controlCompanyId' | 'authenticationCode'>): void {
    this.#closeEntry(batch);
    checkBatch(batch.header, batch.entries, this.log.reportOn(batch.line));
    addTotals(this.#totals, batch.totals);
    this.#batches.push({ header: batch.header, entries: batch.entries, ...control });
    this.#batch = undefined;
  }

  #readFileControl(line: string): void {
    this.#closeBatch();
    this.#hasControl = true;
    const control = parseFileControl(line, this.log.report);
    checkFileControl(
      control,
      {
        batchCount: this.#batches.length,
        blockCount: Math.ceil(this.#records / BLOCKING_FACTOR),
        totals: this.#totals,
      },
      this.log.report,
    );
  }

  #readPadding(line: string): void {
    this.#padding += 1;
    if (!ALL_NINES.test(line))
      this.#fault(this.log.line, 1, 'padding', 'Only lines of nines may follow the file control.');
    else if (this.#padding === BLOCKING_FACTOR)
      this.#fault(this.log.line, 1, 'padding', 'More padding than fills a block.');
  }
}

export function readNacha(text: string, limits: ReadLimits = READ_LIMITS): ReadResult {
  const reading = new Reading(limits.faultsMax);
  let lastLine = 0;
  forEachLine(text, (line, number) => {
    if (number > limits.linesMax) {
      const detail = `More than ${limits.linesMax} lines: the rest is not read.`;
      reading.log.add({ line: number, column: 1, rule: 'lines_max', detail });
      return false;
    }
    lastLine = number;
    reading.readLine(line, number);
    return true;
  });
  return reading.finish(lastLine);
}

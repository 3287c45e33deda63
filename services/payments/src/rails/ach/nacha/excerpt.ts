import { FaultLog } from './faults.ts';
import { ADDENDA_98, ENTRY, LINE_WIDTH } from './layout.ts';
import { forEachLine, isBlank } from './lines.ts';
import type { Addenda, Batch, BatchHeader, Entry, FileHeader, NachaFile } from './model.ts';
import {
  addendaType,
  parseAddenda05,
  parseAddenda98,
  parseAddenda99,
  parseBatchHeader,
  parseEntry,
  parseFileHeader,
} from './parse.ts';
import { NachaFileRefused, writeNacha } from './write.ts';

type KeptLines = { header: string; entries: { line: string; addenda: string[] }[] };

/**
 * What one payment may see of a file that holds others' entries too: its own entries under their headers, with
 * controls computed for exactly these lines.
 *
 * `traces` are the traces that we gave out. An entry we sent is known by its own trace, a return or notification of
 * change by the trace it replies to and by that alone: the bank's own trace of the reply may, where that bank is
 * ours, be the number of somebody else's entry.
 *
 * The text is that of a file that was read or written here before. Other lines are passed over without being parsed, so
 * a request costs a scan of the text and not 100,000 records.
 */
export function excerptText(text: string, traces: ReadonlySet<string>): string | undefined {
  let fileHeader = '';
  let batchHeader = '';
  let entry: { line: string; addenda: string[] } | undefined;
  const kept: KeptLines[] = [];
  const keepEntry = (): void => {
    if (!entry || !traces.has(traceConcerned(entry))) return;
    const batch = kept.at(-1);
    if (batch?.header === batchHeader) batch.entries.push(entry);
    else kept.push({ header: batchHeader, entries: [entry] });
  };
  forEachLine(text, (raw) => {
    // A blank line ends no entry.
    if (isBlank(raw)) return true;
    const type = raw[0];
    if (type === '7') entry?.addenda.push(raw.padEnd(LINE_WIDTH));
    else {
      keepEntry();
      entry = type === '6' ? { line: raw.padEnd(LINE_WIDTH), addenda: [] } : undefined;
      if (type === '1' && fileHeader === '') fileHeader = raw.padEnd(LINE_WIDTH);
      else if (type === '5') batchHeader = raw.padEnd(LINE_WIDTH);
    }
    return type !== '9';
  });
  keepEntry();
  return kept.length > 0 ? writeNacha(parseKept(fileHeader, kept)) : undefined;
}

function traceConcerned(entry: { line: string; addenda: string[] }): string {
  const first = entry.addenda[0];
  const type = first === undefined ? '' : addendaType(first);
  if (first !== undefined && (type === '98' || type === '99')) {
    const { at, width } = ADDENDA_98.originalTrace;
    return first.slice(at, at + width);
  }
  return entry.line.slice(ENTRY.trace.at, ENTRY.trace.at + ENTRY.trace.width);
}

const FAULTS_MAX = 100;

function parseKept(fileHeader: string, kept: readonly KeptLines[]): NachaFile {
  const log = new FaultLog(FAULTS_MAX);
  const header: FileHeader = parseFileHeader(fileHeader, log.report);
  const batches = kept.map((batch): Batch => {
    const batchHeader: BatchHeader = parseBatchHeader(batch.header, log.report);
    const entries = batch.entries.map(({ line, addenda }) => parseKeptEntry(line, addenda, log));
    return { header: batchHeader, entries };
  });
  if (!log.isEmpty) throw new NachaFileRefused(log.sorted());
  return { header, batches };
}

function parseKeptEntry(line: string, lines: readonly string[], log: FaultLog): Entry {
  const addenda: Addenda[] = [];
  const entry = parseEntry(line, addenda, log.report);
  lines.forEach((addendaLine, index) => {
    const place = { entryTrace: entry.trace, sequence: index + 1 };
    const type = addendaType(addendaLine);
    if (type === '98') addenda.push(parseAddenda98(addendaLine, place, log.report));
    else if (type === '99') addenda.push(parseAddenda99(addendaLine, place, log.report));
    else addenda.push(parseAddenda05(addendaLine, place, log.report));
  });
  return entry;
}

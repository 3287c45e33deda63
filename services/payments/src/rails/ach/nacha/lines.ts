import { LINE_WIDTH } from './layout.ts';

export type VisitLine = (line: string, number: number) => boolean;

/**
 * Calls `visit` with each line, without its line break, until it answers false. Lines end as they do on any system:
 * with a carriage return alone only where nothing else ends them.
 * Mainframes send records of 94 columns with no line breaks at all; those are cut by width, and the last one is as long as
 * it came.
 * Answers whether the last record is known to be whole: a line break stands behind it, or it has all its columns.
 */
export function forEachLine(text: string, visit: VisitLine): boolean {
  const extent: Extent = { start: startOfRecords(text), end: endOfRecords(text) };
  if (isUnbroken(text, extent)) {
    cutByWidth(text, extent, visit);
    return (extent.end - extent.start) % LINE_WIDTH === 0;
  }
  splitAt(lineBreakOf(text, extent.end), text, visit);
  return LINE_BREAK.test(text.slice(extent.end));
}

/** Nothing but what programs add to records on the way. */
export function isBlank(line: string): boolean {
  return endOfRecords(line) === 0 || line.trim() === '';
}

/** From the first record to behind the last one. */
interface Extent {
  start: number;
  end: number;
}

const LINE_BREAK = /[\r\n]/;
/** What programs add to the last record on the way, or fill a block up with: line breaks, blanks, NULs, the mark of DOS. */
const ADDED_AT_END: ReadonlySet<string | undefined> = new Set(['\n', '\r', ' ', '\0', '\u001a']);
const RECORDS: ReadonlySet<string | undefined> = new Set('156789');

function startOfRecords(text: string): number {
  const start = text.search(/[^\r\n]/);
  return start < 0 ? text.length : start;
}

function endOfRecords(text: string): number {
  let end = text.length;
  while (ADDED_AT_END.has(text[end - 1])) end -= 1;
  return end;
}

/**
 * Whether records follow each other without line breaks: then a record begins at every 94th column, whatever stands behind
 * the last one or was taken away from its end, and a carriage return is a character as any other. Where lines end with that,
 * one begins at every 95th column, or none is longer than a record.
 */
function isUnbroken(text: string, { start, end }: Extent): boolean {
  const records = text.slice(start, end);
  if (records.length <= LINE_WIDTH || records.includes('\n')) return false;
  if (isOfRecords(records)) return records.split('\r').some((line) => line.length > LINE_WIDTH);
  // Their number comes out even: one of them may begin with anything.
  const blanks = text.slice(end).search(/[^ ]|$/);
  return !records.includes('\r') && (records.length + blanks) % LINE_WIDTH === 0;
}

function isOfRecords(text: string): boolean {
  if (text[0] !== '1') return false;
  for (let at = LINE_WIDTH; at < text.length; at += LINE_WIDTH) if (!RECORDS.has(text[at])) return false;
  return true;
}

function lineBreakOf(text: string, end: number): '\n' | '\r' {
  const records = text.slice(0, end);
  return records.includes('\r') && !records.includes('\n') ? '\r' : '\n';
}

function cutByWidth(text: string, { start, end }: Extent, visit: VisitLine): void {
  let number = 1;
  for (let at = start; at < end; at += LINE_WIDTH, number += 1)
    if (!visit(text.slice(at, Math.min(at + LINE_WIDTH, end)), number)) return;
  const added = text.slice(end).replaceAll(/[\r\n \0]/g, '');
  if (added !== '') visit(added, number);
}

function splitAt(lineBreak: '\n' | '\r', text: string, visit: VisitLine): void {
  let number = 1;
  for (let start = 0; start < text.length; number += 1) {
    const end = text.indexOf(lineBreak, start);
    const stop = end < 0 ? text.length : end;
    const hasReturn = stop > start && text.charCodeAt(stop - 1) === 13;
    if (!visit(text.slice(start, hasReturn ? stop - 1 : stop), number)) return;
    start = stop + 1;
  }
}

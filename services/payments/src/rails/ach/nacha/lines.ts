import { LINE_WIDTH } from './layout.ts';

export type VisitLine = (line: string, number: number) => boolean;

/**
 * Calls `visit` with each line, without its line break, until it answers false. Lines end as they do on any system:
 * with a carriage return alone only where nothing else ends them.
 * Mainframes send records of 94 columns with no line breaks at all; those are cut by width.
 */
export function forEachLine(text: string, visit: VisitLine): void {
  const end = endOfRecords(text);
  const lineBreak = lineBreakOf(text, end);
  if (lineBreak === undefined && end > LINE_WIDTH && end % LINE_WIDTH === 0) cutByWidth(text, end, visit);
  else splitAt(lineBreak ?? '\n', text, visit);
}

/** What programs add to the last record on the way, and is none: line breaks, and the mark of DOS. */
const ADDED_AT_END: ReadonlySet<string | undefined> = new Set(['\n', '\r', '\u001a']);

function endOfRecords(text: string): number {
  let end = text.length;
  while (ADDED_AT_END.has(text[end - 1])) end -= 1;
  return end;
}

function lineBreakOf(text: string, end: number): '\n' | '\r' | undefined {
  const records = text.slice(0, end);
  return records.includes('\n') ? '\n' : records.includes('\r') ? '\r' : undefined;
}

function cutByWidth(text: string, end: number, visit: VisitLine): void {
  for (let at = 0; at < end; at += LINE_WIDTH)
    if (!visit(text.slice(at, at + LINE_WIDTH), at / LINE_WIDTH + 1)) return;
  const added = text.slice(end).replaceAll(/[\r\n]/g, '');
  if (added !== '') visit(added, end / LINE_WIDTH + 1);
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

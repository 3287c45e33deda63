import { LINE_WIDTH } from './layout.ts';

export type VisitLine = (line: string, number: number) => boolean;

/**
 * Calls `visit` with each line, without its line break, until it answers false.
 * Mainframes send records of 94 columns with no line breaks at all; those are cut by width.
 */
export function forEachLine(text: string, visit: VisitLine): void {
  if (text.length > LINE_WIDTH && !text.includes('\n') && text.length % LINE_WIDTH === 0) {
    for (let at = 0; at < text.length; at += LINE_WIDTH)
      if (!visit(text.slice(at, at + LINE_WIDTH), at / LINE_WIDTH + 1)) return;
    return;
  }
  let number = 1;
  for (let start = 0; start < text.length; number += 1) {
    const end = text.indexOf('\n', start);
    const stop = end < 0 ? text.length : end;
    const hasReturn = stop > start && text.charCodeAt(stop - 1) === 13;
    if (!visit(text.slice(start, hasReturn ? stop - 1 : stop), number)) return;
    start = stop + 1;
  }
}

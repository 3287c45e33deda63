import type { ExportSection } from './section.ts';

const ROWS_MAX = 100_000;

/** The file, piece by piece. */
export async function* exportJson(
  sections: readonly ExportSection[],
  options: { customerId: string; at: Date; rowsMax?: number },
): AsyncGenerator<string> {
  const { customerId, at, rowsMax = ROWS_MAX } = options;
  const cutOff: string[] = [];
  yield `{"exported_at":${JSON.stringify(at)}`;
  for (const section of sections) {
    yield `,\n${JSON.stringify(section.name)}:`;
    if ('one' in section) yield JSON.stringify((await section.one(customerId)) ?? null);
    else if (!(yield* writeRows(section.pages(customerId), rowsMax))) cutOff.push(section.name);
  }
  yield `,\n"cut_off":${JSON.stringify(cutOff)}}\n`;
}

/** False when there were more rows than may be written. */
async function* writeRows(
  pages: AsyncIterable<readonly unknown[]>,
  rowsMax: number,
): AsyncGenerator<string, boolean> {
  let written = 0;
  yield '[';
  for await (const page of pages) {
    const rows = page.slice(0, rowsMax - written);
    if (rows.length > 0)
      yield `${written === 0 ? '' : ','}\n${rows.map((row) => JSON.stringify(row)).join(',\n')}`;
    written += rows.length;
    if (rows.length < page.length) {
      yield ']';
      return false;
    }
  }
  yield ']';
  return true;
}

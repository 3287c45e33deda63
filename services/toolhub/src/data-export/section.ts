/** A part of the file: one object, or a list that is read page by page. */
export type ExportSection = { name: string } & (
  | { one(customerId: string): Promise<unknown> }
  | { pages(customerId: string): AsyncIterable<readonly unknown[]> }
);

const PAGE_ROWS = 500;

/** Pages of a list that goes on behind the last row that was shown. */
export async function* pagesOf<Row, Position = string>(
  read: (page: { before: Position | undefined; limit: number }) => Promise<readonly Row[]>,
  positionOf: (row: Row) => Position,
): AsyncGenerator<readonly Row[]> {
  for (let before: Position | undefined; ; ) {
    const rows = await read({ before, limit: PAGE_ROWS });
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    before = positionOf(last);
  }
}

/** These fields of an object and no others, under the names that the interface uses. */
export function shown<Row extends object>(
  row: Row,
  fields: readonly (keyof Row & string)[],
): Record<string, unknown> {
  return Object.fromEntries(
    fields.map((field) => [field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), row[field]]),
  );
}

/** A list under a name, of which each row shows these fields. */
export function listSection<Row extends object, Position = string>(
  name: string,
  options: {
    read(customerId: string, page: { before: Position | undefined; limit: number }): Promise<readonly Row[]>;
    positionOf: (row: Row) => Position;
    fields: readonly (keyof Row & string)[];
  },
): ExportSection {
  return {
    name,
    async *pages(customerId) {
      for await (const rows of pagesOf((page) => options.read(customerId, page), options.positionOf))
        yield rows.map((row) => shown(row, options.fields));
    },
  };
}

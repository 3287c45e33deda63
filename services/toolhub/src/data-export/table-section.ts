import type { Queryable } from '@libs/db';
import { type ExportSection, pagesOf } from './section.ts';

/** A table of customers' rows that are shown as they are stored; whose table it is says which columns. */
export interface ExportedTable {
  table: string;
  /** The columns that tell a customer's rows apart, in the order of the primary key, with their types. */
  key: Readonly<Record<string, 'text' | 'bigint'>>;
  /** Those that are shown beside the key. */
  columns: readonly string[];
}

type Row = Record<string, unknown>;

/** The rows of a customer under the name of their table, in the order of their key. */
export function tableSection(db: Queryable, exported: ExportedTable): ExportSection {
  const key = Object.keys(exported.key);
  return {
    name: exported.table,
    pages: (customerId) =>
      pagesOf<Row, unknown[]>(
        (page) => listRows(db, exported, { customerId, ...page }),
        (row) => key.map((column) => row[column]),
      ),
  };
}

async function listRows(
  db: Queryable,
  { table, key, columns }: ExportedTable,
  { customerId, before, limit }: { customerId: string; before: unknown[] | undefined; limit: number },
): Promise<Row[]> {
  const names = Object.keys(key).join(', ');
  const position = Object.values(key).map((type, index) => `$${index + 3}::${type}`);
  const behind = before === undefined ? '' : `and (${names}) > (${position.join(', ')})`;
  const { rows } = await db.query<Row>(
    `select ${[names, ...columns].join(', ')} from ${table}
     where customer_id = $1 ${behind} order by ${names} limit $2`,
    [customerId, limit, ...(before ?? [])],
  );
  return rows;
}

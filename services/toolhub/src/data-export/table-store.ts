import type { Queryable } from '@libs/db';
import type { ExportedTable } from './exported-table.ts';

export type ExportedRow = Record<string, unknown>;

/** A page of a customer's rows, behind the last one that was shown. */
export async function listExportedRows(
  db: Queryable,
  { table, key, columns }: ExportedTable,
  { customerId, before, limit }: { customerId: string; before: unknown[] | undefined; limit: number },
): Promise<ExportedRow[]> {
  const names = Object.keys(key).join(', ');
  const position = Object.values(key).map((type, index) => `$${index + 3}::${type}`);
  const behind = before === undefined ? '' : `and (${names}) > (${position.join(', ')})`;
  const { rows } = await db.query<ExportedRow>(
    `select ${[names, ...columns].join(', ')} from ${table}
     where customer_id = $1 ${behind} order by ${names} limit $2`,
    [customerId, limit, ...(before ?? [])],
  );
  return rows;
}

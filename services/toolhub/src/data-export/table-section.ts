import type { Queryable } from '@libs/db';
import type { ExportedTable } from './exported-table.ts';
import { type ExportSection, pagesOf } from './section.ts';
import { type ExportedRow, listExportedRows } from './table-store.ts';

/** The rows of a customer under the name of their table, in the order of their key. */
export function tableSection(db: Queryable, exported: ExportedTable): ExportSection {
  const key = Object.keys(exported.key);
  return {
    name: exported.table,
    pages: (customerId) =>
      pagesOf<ExportedRow, unknown[]>(
        (page) => listExportedRows(db, exported, { customerId, ...page }),
        (row) => key.map((column) => row[column]),
      ),
  };
}

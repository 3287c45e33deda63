import type { ReactNode } from 'react';

export interface Column<Row> {
  header: string;
  align?: 'right';
  /** Sentences and lists: below their name in a card, from edge to edge. */
  wide?: boolean;
  /** What somebody wrote, such as a name: a long word goes on in the next line, where it would push the others out of sight. */
  written?: boolean;
  render: (row: Row) => ReactNode;
  /** For what most rows may lack, such as actions: other cells stay empty, and without a row that has it the column is left out. */
  has?: (row: Row) => boolean;
}

/** The columns that these rows need; while they are on their way, those that every row has. */
export function columnsFor<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[] | undefined,
): readonly Column<Row>[] {
  return columns.filter(({ has }) => has === undefined || (rows ?? []).some(has));
}

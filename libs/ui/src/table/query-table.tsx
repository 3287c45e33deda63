import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemView } from '../show/problem-view.tsx';
import type { Column } from './columns-for.ts';
import { DataTable } from './data-table.tsx';

/** A page of a list, as the API answers. */
export interface ListPage<Row> {
  data: Row[];
  next_cursor?: string | null;
}

/** The rows that a query brought, or why it did not. */
export function QueryTable<Row>(props: {
  label: string;
  query: UseQueryResult<ListPage<Row>>;
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  empty?: ReactNode;
}) {
  const { query, ...table } = props;
  if (query.isError && query.data === undefined)
    return <ProblemView error={query.error} retry={query.refetch} />;
  return <DataTable {...table} rows={query.data?.data} />;
}

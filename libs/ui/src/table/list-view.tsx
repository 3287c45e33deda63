import { Button } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Empty } from '../show/empty.tsx';
import { ProblemView } from '../show/problem-view.tsx';
import { texts } from '../texts.ts';
import { type Column, DataTable } from './data-table.tsx';
import { Pager } from './pager.tsx';
import { useSearchState } from './search.ts';

/** A page of a list, as the API answers. */
export interface ListPage<Row> {
  data: Row[];
  next_cursor?: string | null;
}

/** A list of the API whose filters and place are in the address. */
export function ListView<Row>(props: {
  label: string;
  query: UseQueryResult<ListPage<Row>>;
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  empty: ReactNode;
}) {
  const { query } = props;
  const search = useSearchState();
  const isFiltered = Object.values(search.values).some((value) => value !== undefined && value !== '');
  if (query.isError && query.data === undefined)
    return <ProblemView error={query.error} retry={() => void query.refetch()} />;
  const nothing = (
    <Empty
      icon="search"
      title={texts.nothingMatches}
      action={
        <Button variant="default" onClick={search.clear}>
          {texts.clearFilters}
        </Button>
      }
    />
  );
  return (
    <>
      <DataTable
        label={props.label}
        columns={props.columns}
        rows={query.data?.data}
        keyOf={props.keyOf}
        empty={isFiltered ? nothing : props.empty}
      />
      <Pager nextCursor={query.data?.next_cursor} />
    </>
  );
}

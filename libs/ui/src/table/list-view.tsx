import { Button, Group, Paper } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isApiError } from '../api/problem.ts';
import { Empty } from '../show/empty.tsx';
import { texts } from '../texts.ts';
import type { Column } from './columns-for.ts';
import { Pager } from './pager.tsx';
import { type ListPage, QueryTable } from './query-table.tsx';
import { useSearchState } from './search.ts';

interface ListViewProps<Row> {
  label: string;
  query: UseQueryResult<ListPage<Row>>;
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  /** Shown where nothing is there at all; filters that match nothing say so themselves. */
  empty: ReactNode;
}

/** A list of the API whose filters and place are in the address. */
export function ListView<Row>(props: ListViewProps<Row>) {
  const search = useSearchState();
  const isFiltered = Object.entries(search.values).some(([name, value]) => name !== 'tab' && value);
  // What the server says of a query is for programs.
  const isRefused = isApiError(props.query.error, 'invalid_query') && props.query.data === undefined;
  const further = props.query.data?.next_cursor ?? undefined;
  const nothing = (
    <Empty
      icon="search"
      {...(isRefused
        ? { title: texts.badFilters, next: texts.badFiltersNext }
        : further === undefined
          ? { title: texts.nothingMatches }
          : // The server looks through so many at a time, and says where it stopped.
            { title: texts.nothingSoFar, next: texts.nothingSoFarNext })}
      action={
        <Group gap="xs" justify="center">
          {further === undefined ? null : (
            <Button onClick={() => search.set({ cursor: further })}>{texts.lookFurther}</Button>
          )}
          <Button variant="default" onClick={search.clear}>
            {texts.clearFilters}
          </Button>
        </Group>
      }
    />
  );
  if (isFiltered && isRefused) return nothing;
  return (
    <>
      <QueryTable {...props} empty={isFiltered ? nothing : props.empty} />
      <Pager nextCursor={props.query.data?.next_cursor} />
    </>
  );
}

/** A list that is a panel by itself, as most pages have one. */
export function ListPanel<Row>(props: ListViewProps<Row>) {
  return (
    <Paper p={0} className="ui-panel">
      <ListView {...props} />
    </Paper>
  );
}

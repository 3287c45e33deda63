import { Button, Group, Paper } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useId } from 'react';
import { isApiError } from '../api/problem.ts';
import { Empty } from '../show/empty.tsx';
import { texts } from '../texts.ts';
import type { Column } from './columns-for.ts';
import { useFocusOnPage } from './focus-on-page.ts';
import { PageButtons } from './pager.tsx';
import { usePlaceInAddress } from './place.ts';
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
  const { query } = props;
  const search = useSearchState();
  const place = usePlaceInAddress();
  const { list, turned } = useFocusOnPage(query);
  const isFiltered = Object.entries(search.values).some(([name, value]) => name !== 'tab' && value);
  // What the server says of a query is for programs.
  const isRefused = isApiError(query.error, 'invalid_query') && query.data === undefined;
  const nothing = <NothingFound query={query} isRefused={isRefused} onTurn={turned} />;
  return (
    <div ref={list}>
      {isFiltered && isRefused ? (
        nothing
      ) : (
        <>
          <QueryTable {...props} empty={isFiltered ? nothing : props.empty} />
          <PageButtons place={place} nextCursor={query.data?.next_cursor} onTurn={turned} />
        </>
      )}
    </div>
  );
}

/** Instead of rows, where filters are set. */
function NothingFound(props: {
  query: UseQueryResult<ListPage<unknown>>;
  isRefused: boolean;
  onTurn: () => void;
}) {
  const { query, isRefused, onTurn } = props;
  const search = useSearchState();
  const id = useId();
  const further = query.data?.next_cursor ?? undefined;
  return (
    <Empty
      id={id}
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
            <Button
              data-look-further
              // Heard again when nothing was found once more.
              aria-describedby={id}
              loading={query.isPlaceholderData}
              onClick={() => {
                onTurn();
                search.turnTo(further);
              }}
            >
              {texts.lookFurther}
            </Button>
          )}
          <Button
            variant="default"
            onClick={() => {
              onTurn();
              search.clear();
            }}
          >
            {texts.clearFilters}
          </Button>
        </Group>
      }
    />
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

import { Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ComponentProps, ReactNode } from 'react';
import { EmptyNote } from '../show/empty.tsx';
import { QueryView } from '../show/query-view.tsx';
import { texts } from '../texts.ts';
import { useFocusOnPage } from './focus-on-page.ts';
import { PageButtons } from './pager.tsx';
import type { Place } from './place.ts';
import { type ListPage, QueryTable } from './query-table.tsx';

/** A list of the API beside others, page by page. */
export function PagedTable<Row>({
  place,
  ...table
}: ComponentProps<typeof QueryTable<Row>> & { place: Place }) {
  const isFirst = place.cursor === undefined;
  return (
    <Pages place={place} query={table.query}>
      <QueryTable {...table} empty={isFirst ? table.empty : <EmptyNote>{texts.nothingLeft}</EmptyNote>} />
    </Pages>
  );
}

/** The same for what is no table. */
export function PagedView<Row>(props: {
  place: Place;
  query: UseQueryResult<ListPage<Row>>;
  empty: ReactNode;
  children: (rows: readonly Row[]) => ReactNode;
}) {
  const { place, query } = props;
  const nothing =
    place.cursor === undefined ? (
      props.empty
    ) : (
      <Text size="sm" c="dimmed" className="ui-empty-note">
        {texts.nothingLeft}
      </Text>
    );
  return (
    <Pages place={place} query={query}>
      <QueryView query={query}>
        {({ data }) => (data.length === 0 ? nothing : props.children(data))}
      </QueryView>
    </Pages>
  );
}

function Pages(props: { place: Place; query: UseQueryResult<ListPage<unknown>>; children: ReactNode }) {
  const { list, turned } = useFocusOnPage(props.query);
  return (
    <div ref={list}>
      {props.children}
      <PageButtons place={props.place} nextCursor={props.query.data?.next_cursor} onTurn={turned} />
    </div>
  );
}

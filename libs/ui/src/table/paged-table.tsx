import { type ComponentProps, useState } from 'react';
import { EmptyNote } from '../show/empty.tsx';
import { texts } from '../texts.ts';
import { useFocusOnPage } from './focus-on-page.ts';
import { PageButtons } from './pager.tsx';
import { QueryTable } from './query-table.tsx';

export interface Place {
  /** Of the page that is shown; none for the first. */
  cursor: string | undefined;
  toFirst: () => void;
  toPrevious: () => void;
  toNext: (cursor: string) => void;
}

/** The place in a list that is one of several on its page, or in a dialog: the one in the address is that of the page's own list. */
export function usePlace(): Place {
  const [passed, setPassed] = useState<readonly string[]>([]);
  return {
    cursor: passed.at(-1),
    toFirst: () => setPassed([]),
    toPrevious: () => setPassed((before) => before.slice(0, -1)),
    // Pressed twice, before the next page is there: it is one step.
    toNext: (cursor) => setPassed((before) => (before.at(-1) === cursor ? before : [...before, cursor])),
  };
}

/** A list of the API beside others, page by page. */
export function PagedTable<Row>({
  place,
  ...table
}: ComponentProps<typeof QueryTable<Row>> & { place: Place }) {
  const isFirst = place.cursor === undefined;
  const { list, turned } = useFocusOnPage(table.query);
  return (
    <div ref={list}>
      <QueryTable {...table} empty={isFirst ? table.empty : <EmptyNote>{texts.nothingLeft}</EmptyNote>} />
      <PageButtons
        isFirst={isFirst}
        nextCursor={table.query.data?.next_cursor}
        onTurn={turned}
        onFirst={place.toFirst}
        onPrevious={place.toPrevious}
        onNext={place.toNext}
      />
    </div>
  );
}

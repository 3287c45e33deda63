import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { useSearchState } from './search.ts';

export interface Place {
  /** Of the page that is shown; none for the first. */
  cursor: string | undefined;
  toFirst: () => void;
  /** Missing where nobody knows which it was. */
  toPrevious?: () => void;
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

/** The place in the page's own list. */
export function usePlaceInAddress(): Place {
  const search = useSearchState();
  const { history } = useRouter();
  return {
    cursor: search.values.cursor,
    toFirst: () => search.set({}),
    ...(search.isTurned ? { toPrevious: () => history.back() } : {}),
    toNext: search.turnTo,
  };
}

import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';

export type Search = Record<string, string | undefined>;

/** The address is plain text, `?status=failed&rail=ach`, that people read and send to each other. */
export const searchFormat = {
  parseSearch: (text: string): Search => withoutEmpty(Object.fromEntries(new URLSearchParams(text))),
  stringifySearch: (search: Record<string, unknown>): string => {
    const given = withoutEmpty(search);
    return Object.keys(given).length === 0 ? '' : `?${new URLSearchParams(given)}`;
  },
};

function withoutEmpty(search: Record<string, unknown>): Record<string, string> {
  const given = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '');
  return Object.fromEntries(given) as Record<string, string>;
}

export interface SearchState {
  values: Search;
  /** Changes filters in the address, and begins at the first page again. */
  set: (changes: Search) => void;
  /** Turns to another page of the list; the page before is behind it in the history. */
  turnTo: (cursor: string) => void;
  /** Whether somebody turned to this page here: a link or a log-in led to it otherwise. */
  isTurned: boolean;
  clear: () => void;
}

/** Noted with an entry of the history, where it outlives a reload. */
const TURNED = 'turned';

/** Filters and the place in the list live in the address alone: reload, back and a sent link show the same. */
export function useSearchState(): SearchState {
  const values = withoutEmpty(useSearch({ strict: false })) as Search;
  const navigate = useNavigate();
  const isTurned = useLocation({ select: ({ state }) => TURNED in state });
  const go = (search: Search, state = {}) =>
    void navigate({ to: '.', search: search as never, replace: false, state });
  return {
    values,
    isTurned,
    set: (changes) => go({ ...values, cursor: undefined, ...changes }),
    turnTo: (cursor) => go({ ...values, cursor }, { [TURNED]: true }),
    // A tab is a place and no filter.
    clear: () => go({ tab: values.tab }),
  };
}

import { useNavigate, useSearch } from '@tanstack/react-router';

export type Search = Record<string, string | undefined>;

/** The address is plain text, `?status=failed&rail=ach`, that people read and send to each other. */
export const searchFormat = {
  parseSearch: (text: string): Search => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search: Record<string, unknown>): string => {
    const pairs = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '');
    return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs as [string, string][])}`;
  },
};

export interface SearchState {
  values: Search;
  /** Changes filters in the address, and begins at the first page again. */
  set: (changes: Search) => void;
  clear: () => void;
}

/** Filters and the place in the list live in the address alone: reload, back and a sent link show the same. */
export function useSearchState(): SearchState {
  const values = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const go = (search: Search) => void navigate({ to: '.', search: search as never, replace: false });
  return {
    values,
    set: (changes) => go({ ...values, cursor: undefined, ...changes }),
    // A tab is a place and no filter.
    clear: () => go({ tab: values.tab }),
  };
}

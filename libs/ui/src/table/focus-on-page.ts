import type { UseQueryResult } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef } from 'react';
import { isFocusNowhere } from '../show/focus-nearby.ts';

/** Where the keyboard goes on, the best place first: what was pressed, where it is still to be pressed, a row, or what is said in its place. */
const PLACES = [
  '[data-look-further]',
  'tbody tr, section, .mantine-Accordion-control',
  '.mantine-EmptyState-root, .ui-empty-note, [role="alert"]',
];

/**
 * The button that turns a page may be gone, or have nothing to turn to, when the page is there: then whoever pressed it goes on
 * at the first row that came. `turned` is called when it is pressed.
 */
export function useFocusOnPage(query: UseQueryResult<unknown>): {
  list: RefObject<HTMLDivElement | null>;
  turned: () => void;
} {
  const list = useRef<HTMLDivElement>(null);
  const isTurned = useRef(false);
  const shown = query.isPlaceholderData ? undefined : (query.data ?? query.error ?? undefined);
  useEffect(() => {
    if (!isTurned.current || shown === undefined) return;
    isTurned.current = false;
    if (isFocusNowhere()) focusFirst(list.current);
  }, [shown]);
  return {
    list,
    turned: () => {
      isTurned.current = true;
    },
  };
}

function focusFirst(list: HTMLElement | null): void {
  for (const place of PLACES) {
    const found = list?.querySelector<HTMLElement>(place);
    if (found == null) continue;
    const target = found.querySelector<HTMLElement>('a[data-row]') ?? found;
    if (target.tabIndex < 0) target.tabIndex = -1;
    target.focus();
    return;
  }
}

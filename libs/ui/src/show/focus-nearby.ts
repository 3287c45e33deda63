import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react';

const FOCUSABLE = 'a[href], button:not([disabled]), input:not([disabled]), [tabindex="0"]';

/** As after its element has gone, or has been disabled, which the browser follows only when it draws. */
export const isFocusNowhere = () => {
  const at = document.activeElement;
  return at === null || at === document.body || at.matches(':disabled');
};

/**
 * What a button does may take the button itself away, as when the row that it stands in is deleted: then the keyboard goes on
 * at the row that took its place, and where there is none, at the heading of the list. Returns what is called when it acts.
 */
export function useFocusNearby(button: RefObject<HTMLButtonElement | null>): () => void {
  const acted = useRef(false);
  useLayoutEffect(() => {
    const element = button.current;
    return () => {
      if (element === null || !acted.current || isElsewhere(element)) return;
      const places = placesNear(element);
      // Only when all that is to go has gone can it be known what has stayed.
      queueMicrotask(() => {
        if (!isFocusNowhere()) return;
        for (const place of places) if (place()) return;
      });
    };
  }, [button]);
  return useCallback(() => {
    acted.current = true;
  }, []);
}

/** The person has gone on already, to what stays: a field of the button's own form goes with it. */
function isElsewhere(button: HTMLButtonElement): boolean {
  const at = document.activeElement;
  const goes = at === button || button.form?.contains(at) === true || at?.closest('[role="dialog"]') !== null;
  return !isFocusNowhere() && !goes;
}

/** From the nearest to the farthest; each says whether it is still there and has taken the focus. */
function placesNear(button: HTMLElement): (() => boolean)[] {
  const cell = button.closest('td');
  const row = button.closest('tr');
  const rows = [row, row?.nextElementSibling, row?.previousElementSibling].filter((each) => each != null);
  const rooms = ['section', '[role="dialog"]', 'main'].map((room) => button.closest(room));
  return [
    ...rows.map((each) => () => focusIn(each, cell?.cellIndex ?? 0)),
    ...rooms.map((room) => () => focusHeading(room)),
  ];
}

/** What can be done in the same column, else whatever the row leads to. */
function focusIn(row: Element, column: number): boolean {
  if (!row.isConnected) return false;
  const target =
    row.children.item(column)?.querySelector<HTMLElement>(FOCUSABLE) ??
    row.querySelector<HTMLElement>(FOCUSABLE);
  target?.focus();
  return target != null;
}

function focusHeading(room: Element | null): boolean {
  const heading = room?.isConnected === true ? room.querySelector<HTMLElement>('h1, h2, h3') : null;
  if (heading === null) return false;
  heading.tabIndex = -1;
  heading.focus();
  return true;
}

import { useEffect, useRef } from 'react';

/**
 * Gives the focus back to what had it before the first of several dialogs: one that opens as another closes would give it back to
 * a button that is gone with the other. Where that is gone, too, the name of the page has it.
 */
export function useFocusOutside(opened: boolean): void {
  const before = useRef<HTMLElement>(null);
  useEffect(() => {
    const remember = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement && target.closest('[role="dialog"]') === null)
        before.current = target;
    };
    document.addEventListener('focusin', remember);
    return () => document.removeEventListener('focusin', remember);
  }, []);
  const wasOpened = useRef(opened);
  useEffect(() => {
    if (wasOpened.current && !opened) {
      const element = before.current?.isConnected ? before.current : document.querySelector('h1');
      element?.focus({ preventScroll: true });
    }
    wasOpened.current = opened;
  }, [opened]);
}

import { Button, type ButtonProps } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { isFocusNowhere, useFocusNearby } from './focus-nearby.ts';
import { ignoreHeldKey } from './held-key.ts';
import { toast } from './toast.ts';

/** A button that calls the server: it waits, cannot be pressed twice, and says what went wrong. */
export function ActionButton({
  onAct,
  children,
  ...rest
}: ButtonProps & { onAct: () => Promise<unknown>; children: ReactNode; 'aria-label'?: string }) {
  const [busy, setBusy] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const hasActed = useRef(false);
  const focusNearby = useFocusNearby(button);
  useEffect(() => {
    // A button that waits is disabled, which takes the focus from it.
    if (hasActed.current && !busy && isFocusNowhere()) button.current?.focus({ preventScroll: true });
    if (!busy) hasActed.current = false;
  }, [busy]);
  const act = async () => {
    hasActed.current = true;
    focusNearby();
    setBusy(true);
    try {
      await onAct();
    } catch (error) {
      toast.problem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button
      variant="default"
      size="xs"
      {...rest}
      ref={button}
      loading={busy}
      onClick={() => void act()}
      onKeyDown={ignoreHeldKey}
    >
      {children}
    </Button>
  );
}

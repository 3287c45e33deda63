import { Button, type ButtonProps } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { isFocusNowhere, useFocusNearby } from './focus-nearby.ts';
import { ignoreHeldKey } from './held-key.ts';
import { type Act, useIntention } from './intention.ts';
import { toast } from './toast.ts';

/** A button that calls the server: it waits, cannot be pressed twice, and says what went wrong. */
export function ActionButton({
  onAct,
  lostWords,
  children,
  ...rest
}: ButtonProps & {
  onAct: Act;
  /** What to do where no answer came, of what would be done twice by trying again. */
  lostWords?: string;
  children: ReactNode;
  'aria-label'?: string;
}) {
  const { busy, run } = useIntention(onAct);
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
    try {
      await run();
    } catch (error) {
      toast.problem(error, lostWords);
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

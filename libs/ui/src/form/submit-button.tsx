import { Button, type ButtonProps } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { isFocusNowhere, useFocusNearby } from '../show/focus-nearby.ts';

/** A dialog that closes after its form was sent gives the focus back by itself, within a few milliseconds. */
const DIALOG_CLOSED_MS = 50;

/**
 * The button of a form: it waits while the form is sent, and has the focus again when nothing else took it. Where the form is made
 * anew with what was stored, the keyboard goes on at the heading above it.
 */
export function SubmitButton({
  sending,
  ...rest
}: Omit<ButtonProps, 'loading'> & { sending: boolean; children: ReactNode }) {
  const button = useRef<HTMLButtonElement>(null);
  const wasSending = useRef(false);
  const focusNearby = useFocusNearby(button);
  useEffect(() => {
    if (sending && button.current?.closest('[role="dialog"]') === null) focusNearby();
    const isSent = wasSending.current && !sending;
    wasSending.current = sending;
    if (!isSent) return;
    // A button that waits is disabled, which takes the focus from it.
    const timer = setTimeout(() => {
      if (isFocusNowhere()) button.current?.focus({ preventScroll: true });
    }, DIALOG_CLOSED_MS);
    return () => clearTimeout(timer);
  }, [sending, focusNearby]);
  return <Button {...rest} ref={button} type="submit" loading={sending} />;
}

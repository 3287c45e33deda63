import { Button, type ButtonProps } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { isFocusNowhere } from '../show/focus-nearby.ts';

/** The button of a form: it waits while the form is sent, and has the focus again when nothing else took it. */
export function SubmitButton({
  sending,
  ...rest
}: Omit<ButtonProps, 'loading'> & { sending: boolean; children: ReactNode }) {
  const button = useRef<HTMLButtonElement>(null);
  const wasSending = useRef(false);
  useEffect(() => {
    // A button that waits is disabled, which takes the focus from it.
    if (wasSending.current && !sending && isFocusNowhere()) button.current?.focus({ preventScroll: true });
    wasSending.current = sending;
  }, [sending]);
  return <Button {...rest} ref={button} type="submit" loading={sending} />;
}

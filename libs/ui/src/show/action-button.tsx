import { Button, type ButtonProps } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { toast } from './toast.ts';

/** A button that calls the server: it waits, cannot be pressed twice, and says what went wrong. */
export function ActionButton({
  onAct,
  children,
  ...rest
}: ButtonProps & { onAct: () => Promise<unknown>; children: ReactNode; 'aria-label'?: string }) {
  const [busy, setBusy] = useState(false);
  const act = async () => {
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
    <Button variant="default" size="xs" {...rest} loading={busy} onClick={() => void act()}>
      {children}
    </Button>
  );
}

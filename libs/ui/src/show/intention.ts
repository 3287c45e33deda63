import { useRef, useState } from 'react';
import { newIdempotencyKey } from '../api/idempotency-key.ts';

/** `idempotencyKey`: the same as at the press before where that one was not answered with a yes, so that nothing is done twice. */
export type Act = (idempotencyKey: string) => Promise<unknown>;

/** What a button has the server do: once at a time, however often it is pressed meanwhile. */
export function useIntention(act: Act): { busy: boolean; run: () => Promise<void> } {
  const [busy, setBusy] = useState(false);
  // At once: two presses may come before the button is drawn anew.
  const isUnderWay = useRef(false);
  const key = useRef<string>(undefined);
  const run = async () => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setBusy(true);
    key.current ??= newIdempotencyKey();
    try {
      await act(key.current);
      key.current = undefined;
    } finally {
      isUnderWay.current = false;
      setBusy(false);
    }
  };
  return { busy, run };
}

import { SealError } from '@libs/seal';
import type { Mode } from '../tenant.ts';

/**
 * Whether what failed is something sealed that nobody will open any more: it is refused by itself instead of holding up all
 * others. A sandbox does not wait for a key that was replaced. Live waits for the right one, so that a mistake in the
 * settings fails no payment, unless the operator has given that key up.
 */
export type IsLostForGood = (error: unknown, mode: Mode) => boolean;

export function lostForGood(lostKeyIds: readonly string[]): IsLostForGood {
  return (error, mode) =>
    error instanceof SealError &&
    (mode === 'test' || (error.keyId !== null && lostKeyIds.includes(error.keyId)));
}

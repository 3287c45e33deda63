import type { KeyboardEvent } from 'react';

/** For buttons that change something: a key that is held down presses what comes into its way again and again. */
export function ignoreHeldKey(event: KeyboardEvent): void {
  if (event.repeat) event.preventDefault();
}

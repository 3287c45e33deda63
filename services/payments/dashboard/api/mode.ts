import type { Mode } from './types.ts';

const LIVE_PATH = '/dashboard/live';
const TEST_PATH = '/dashboard';

/**
 * Test or live is part of the address and is fixed while the page is loaded: changing it loads everything anew, so that
 * nothing that was read in one mode can ever be shown in the other.
 */
export const mode = modeAt(window.location.pathname);
export const basepath = mode === 'live' ? LIVE_PATH : TEST_PATH;

/** The mode of an address of these pages. */
export function modeAt(address: string): Mode {
  return /^\/dashboard\/live([/?]|$)/.test(address) ? 'live' : 'test';
}

/** The same page in the other mode; ids belong to one mode, so only its first part is kept. */
export function addressInMode(other: Mode, path: string): string {
  const rest = path.split('/').slice(0, 2).join('/');
  return `${other === 'live' ? LIVE_PATH : TEST_PATH}${rest}`;
}

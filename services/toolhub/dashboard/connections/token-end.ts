import type { Credential } from './platforms.ts';
import { connections as words } from './texts.ts';

export interface TokenEnd {
  label: string;
  at: string;
  /** What follows the time in the same sentence. */
  rest: string;
}

/**
 * What can be said of the end of a token. Whether it is renewed by itself is known of one alone that is connected beyond
 * its end: there, no time is worth a word.
 */
export function tokenEndOf(
  { status, expires_at: at }: Pick<Credential, 'status' | 'expires_at'>,
  now: Date,
): TokenEnd | null {
  if (at === null) return null;
  const isOver = new Date(at) <= now;
  if (status === 'expired') return isOver ? { label: words.tokenEnded, at, rest: '' } : null;
  return isOver ? null : { label: words.tokenUntil, at, rest: words.orRenewed };
}

import { hash, timingSafeEqual } from 'node:crypto';
import { SealError } from './errors.ts';

export type RandomBytes = (size: number) => Buffer;

const TOKEN_BYTES = 32;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 is the first power of 62 above 2^256. */
export const TOKEN_CHARACTERS = 43;

/** 256 random bits behind the prefix, in letters and digits only, so that a double click selects the whole token. */
export function newToken(prefix: string, randomBytes: RandomBytes): string {
  if (!/^[A-Za-z0-9_]*$/.test(prefix)) throw new SealError('bad_prefix', `not a token prefix: ${prefix}`);
  let rest = BigInt(`0x${randomBytes(TOKEN_BYTES).toString('hex')}`);
  let text = '';
  for (let index = 0; index < TOKEN_CHARACTERS; index += 1) {
    text = BASE62.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return prefix + text;
}

/** Tokens carry 256 random bits, so one plain SHA-256 is enough: there is nothing to guess. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Compares in a time that depends on neither value, also when the lengths differ. */
export function equalSecrets(left: string | Uint8Array, right: string | Uint8Array): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'));
}

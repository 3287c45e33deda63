import { hash } from 'node:crypto';

const ALPHABET = '234567abcdefghijklmnopqrstuvwxyz';
const KEY_LENGTH = 13;

/**
 * A record key of the form that Bluesky wants (a TID: 13 characters, the first with its top bit clear), made of what the
 * record is about. The same like or the same keyed post then has the same address however often it is sent.
 */
export function recordKeyFor(...about: readonly string[]): string {
  const digest = hash('sha256', JSON.stringify(about), 'buffer');
  const characters = Array.from({ length: KEY_LENGTH }, (_, index) => {
    const bits = (digest[index] as number) & 31;
    return ALPHABET[index === 0 ? bits & 15 : bits];
  });
  return characters.join('');
}

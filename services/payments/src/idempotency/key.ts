import { hash } from 'node:crypto';
import { errors } from '../errors.ts';

export const KEY_LENGTH_MAX = 255;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** A string of RFC 8941: quotes and backslashes inside it are escaped. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/** The key that the header names, bare or quoted: `k` and `"k"` are the same key. */
export function parseIdempotencyKey(header: string | readonly string[]): string {
  const text = typeof header === 'string' ? header : header.join(', ');
  const key = text.startsWith('"') ? QUOTED.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1') : text;
  if (key === undefined || key.length > KEY_LENGTH_MAX || !PRINTABLE.test(key)) {
    throw errors.idempotency_key_invalid();
  }
  return key;
}

/** What makes two bodies the same: their values after parsing, whatever the order of their fields. */
export function fingerprintOf(body: unknown): Buffer {
  return hash('sha256', canonicalJson(body), 'buffer');
}

/** Bodies come from the parser, which bounds their depth. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

import { hash } from 'node:crypto';
import { errors } from '../errors.ts';

export const KEY_LENGTH_MAX = 255;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** A string of RFC 8941: quotes and backslashes inside it are escaped. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

const HEADER = 'idempotency-key';
/** What stands between the values of a header that was sent more than once. */
const JOINED_BY = ', ';

interface KeyedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: { readonly rawHeaders: readonly string[] };
}

/**
 * The key of a request; undefined where it has none. Two of them are refused and not taken for one: where something on the way
 * adds its own for each try, a repeat would be another payment.
 */
export function idempotencyKeyOf({ headers, raw }: KeyedRequest): string | undefined {
  const given = headers[HEADER];
  if (given === undefined) return undefined;
  const text = typeof given === 'string' ? given : given.join(JOINED_BY);
  // Few keys hold what joins them, so that nearly no request pays for a look at all of its headers.
  if (text.includes(JOINED_BY) && raw.rawHeaders.filter(isHeader).length > 1) {
    throw errors.idempotency_key_invalid({ detail: 'Send one Idempotency-Key header, not several.' });
  }
  return parseIdempotencyKey(text);
}

/** Names and values take turns. */
function isHeader(text: string, index: number): boolean {
  return index % 2 === 0 && text.toLowerCase() === HEADER;
}

/** The key that the header names, bare or quoted: `k` and `"k"` are the same key. */
export function parseIdempotencyKey(text: string): string {
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

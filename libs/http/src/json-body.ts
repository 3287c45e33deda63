import { isUtf8 } from 'node:buffer';
import { baseErrors, type FieldError } from '@libs/runtime';

/** Deeper values are refused: nothing we accept nests that far, and recursion below stays bounded. */
export const JSON_DEPTH_MAX = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const UNDERSCORE = 0x5f;
const LOWER_U = 0x75;

type Shape = { members: number; depth: number; suspicious: boolean };

/** Which bytes stop a search, looked up in a table because a comparison with each would cost more. */
function stopsAt(...bytes: number[]): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of bytes) table[byte] = 1;
  return table;
}

const STRUCTURE = stopsAt(QUOTE, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE);
const STRING_EVENTS = stopsAt(QUOTE, BACKSLASH);

/** Strings longer than this are searched for their end by the platform, which is faster by far but costs a call. */
const SHORT_BYTES = 64;

/**
 * Strict JSON: UTF-8 only, no repeated keys, no NUL and no lone surrogates in any string, bounded depth.
 *
 * JSON.parse does the parsing. One pass over the bytes counts the members; an object with a repeated key has fewer
 * properties than the text has members, so equal counts prove that there is none. NUL and lone surrogates can only
 * come from a `\u` escape (raw ones break JSON or UTF-8), so strings are looked at only when the text has one.
 */
export function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw baseErrors.invalid_json({ detail: 'The body is not valid UTF-8.' });
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw baseErrors.invalid_json();
  }
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string') refuseBadText(value);
    return value;
  }
  const shape = measure(body);
  if (shape.depth > JSON_DEPTH_MAX) {
    throw baseErrors.invalid_json({ detail: `The body nests deeper than ${JSON_DEPTH_MAX} levels.` });
  }
  // Without members there is nothing to repeat, and a long list of numbers need not be walked.
  if (shape.members > 0 && countMembers(value) !== shape.members) {
    throw baseErrors.invalid_json({ detail: describeRepeatedKey(text) });
  }
  if (shape.suspicious) refuseBadText(value);
  return value;
}

function measure(body: Buffer): Shape {
  const strings = new StringSkipper(body);
  let members = 0;
  let depth = 0;
  let deepest = 0;
  const end = body.length;
  for (let i = nextStop(body, STRUCTURE, 0, end); i < end; i = nextStop(body, STRUCTURE, i + 1, end)) {
    const byte = body[i];
    if (byte === QUOTE) i = strings.endOf(i);
    else if (byte === COLON) members++;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
      if (depth > deepest) deepest = depth;
    } else depth--;
  }
  return { members, depth: deepest, suspicious: strings.suspicious };
}

/** A function of its own, small and called often: only such a loop is compiled for speed. */
function nextStop(body: Buffer, table: Uint8Array, from: number, limit: number): number {
  let i = from;
  while (i < limit && table[body[i] as number] === 0) i++;
  return i;
}

/**
 * Finds the ends of the strings in a text that is known to be valid JSON. The next quote and the next backslash are
 * remembered until they are passed, so however strings and escapes are arranged, every byte is searched once.
 */
class StringSkipper {
  /** Whether a string begins with two underscores or holds a `\u`. */
  suspicious = false;
  readonly #body: Buffer;
  #quote = -1;
  #backslash = -1;

  constructor(body: Buffer) {
    this.#body = body;
  }

  endOf(start: number): number {
    const body = this.#body;
    if (body[start + 1] === UNDERSCORE && body[start + 2] === UNDERSCORE) this.suspicious = true;
    let i = start + 1;
    for (;;) {
      const far = i + SHORT_BYTES;
      i = nextStop(body, STRING_EVENTS, i, far);
      if (i === far) i = this.#jump(i);
      if (body[i] === QUOTE) return i;
      // Escapes like company.
      for (; body[i] === BACKSLASH; i += 2) if (body[i + 1] === LOWER_U) this.suspicious = true;
    }
  }

  /** The next quote or backslash, however far. */
  #jump(from: number): number {
    const body = this.#body;
    if (this.#quote < from) this.#quote = indexOrEnd(body, QUOTE, from);
    if (this.#backslash < from) this.#backslash = indexOrEnd(body, BACKSLASH, from);
    return Math.min(this.#quote, this.#backslash);
  }
}

function indexOrEnd(body: Buffer, byte: number, from: number): number {
  const index = body.indexOf(byte, from);
  return index < 0 ? body.length : index;
}

function countMembers(value: object): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      if (typeof item === 'object' && item !== null) count += countMembers(item);
    }
    return count;
  }
  for (const key in value) {
    count++;
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === 'object' && item !== null) count += countMembers(item);
  }
  return count;
}

/** In a larger text the search for a name would cost more than all the rest, and whoever wrote it is no person. */
const NAMED_KEY_BYTES_MAX = 256 * 1024;

/** The slow look at a text that is known to be valid JSON with a repeated key, only to name that key. */
function describeRepeatedKey(text: string): string {
  if (text.length > NAMED_KEY_BYTES_MAX) return 'The body repeats a key.';
  const open: (Set<string> | null)[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"(?:[ \t\r\n]*(:))?|[{}[\]]/g;
  for (const [token, colon] of text.matchAll(tokens)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)) as string;
      const keys = open.at(-1);
      if (keys?.has(key)) return `The body repeats the key ${JSON.stringify(key)}.`;
      keys?.add(key);
    }
  }
  return 'The body repeats a key.';
}

const FIELD_ERRORS_MAX = 100;

function refuseBadText(value: unknown): void {
  const errors: FieldError[] = [];
  collectBadText(value, '', errors);
  if (errors.length > 0) throw baseErrors.invalid_request({ errors });
}

function collectBadText(value: unknown, pointer: string, errors: FieldError[]): void {
  if (errors.length >= FIELD_ERRORS_MAX) return;
  if (typeof value === 'string') {
    if (isBadText(value)) errors.push(badCharacter({ pointer }));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    const child = `${pointer}/${escapePointer(key)}`;
    // An own key of this name would become a prototype as soon as somebody copies the object by assignment.
    if (key === '__proto__')
      errors.push({ pointer: child, code: 'unknown_field', detail: 'This field is not known.' });
    else if (isBadText(key)) errors.push(badCharacter({ pointer: child }));
    else collectBadText(item, child, errors);
  }
}

/** Postgres stores neither NUL nor halves of surrogate pairs. */
export function isBadText(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}

export function badCharacter(place: { pointer: string } | { parameter: string }): FieldError {
  return {
    ...place,
    code: 'invalid_character',
    detail: 'Must not contain NUL or broken Unicode characters.',
  };
}

export function escapePointer(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

import { isUtf8 } from 'node:buffer';
import { baseErrors, type FieldError } from './errors.ts';

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
  if (countMembers(value) !== shape.members) {
    throw baseErrors.invalid_json({
      detail: `The body repeats the key ${JSON.stringify(firstRepeatedKey(text))}.`,
    });
  }
  if (shape.suspicious) refuseBadText(value);
  return value;
}

function measure(body: Buffer): Shape {
  let members = 0;
  let depth = 0;
  let deepest = 0;
  let suspicious = false;
  const end = body.length;
  for (let i = 0; i < end; i++) {
    const byte = body[i];
    if (byte === QUOTE) {
      if (body[i + 1] === UNDERSCORE && body[i + 2] === UNDERSCORE) suspicious = true;
      i++;
      while (body[i] !== QUOTE) {
        if (body[i] === BACKSLASH) {
          i++;
          if (body[i] === LOWER_U) suspicious = true;
        }
        i++;
      }
    } else if (byte === COLON) members++;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
  }
  return { members, depth: deepest, suspicious };
}

function countMembers(value: object): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) count += countMembers(item);
    return count;
  }
  for (const key in value) {
    count++;
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === 'object' && item !== null) count += countMembers(item);
  }
  return count;
}

/** The slow look at a text that is known to be valid JSON with a repeated key, only to name that key. */
function firstRepeatedKey(text: string): string {
  const open: (Set<string> | null)[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"(?:[ \t\r\n]*(:))?|[{}[\]]/g;
  for (const [token, colon] of text.matchAll(tokens)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)) as string;
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return '';
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

import { isUtf8 } from 'node:buffer';
import {
  baseErrors,
  type FieldError,
  type JsonLimits,
  JsonRefused,
  measureJson,
  parseInSlices,
} from '@libs/runtime';
import { isLongKey, pointerTo, shownKey } from './pointer.ts';

/** Nothing that we accept nests deeper or has more values, and reading what stays within costs little time. */
export const JSON_LIMITS: JsonLimits = { valuesMax: 20_000, depthMax: 32 };

/**
 * Strict JSON: UTF-8 only, no repeated keys, no NUL and no lone surrogates in any string, bounded depth and number of
 * values.
 *
 * One pass over the bytes counts values and members before anything is parsed: a body of 15 MB of short keys would hold
 * the process for seconds. JSON.parse does the parsing. An object with a repeated key has fewer properties than the text
 * has members, so equal counts prove that there is none. NUL and lone surrogates can only come from a `\u` escape (raw
 * ones break JSON or UTF-8), so strings are looked at only when the text has one. Where a schema looks at the value next, it
 * names them beside all else that is wrong; otherwise they are refused here.
 */
export function parseJson(body: Buffer, { hasSchema = false } = {}): unknown {
  const { value, badText } = readJson(body);
  if (badText.length === 0) return value;
  if (!hasSchema || typeof value !== 'object' || value === null)
    throw baseErrors.invalid_request({ errors: badText });
  badTexts.set(value, badText);
  return value;
}

const badTexts = new WeakMap<object, readonly FieldError[]>();

/** What `parseJson` left to the schema: strings that cannot be stored, named there beside all else that is wrong. */
export function badTextIn(value: unknown): readonly FieldError[] {
  return (typeof value === 'object' && value !== null && badTexts.get(value)) || [];
}

export interface ReadJson {
  value: unknown;
  badText: FieldError[];
}

/** A body that is longer is read in slices, or reading it would hold up everything else. */
export const LARGE_JSON_BYTES = 256 * 1024;

/** The same, for callers that answer for strings that cannot be stored by themselves. */
export function readJson(body: Buffer, limits: JsonLimits = JSON_LIMITS): ReadJson {
  const shape = measureJson(body, limits);
  if ('exceeded' in shape) throw excessError(shape.exceeded, limits);
  if (!isUtf8(body)) throw baseErrors.invalid_json({ detail: NOT_UTF8 });
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw baseErrors.invalid_json();
  }
  // Without members there is nothing to repeat.
  if (shape.members > 0 && countMembers(value as object) !== shape.members) {
    throw baseErrors.invalid_json({ detail: describeRepeatedKey(text) });
  }
  const badText: FieldError[] = [];
  if (shape.suspicious) collectBadText(value, '', badText);
  return { value, badText };
}

/** The same again, for a body beyond LARGE_JSON_BYTES. */
export async function readLargeJson(body: Buffer, limits: JsonLimits = JSON_LIMITS): Promise<ReadJson> {
  try {
    const { value, suspicious } = await parseInSlices(body, limits);
    const badText: FieldError[] = [];
    if (suspicious) collectBadText(value, '', badText);
    return { value, badText };
  } catch (error) {
    if (error instanceof JsonRefused) throw refusalError(error, limits);
    throw error;
  }
}

function refusalError({ fault, key }: JsonRefused, limits: JsonLimits): Error {
  switch (fault) {
    case 'values':
    case 'depth':
      return excessError(fault, limits);
    case 'encoding':
      return baseErrors.invalid_json({ detail: NOT_UTF8 });
    case 'repeated_key':
      return baseErrors.invalid_json({ detail: repeatedKey(key) });
    case 'syntax':
      return baseErrors.invalid_json();
  }
}

const NOT_UTF8 = 'The body is not valid UTF-8.';
const NAMED_KEY_LENGTH_MAX = 256;

function repeatedKey(key: string | undefined): string {
  return key === undefined || key.length > NAMED_KEY_LENGTH_MAX
    ? 'The body repeats a key.'
    : `The body repeats the key ${JSON.stringify(key)}.`;
}

function excessError(exceeded: 'values' | 'depth', { valuesMax, depthMax }: JsonLimits): Error {
  return exceeded === 'values'
    ? baseErrors.body_too_large({ detail: `The body holds more than ${valuesMax} values.` })
    : baseErrors.invalid_json({ detail: `The body nests deeper than ${depthMax} levels.` });
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
  if (text.length > NAMED_KEY_BYTES_MAX) return repeatedKey(undefined);
  const open: (Set<string> | null)[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"(?:[ \t\r\n]*(:))?|[{}[\]]/g;
  for (const [token, colon] of text.matchAll(tokens)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)) as string;
      const keys = open.at(-1);
      if (keys?.has(key)) return repeatedKey(key);
      keys?.add(key);
    }
  }
  return repeatedKey(undefined);
}

/** Faults that one answer names. */
export const FIELD_ERRORS_MAX = 100;

function collectBadText(value: unknown, pointer: string, errors: FieldError[]): void {
  if (typeof value === 'string') {
    if (isBadText(value)) errors.push(badCharacter({ pointer }));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (errors.length >= FIELD_ERRORS_MAX) return;
    const child = pointerTo(pointer, key);
    // An own key of this name would become a prototype as soon as somebody copies the object by assignment.
    if (key === '__proto__')
      errors.push({ pointer: child, code: 'unknown_field', detail: 'This field is not known.' });
    else if (isBadText(key)) errors.push(badCharacter({ pointer: child }));
    else if (isLongKey(key)) errors.push(...firstBelow(item, child));
    else collectBadText(item, child, errors);
  }
}

/** Places below a key that is cut would all read alike: the first stands for them. */
function firstBelow(value: unknown, pointer: string): FieldError[] {
  const found: FieldError[] = [];
  collectBadText(value, pointer, found);
  return found.slice(0, 1).map((fault) => ({ ...fault, pointer }));
}

/** Postgres stores neither NUL nor halves of surrogate pairs. */
export function isBadText(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}

/** Refuses a form, or anything else that is names and texts, with a 400 that names the fields. */
export function refuseBadText(fields: Iterable<readonly [string, string]>): void {
  const bad = new Set(
    [...fields].filter(([name, text]) => isBadText(name) || isBadText(text)).map(([name]) => name),
  );
  if (bad.size === 0) return;
  const errors = [...bad]
    .slice(0, FIELD_ERRORS_MAX)
    .map((name) => badCharacter({ parameter: shownKey(name.toWellFormed()) }));
  throw baseErrors.bad_request({ detail: 'A field contains NUL or broken Unicode characters.', errors });
}

export function badCharacter(place: { pointer: string } | { parameter: string }): FieldError {
  return {
    ...place,
    code: 'invalid_character',
    detail: 'Must not contain NUL or broken Unicode characters.',
  };
}

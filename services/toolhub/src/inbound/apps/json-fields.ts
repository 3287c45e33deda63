import { PayloadError } from '../payload.ts';

export type JsonFields = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsIn(holder: JsonFields, name: string): JsonFields {
  const value = holder[name];
  return isJsonObject(value) ? value : {};
}

const KEY_CHARACTERS_MAX = 512;

/** Text that becomes part of a key: bounded, and nothing that Postgres does not store. */
export function keyText(holder: JsonFields, name: string): string {
  const text = optionalKeyText(holder, name);
  if (text === null) throw new PayloadError(`${name} is missing`);
  return text;
}

export function optionalKeyText(holder: JsonFields, name: string): string | null {
  const text = holder[name];
  if (typeof text !== 'string' || text === '') return null;
  if (text.length > KEY_CHARACTERS_MAX || text.includes('\0') || !text.isWellFormed())
    throw new PayloadError(`${name} is not text`);
  return text;
}

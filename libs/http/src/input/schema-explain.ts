import type { FieldError } from '@libs/runtime';
import Format from 'typebox/format';
import { FIELD_ERRORS_MAX } from './json-body.ts';
import { keysOf, pointerTo } from './pointer.ts';

/**
 * Says what is wrong with a value that its schema refused: every bad field, each by its own pointer. The compiled
 * validator only answers yes or no (fast); this walk runs for refused values alone. It covers the keywords that our
 * schemas use; a schema with others still refuses, with a plainer message (see validation.ts).
 */
export type JsonSchema = {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  patternProperties?: Record<string, JsonSchema>;
  additionalProperties?: boolean | JsonSchema;
  propertyNames?: JsonSchema;
  required?: string[];
  minProperties?: number;
  maxProperties?: number;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string | RegExp;
  /** What is said of a value that has not the pattern or format, whose own text says nothing to people. */
  'x-mismatch'?: string;
  /** The code of such a value, where a plain `invalid_format` says too little. */
  'x-mismatch-code'?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  default?: unknown;
};

export type SchemaError = { pointer: string; code: string; detail: string };

const VALUES_SHOWN_MAX = 20;

/** At most `max` of them; the parser bounds how large a value can be, so the walk is bounded, too. */
export function explain(schema: JsonSchema, value: unknown, max = FIELD_ERRORS_MAX): SchemaError[] {
  const errors: SchemaError[] = [];
  walk(schema, value, '', errors);
  return errors.length > max ? errors.slice(0, max) : errors;
}

function walk(schema: JsonSchema, value: unknown, pointer: string, errors: SchemaError[]): void {
  if (errors.length > FIELD_ERRORS_MAX) return;
  const before = errors.length;
  const choices = allowedValues(schema);
  if (choices !== undefined) {
    if (!choices.some((choice) => choice === value)) errors.push(notAllowed(choices, pointer));
    return;
  }
  walkUnion(schema.anyOf ?? schema.oneOf, value, pointer, errors);
  for (const part of schema.allOf ?? []) walk(part, value, pointer, errors);
  if (errors.length > before) return;
  if (schema.type !== undefined && !hasType(value, schema.type)) {
    errors.push({ pointer, code: 'wrong_type', detail: `Must be ${typeWords(schema.type)}.` });
    return;
  }
  if (typeof value === 'string') walkString(schema, value, pointer, errors);
  else if (typeof value === 'number') walkNumber(schema, value, pointer, errors);
  else if (Array.isArray(value)) walkArray(schema, value, pointer, errors);
  else if (isObject(value)) walkObject(schema, value, pointer, errors);
}

/** A fixed set of plain values, however it is written: `const`, `enum`, or a union of those. */
function allowedValues(schema: JsonSchema): unknown[] | undefined {
  if ('const' in schema) return isScalar(schema.const) ? [schema.const] : undefined;
  if (schema.enum !== undefined) return schema.enum.every(isScalar) ? schema.enum : undefined;
  const union = schema.anyOf ?? schema.oneOf;
  if (union === undefined) return undefined;
  const values: unknown[] = [];
  for (const branch of union) {
    const branchValues = branch.type === 'null' ? [null] : allowedValues(branch);
    if (branchValues === undefined) return undefined;
    values.push(...branchValues);
  }
  return values;
}

function notAllowed(choices: unknown[], pointer: string): SchemaError {
  const shown = choices
    .slice(0, VALUES_SHOWN_MAX)
    .map((choice) => JSON.stringify(choice))
    .join(', ');
  const more = choices.length > VALUES_SHOWN_MAX ? ', …' : '';
  const detail = choices.length === 1 ? `Must be ${shown}.` : `Must be one of ${shown}${more}.`;
  return { pointer, code: 'not_allowed', detail };
}

function walkUnion(
  branches: JsonSchema[] | undefined,
  value: unknown,
  pointer: string,
  errors: SchemaError[],
): void {
  if (branches === undefined) return;
  const sameType = branches.filter((branch) => branch.type === undefined || hasType(value, branch.type));
  if (sameType.length === 0) {
    const words = branches.map((branch) => typeWords(branch.type ?? 'object'));
    errors.push({ pointer, code: 'wrong_type', detail: `Must be ${[...new Set(words)].join(' or ')}.` });
    return;
  }
  const tag = isObject(value) ? unionTag(sameType) : undefined;
  if (tag !== undefined) {
    const tagged = sameType.filter((branch) => branch.properties?.[tag]?.const === (value as Fields)[tag]);
    if (tagged.length === 0) {
      const place = pointerTo(pointer, tag);
      if (!Object.hasOwn(value as Fields, tag)) errors.push(missing(place));
      else
        errors.push(
          notAllowed(
            sameType.map((branch) => branch.properties?.[tag]?.const),
            place,
          ),
        );
      errors.push(...sharedErrors(sameType, value, pointer).filter((error) => error.pointer !== place));
      return;
    }
    sameType.splice(0, sameType.length, ...tagged);
  }
  let best: SchemaError[] | undefined;
  for (const branch of sameType) {
    const found: SchemaError[] = [];
    walk(branch, value, pointer, found);
    if (best === undefined || found.length < best.length) best = found;
  }
  errors.push(...(best ?? []));
}

/** What is wrong whichever of the branches was meant. */
function sharedErrors(branches: readonly JsonSchema[], value: unknown, pointer: string): SchemaError[] {
  const [first = [], ...others] = branches.map((branch) => {
    const found: SchemaError[] = [];
    walk(branch, value, pointer, found);
    return found;
  });
  return first.filter(({ pointer: place, code }) =>
    others.every((found) => found.some((error) => error.pointer === place && error.code === code)),
  );
}

/** The property whose constant tells the branches of a union apart. */
function unionTag(branches: JsonSchema[]): string | undefined {
  for (const [name, property] of Object.entries(branches[0]?.properties ?? {})) {
    if ('const' in property && branches.every((branch) => 'const' in (branch.properties?.[name] ?? {})))
      return name;
  }
  return undefined;
}

function walkString(schema: JsonSchema, value: string, pointer: string, errors: SchemaError[]): void {
  if (schema.minLength !== undefined && !hasCharacters(value, schema.minLength)) {
    const detail =
      schema.minLength === 1 ? 'Must not be empty.' : `Must have at least ${schema.minLength} characters.`;
    errors.push({ pointer, code: 'too_short', detail });
  } else if (schema.maxLength !== undefined && hasCharacters(value, schema.maxLength + 1)) {
    errors.push({ pointer, code: 'too_long', detail: `Must have at most ${schema.maxLength} characters.` });
  } else if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
    errors.push({ pointer, code: schema['x-mismatch-code'] ?? 'invalid_format', detail: mismatch(schema) });
  } else if (schema.format !== undefined && Format.Has(schema.format) && !Format.Test(schema.format, value)) {
    errors.push({ pointer, code: schema['x-mismatch-code'] ?? 'invalid_format', detail: mismatch(schema) });
  }
}

/** Whether a text has so many characters, counted where its length leaves it open: it may have megabytes. */
function hasCharacters(text: string, least: number): boolean {
  if (text.length < least || text.length >= 2 * least) return text.length >= least;
  let characters = 0;
  for (let at = 0; at < text.length && characters < least; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)
    characters += 1;
  return characters >= least;
}

const NOT_BLANK = '\\S';

function mismatch({ pattern, format, 'x-mismatch': words }: JsonSchema): string {
  if (words !== undefined) return words;
  if (pattern === undefined) return `Must be a valid ${format}.`;
  return pattern === NOT_BLANK ? 'Must not be blank.' : `Must match ${String(pattern)}.`;
}

function walkNumber(schema: JsonSchema, value: number, pointer: string, errors: SchemaError[]): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (minimum !== undefined && value < minimum) {
    errors.push({ pointer, code: 'too_small', detail: `Must be at least ${minimum}.` });
  } else if (maximum !== undefined && value > maximum) {
    errors.push({ pointer, code: 'too_large', detail: `Must be at most ${maximum}.` });
  } else if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
    errors.push({ pointer, code: 'too_small', detail: `Must be more than ${exclusiveMinimum}.` });
  } else if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) {
    errors.push({ pointer, code: 'too_large', detail: `Must be less than ${exclusiveMaximum}.` });
  } else if (multipleOf !== undefined && value % multipleOf !== 0) {
    errors.push({ pointer, code: 'not_allowed', detail: `Must be a multiple of ${multipleOf}.` });
  }
}

function walkArray(schema: JsonSchema, value: unknown[], pointer: string, errors: SchemaError[]): void {
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    errors.push({ pointer, code: 'too_few_items', detail: `Must have at least ${schema.minItems} items.` });
  }
  const fits = schema.maxItems === undefined || value.length <= schema.maxItems;
  if (!fits) {
    errors.push({ pointer, code: 'too_many_items', detail: `Must have at most ${schema.maxItems} items.` });
  }
  const before = errors.length;
  const { items } = schema;
  if (items !== undefined)
    for (const [index, item] of value.entries()) walk(items, item, pointerTo(pointer, index), errors);
  // Only items that fit are known to be short, and to be compared at little cost: of very long texts a set hashes the length.
  if (schema.uniqueItems && fits && errors.length === before && repeats(value))
    errors.push({ pointer, code: 'repeated_item', detail: 'Must not repeat an item.' });
}

function repeats(items: unknown[]): boolean {
  return new Set(items.map((item) => JSON.stringify(item))).size < items.length;
}

type Fields = Record<string, unknown>;

function walkObject(schema: JsonSchema, value: Fields, pointer: string, errors: SchemaError[]): void {
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) errors.push(missing(pointerTo(pointer, name)));
  }
  const names = Object.keys(value);
  if (schema.minProperties !== undefined && names.length < schema.minProperties) {
    errors.push({
      pointer,
      code: 'too_few_fields',
      detail: `Must have at least ${schema.minProperties} fields.`,
    });
  }
  if (schema.maxProperties !== undefined && names.length > schema.maxProperties) {
    errors.push({
      pointer,
      code: 'too_many_fields',
      detail: `Must have at most ${schema.maxProperties} fields.`,
    });
  }
  for (const name of names) {
    if (errors.length > FIELD_ERRORS_MAX) return;
    const place = pointerTo(pointer, name);
    if (schema.propertyNames !== undefined) walkName(schema.propertyNames, name, place, errors);
    walkProperty(schema, { name, item: value[name], place }, errors);
  }
}

function walkName(schema: JsonSchema, name: string, place: string, errors: SchemaError[]): void {
  const found: SchemaError[] = [];
  walk(schema, name, place, found);
  for (const error of found)
    errors.push({ ...error, code: 'invalid_key', detail: `The name: ${error.detail}` });
}

function walkProperty(
  schema: JsonSchema,
  property: { name: string; item: unknown; place: string },
  errors: SchemaError[],
): void {
  const { name, item, place } = property;
  const known = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
  if (known) walk(schema.properties?.[name] as JsonSchema, item, place, errors);
  let matched = known;
  for (const [pattern, patternSchema] of Object.entries(schema.patternProperties ?? {})) {
    if (!new RegExp(pattern, 'u').test(name)) continue;
    matched = true;
    walk(patternSchema, item, place, errors);
  }
  if (matched || schema.additionalProperties === undefined || schema.additionalProperties === true) return;
  if (schema.additionalProperties === false) {
    errors.push({ pointer: place, code: 'unknown_field', detail: 'This field is not known.' });
  } else {
    walk(schema.additionalProperties, item, place, errors);
  }
}

function missing(pointer: string): SchemaError {
  return { pointer, code: 'required', detail: 'This field is required.' };
}

function hasType(value: unknown, type: string | string[]): boolean {
  if (Array.isArray(type)) return type.some((one) => hasType(value, one));
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

const wordsByType: Record<string, string> = {
  integer: 'an integer',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

function typeWords(type: string | string[]): string {
  if (Array.isArray(type)) return type.map(typeWords).join(' or ');
  return wordsByType[type] ?? `a ${type}`;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

/** The same errors for the query or the headers: there, a field is a parameter and has a name, not a pointer. */
export function asParameters(errors: SchemaError[]): FieldError[] {
  return errors.map(({ pointer, code, detail }) => {
    const [parameter = ''] = keysOf(pointer);
    if (code === 'unknown_field')
      return { parameter, code: 'unknown_parameter', detail: 'This parameter is not known.' };
    if (code === 'required') return { parameter, code, detail: 'This parameter is required.' };
    return { parameter, code, detail };
  });
}

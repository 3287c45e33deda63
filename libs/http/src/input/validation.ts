import { type AppError, baseErrors, type FieldError } from '@libs/runtime';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Check } from 'typebox/value';
import { defineFormats } from './formats.ts';
import { badCharacter, badTextIn, FIELD_ERRORS_MAX, isBadText } from './json-body.ts';
import { cutPointer, shownKey } from './pointer.ts';
import { asParameters, explain, type JsonSchema, type SchemaError } from './schema-explain.ts';

defineFormats();

type Fields = Record<string, unknown>;
type Verdict = true | { value: unknown } | { error: AppError };
export type Validate = (value: unknown) => Verdict;

type Compiled = { check: (value: unknown) => boolean; errorsOf: (value: unknown) => SchemaError[] };

const validators = new WeakMap<TSchema, Validator>();

/** One for each schema of a process, however many operations and apps share it. */
function validatorOf(schema: TSchema): Validator {
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = Compile(schema);
    validators.set(schema, validator);
  }
  return validator;
}

/** The validator is made when the first value is checked, so that a start makes none that it does not need. */
function compile(schema: TSchema): Compiled {
  let validator: Validator | undefined;
  return {
    check(value) {
      validator ??= validatorOf(schema);
      return validator.Check(value);
    },
    errorsOf(value) {
      const found = explain(schema as JsonSchema, value);
      if (found.length > 0) return found;
      // A keyword that the walk does not know refused the value.
      return validatorOf(schema)
        .Errors(value)
        .slice(0, FIELD_ERRORS_MAX)
        .map((error) => ({
          pointer: cutPointer(error.instancePath),
          code: 'invalid',
          detail: `The value ${error.message}.`,
        }));
    },
  };
}

/** Bodies are taken as they are (no coercion); query, path and header values are strings that the schema types. */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  switch (httpPart) {
    case 'body':
      return bodyValidator(schema);
    case 'querystring':
      return textValidator(schema, (errors) => baseErrors.invalid_query({ errors: asParameters(errors) }));
    case 'params':
      // A path that no resource can have is a resource that does not exist.
      return textValidator(schema, () => baseErrors.not_found());
    default:
      return textValidator(schema, (errors) => baseErrors.invalid_header({ errors: asParameters(errors) }));
  }
};

export function bodyValidator(schema: TSchema): Validate {
  const { check, errorsOf } = compile(schema);
  const fill = defaultsOf(schema as JsonSchema);
  return (value) => {
    fill?.(value);
    const badText = badTextIn(value);
    if (badText.length === 0 && check(value)) return true;
    return { error: baseErrors.invalid_request({ errors: together(badText, errorsOf(value)) }) };
  };
}

/** One for each place: that a text cannot be stored says enough of it. */
function together(badText: readonly FieldError[], others: readonly SchemaError[]): FieldError[] {
  const told = new Set(badText.map(({ pointer }) => pointer));
  return [...badText, ...others.filter(({ pointer }) => !told.has(pointer))].slice(0, FIELD_ERRORS_MAX);
}

/** Whether the endpoint can do without a body: when an empty object would do. */
export function takesEmptyBody(schema: TSchema): boolean {
  return Check(schema, {});
}

function textValidator(schema: TSchema, toError: (errors: SchemaError[]) => AppError): Validate {
  const { check, errorsOf } = compile(schema);
  const coerce = coercionOf(schema as JsonSchema);
  const fill = defaultsOf(schema as JsonSchema);
  // Headers are many and mostly plain strings: where nothing in them changes, they are not copied.
  if (coerce === undefined && fill === undefined) {
    return (raw) => check(raw) || { error: toError(errorsOf(raw)) };
  }
  return (raw) => {
    const value = { ...(raw as Fields) };
    coerce?.(value);
    fill?.(value);
    return check(value) ? { value } : { error: toError(errorsOf(value)) };
  };
}

/** Fills in `default`s of object properties, nested ones too; undefined where the schema has none. */
function defaultsOf(schema: JsonSchema): ((value: unknown) => void) | undefined {
  const fills: ((fields: Fields) => void)[] = [];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default !== undefined) {
      const text = JSON.stringify(property.default);
      fills.push((fields) => {
        if (fields[name] === undefined) fields[name] = JSON.parse(text);
      });
    }
    const inner = defaultsOf(property);
    if (inner !== undefined) fills.push((fields) => inner(fields[name]));
  }
  if (fills.length === 0) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const fill of fills) fill(value as Fields);
  };
}

type Coerce = (value: unknown) => unknown;

function coercionOf(schema: JsonSchema): ((fields: Fields) => void) | undefined {
  const known = Object.entries(schema.properties ?? {})
    .map(([name, property]) => [name, valueCoercion(property)] as const)
    .filter((entry): entry is readonly [string, Coerce] => entry[1] !== undefined);
  if (known.length === 0) return undefined;
  return (fields) => {
    for (const [name, coerce] of known) if (fields[name] !== undefined) fields[name] = coerce(fields[name]);
  };
}

const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** What is not plainly a number or a boolean stays a string, and the check refuses it by its type. */
function valueCoercion(schema: JsonSchema): Coerce | undefined {
  switch (schema.type) {
    case 'integer':
      return (value) => (typeof value === 'string' && INTEGER.test(value) ? Number(value) : value);
    case 'number':
      return (value) => (typeof value === 'string' && NUMBER.test(value) ? Number(value) : value);
    case 'boolean':
      return (value) => (value === 'true' ? true : value === 'false' ? false : value);
    case 'array': {
      const item = schema.items === undefined ? undefined : valueCoercion(schema.items);
      return (value) => {
        const list = Array.isArray(value) ? value : [value];
        return item === undefined ? list : list.map(item);
      };
    }
    default:
      return undefined;
  }
}

/** The address as sent: every percent-encoding must decode, and no parameter may hold a NUL. Run only when it has a %. */
export function checkEncoding(url: string, query: Fields): void {
  if (!isWellEncoded(url))
    throw baseErrors.bad_request({ detail: 'The address contains a malformed percent-encoding.' });
  if (!url.includes('%00')) return;
  const queryStart = url.indexOf('?');
  if (queryStart === -1 || url.lastIndexOf('%00', queryStart) !== -1) throw baseErrors.not_found();
  const bad = Object.entries(query).filter(
    ([name, value]) => isBadText(name) || [value].flat().some(hasBadText),
  );
  throw baseErrors.invalid_query({
    errors: bad.map(([parameter]) => badCharacter({ parameter: shownKey(parameter) })),
  });
}

export function isWellEncoded(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

function hasBadText(value: unknown): boolean {
  return typeof value === 'string' && isBadText(value);
}

import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ObjectSchema } from './tool.ts';

export interface ArgumentFault {
  pointer: string;
  code: string;
  detail: string;
}

export type CheckedArguments =
  | { kind: 'valid'; values: Record<string, unknown> }
  | { kind: 'invalid'; faults: ArgumentFault[] };

export type CheckArguments = (values: Record<string, unknown>) => CheckedArguments;

const FAULTS_MAX = 20;
/** Explaining walks the whole value; a list longer than this is cut before, so that a huge one costs little. */
const ITEMS_EXPLAINED_MAX = 1_000;

/** Compiled once per schema; a value that fits costs one pass, one that does not is explained by pointers. */
export function compileArguments(schema: ObjectSchema): CheckArguments {
  const validator = Compile(schema as unknown as TSchema);
  const defaults = Object.entries(schema.properties).flatMap(([name, property]) =>
    property.default === undefined ? [] : [[name, property.default] as const],
  );
  return (values) => {
    if (!validator.Check(values)) {
      const faults = explain(validator.Errors(cutLists(values)) as SchemaError[]);
      return { kind: 'invalid', faults: faults.length > 0 ? faults : [UNEXPLAINED] };
    }
    const complete = { ...values };
    for (const [name, value] of defaults)
      if (complete[name] === undefined) complete[name] = structuredClone(value);
    return { kind: 'valid', values: complete };
  };
}

const UNEXPLAINED: ArgumentFault = {
  pointer: '',
  code: 'invalid',
  detail: 'Does not fit the schema of this tool.',
};

interface SchemaError {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message: string;
}

const codeByKeyword: Record<string, string> = {
  type: 'wrong_type',
  required: 'required',
  additionalProperties: 'unknown_field',
  const: 'not_allowed',
  enum: 'not_allowed',
  anyOf: 'not_allowed',
  oneOf: 'not_allowed',
  minLength: 'too_short',
  maxLength: 'too_long',
  minItems: 'too_few_items',
  maxItems: 'too_many_items',
  minimum: 'too_small',
  maximum: 'too_large',
  pattern: 'invalid_format',
  format: 'invalid_format',
};

/** One fault for each place: where several schemas were tried, their complaints are joined. */
function explain(errors: readonly SchemaError[]): ArgumentFault[] {
  const byPointer = new Map<string, { code: string; details: Set<string> }>();
  for (const error of errors) {
    for (const { pointer, detail } of placesOf(error)) {
      const known = byPointer.get(pointer);
      if (known !== undefined) known.details.add(detail);
      else if (byPointer.size < FAULTS_MAX)
        byPointer.set(pointer, {
          code: codeByKeyword[error.keyword] ?? 'invalid',
          details: new Set([detail]),
        });
    }
  }
  return [...byPointer].map(([pointer, { code, details }]) => ({
    pointer,
    code,
    detail: `${[...details].join(' or ')}.`,
  }));
}

function placesOf({
  keyword,
  instancePath,
  params,
  message,
}: SchemaError): { pointer: string; detail: string }[] {
  const children = (names: unknown, detail: string) =>
    (names as string[]).map((name) => ({
      pointer: `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      detail,
    }));
  switch (keyword) {
    case 'required':
      return children(params.requiredProperties, 'is required');
    case 'additionalProperties':
      return children(params.additionalProperties, 'is not known');
    case 'const':
      return [{ pointer: instancePath, detail: `must be ${JSON.stringify(params.allowedValue)}` }];
    case 'enum':
      return [{ pointer: instancePath, detail: `must be one of ${JSON.stringify(params.allowedValues)}` }];
    // These only repeat what the errors beside them say.
    case 'boolean':
    case 'anyOf':
    case 'oneOf':
      return [];
    default:
      return [{ pointer: instancePath, detail: message }];
  }
}

/** The JSON parser bounds the depth, so this recursion is bounded, too. */
function cutLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, ITEMS_EXPLAINED_MAX).map(cutLists);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, ITEMS_EXPLAINED_MAX)
      .map(([name, item]) => [name, cutLists(item)]),
  );
}

import { AppError, type FieldError } from '@libs/runtime';
import { errors } from '../errors.ts';
import { METADATA_LIMITS } from './schemas.ts';

/** The last bracket ends the name: names may hold brackets of their own. */
const METADATA_PARAMETER = /^metadata\[(.*)\]$/su;
const METADATA_FILTERS_MAX = 10;

type Query = Record<string, unknown>;

/**
 * Takes the `metadata[key]` parameters out of the query; null where there are none. What the schema says of the rest
 * comes with the refusal, so that every bad parameter is named at once.
 */
export function takeMetadata(
  query: Query,
  validateRest: (rest: Query) => unknown,
): Record<string, string> | null {
  const pairs: [string, string][] = [];
  const bad: FieldError[] = [];
  for (const [parameter, value] of Object.entries(query)) {
    const key = METADATA_PARAMETER.exec(parameter)?.[1];
    if (key === undefined) continue;
    delete query[parameter];
    const detail = faultOf(key, value);
    if (detail === null) pairs.push([key, value as string]);
    else bad.push({ parameter, code: 'invalid', detail });
  }
  if (pairs.length > METADATA_FILTERS_MAX) {
    bad.push({ parameter: 'metadata', code: 'invalid', detail: `At most ${METADATA_FILTERS_MAX} pairs.` });
  }
  if (bad.length > 0) throw errors.invalid_query({ errors: [...bad, ...detailsOf(validateRest(query))] });
  return pairs.length === 0 ? null : Object.fromEntries(pairs);
}

/** Counts characters as the schema of a payment does. */
function faultOf(key: string, value: unknown): string | null {
  if (key === '' || [...key].length > METADATA_LIMITS.keyLengthMax) return 'The key has 1 to 40 characters.';
  if (typeof value !== 'string') return 'May be given once.';
  if ([...value].length > METADATA_LIMITS.valueLengthMax) return 'The value has at most 500 characters.';
  return null;
}

function detailsOf(result: unknown): FieldError[] {
  const { error } = (typeof result === 'object' && result !== null ? result : {}) as { error?: unknown };
  return error instanceof AppError ? (error.details ?? []) : [];
}

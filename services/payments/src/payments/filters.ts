import { errors } from '../errors.ts';
import { METADATA_LIMITS } from './schemas.ts';

const METADATA_PARAMETER = /^metadata\[([^\]]*)\]$/;
const METADATA_FILTERS_MAX = 10;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

function refuse(parameter: string, detail: string): Error {
  return errors.invalid_query({ errors: [{ parameter, code: 'invalid', detail }] });
}

/** A moment of a query; text without a zone is UTC. */
export function parseTime(parameter: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const zoned = /[Zz]$|[+-]\d{2}:?\d{2}$/.test(text.slice(10)) || text.length === 10 ? text : `${text}Z`;
  const time = new Date(zoned);
  if (!ISO_TIME.test(text) || Number.isNaN(time.getTime()))
    throw refuse(parameter, 'Must be an ISO 8601 time.');
  return time;
}

/** Takes the `metadata[key]` parameters out of the query; null where there are none. */
export function parseMetadataFilter(query: Record<string, unknown>): Record<string, string> | null {
  const pairs: [string, string][] = [];
  for (const [parameter, value] of Object.entries(query)) {
    const key = METADATA_PARAMETER.exec(parameter)?.[1];
    if (key === undefined) continue;
    delete query[parameter];
    if (key === '' || key.length > METADATA_LIMITS.keyLengthMax)
      throw refuse(parameter, 'The key has 1 to 40 characters.');
    if (typeof value !== 'string') throw refuse(parameter, 'May be given once.');
    if (value.length > METADATA_LIMITS.valueLengthMax)
      throw refuse(parameter, 'The value has at most 500 characters.');
    pairs.push([key, value]);
  }
  if (pairs.length > METADATA_FILTERS_MAX) throw refuse('metadata', `At most ${METADATA_FILTERS_MAX} pairs.`);
  return pairs.length === 0 ? null : Object.fromEntries(pairs);
}

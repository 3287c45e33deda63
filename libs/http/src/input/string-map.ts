import Type, { type TUnsafe } from 'typebox';

/**
 * A map of strings, such as `metadata`. Not `Type.Record`: its key pattern `^.*$` lets a name with a line break
 * through, and the value under such a name would not be checked at all.
 */
export function stringMap(options: {
  pairsMax: number;
  keyLengthMax: number;
  valueLengthMax: number;
  description?: string;
}): TUnsafe<Record<string, string>> {
  return Type.Unsafe<Record<string, string>>({
    type: 'object',
    ...(options.description === undefined ? {} : { description: options.description }),
    maxProperties: options.pairsMax,
    propertyNames: { type: 'string', minLength: 1, maxLength: options.keyLengthMax },
    additionalProperties: { type: 'string', maxLength: options.valueLengthMax },
  });
}

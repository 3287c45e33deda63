import { AppError, type FieldError } from '@libs/runtime';
import type { FastifyRequest } from 'fastify';
import { errors } from './errors.ts';

/** What a caller sent where the schema refused some of it: any of the other fields may be anything, too. */
export type Unchecked = Readonly<Record<string, unknown>>;

export const NO_FIELDS: readonly FieldError[] = [];

type FieldsOf = (sent: Unchecked) => readonly FieldError[] | Promise<readonly FieldError[]>;
type ErrorHandler = (error: Error, request: FastifyRequest) => Promise<never>;

/**
 * For a route whose work refuses what its schema lets through: all of it is named at once. The handler of the app answers what
 * this one throws.
 */
export function nameMoreFields(fieldsOf: FieldsOf): ErrorHandler {
  return async (error, { body }) => {
    throw await withMore(error, 'invalid_request', { sent: body, fieldsOf });
  };
}

/** The same for the query. */
export function nameMoreParameters(parametersOf: FieldsOf): ErrorHandler {
  return async (error, { query }) => {
    throw await withMore(error, 'invalid_query', { sent: query, fieldsOf: parametersOf });
  };
}

async function withMore(
  error: Error,
  code: 'invalid_request' | 'invalid_query',
  { sent, fieldsOf }: { sent: unknown; fieldsOf: FieldsOf },
): Promise<Error> {
  if (!(error instanceof AppError) || error.code !== code || !isUnchecked(sent)) return error;
  const named = error.details ?? [];
  const more = (await fieldsOf(sent)).filter(
    (field) => !named.some((one) => placeOf(one) === placeOf(field)),
  );
  return more.length === 0 ? error : errors[code]({ errors: [...named, ...more] });
}

function isUnchecked(sent: unknown): sent is Unchecked {
  return typeof sent === 'object' && sent !== null && !Array.isArray(sent);
}

function placeOf({ pointer, parameter }: FieldError): string | undefined {
  return pointer ?? parameter;
}

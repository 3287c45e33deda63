import { type AppError, baseErrors } from '@libs/runtime';
import Type from 'typebox';

/** A day in the query of an address, such as `from=2026-11-01`. */
export const queryDay = (description = 'A UTC date.') =>
  Type.Optional(Type.String({ format: 'date', description }));

export function badDay(parameter: string, detail: string): AppError {
  return baseErrors.invalid_query({ errors: [{ parameter, code: 'invalid_format', detail }] });
}

import { type AppError, baseErrors } from '@libs/runtime';
import Type from 'typebox';

/** A day in the query of an address, such as `from=2026-11-01`. */
export const queryDay = (description = 'A UTC date.') =>
  Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description }));

/** 2026-02-30 has the right form and is no day; the database knows no year 0. */
export function readDay(parameter: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const moment = new Date(`${text}T00:00:00Z`);
  const isDay = !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text);
  if (!isDay || text.startsWith('0000')) throw badDay(parameter, 'Must be a date.');
  return text;
}

export function badDay(parameter: string, detail: string): AppError {
  return baseErrors.invalid_query({ errors: [{ parameter, code: 'invalid_format', detail }] });
}

import { MessageFieldError } from './errors.ts';
import { isDate, isDateTime } from './network-time.ts';

/** What the builders demand of their callers, so that a message that leaves is always valid. */
export const ROUTING_NUMBER = /^\d{9}$/;
export const REFERENCE = /^[!-~]{1,35}$/;
export const ACCOUNT_NUMBER = /^[!-~]{1,34}$/;
export const UETR = /^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/;
export const REASON_CODE = /^[A-Z0-9]{1,4}$/;

export function requireMatch(field: string, value: string, pattern: RegExp): void {
  if (!pattern.test(value)) throw new MessageFieldError(field, `of the form ${pattern.source}`);
}

export function requireDate(field: string, value: string): void {
  if (!isDate(value)) throw new MessageFieldError(field, 'a calendar date YYYY-MM-DD');
}

export function requireDateTime(field: string, value: string): void {
  if (!isDateTime(value)) throw new MessageFieldError(field, 'a date and time YYYY-MM-DDThh:mm:ss');
}

/** Dollars with exactly two decimals, by moving digits: no fraction is ever computed. */
export function formatCents(field: string, cents: number): string {
  if (!Number.isSafeInteger(cents) || cents < 1)
    throw new MessageFieldError(field, 'a whole number of cents from 1');
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

import { RtpFieldError } from '../errors.ts';
import { isDate, isDateTime } from '../network-time.ts';

/** What the builders demand of their callers, so that a message that leaves is always valid. */
export const ROUTING_NUMBER = /^\d{9}$/;
export const MESSAGE_ID = identifier('M', 15);
export const BUSINESS_MESSAGE_ID = identifier('B', 15);
export const INSTRUCTION_ID = identifier('', 16);
export const REFERENCE = /^[!-~]{1,35}$/;
export const ACCOUNT_NUMBER = /^[!-~]{1,34}$/;
export const UETR = /^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$/;
export const REASON_CODE = /^[A-Z0-9]{1,4}$/;

/** Letter, date and participant, as the schemas have them; the rest is the sender's. */
function identifier(letter: string, restLengthMax: number): RegExp {
  const longMonth = '(?:0[13578]|1[02])(?:0[1-9]|[12]\\d|3[01])';
  const shortMonth = '(?:0[469]|11)(?:0[1-9]|[12]\\d|30)';
  const february = '02(?:0[1-9]|[12]\\d)';
  const date = `\\d{4}(?:${longMonth}|${shortMonth}|${february})`;
  return new RegExp(`^${letter}${date}[A-Z0-9]{11}[!-~]{0,${restLengthMax}}$`);
}

export function requireMatch(field: string, value: string, pattern: RegExp): void {
  if (!pattern.test(value)) throw new RtpFieldError(field, `of the form ${pattern.source}`);
}

export function requireDate(field: string, value: string): void {
  if (!isDate(value)) throw new RtpFieldError(field, 'a calendar date YYYY-MM-DD');
}

export function requireDateTime(field: string, value: string): void {
  if (!isDateTime(value)) throw new RtpFieldError(field, 'a date and time YYYY-MM-DDThh:mm:ss');
}

/** Dollars with exactly two decimals, by moving digits: no fraction is ever computed. */
export function formatCents(field: string, cents: number): string {
  if (!Number.isSafeInteger(cents) || cents < 1)
    throw new RtpFieldError(field, 'a whole number of cents from 1');
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

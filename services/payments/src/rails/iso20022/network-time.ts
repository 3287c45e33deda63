import { newYorkOffsetMs } from '../../clock/new-york.ts';
import { MessageFieldError } from './errors.ts';

/**
 * The network writes every time as the wall clock of New York, in whole seconds and without an offset.
 * Messages therefore carry these texts as they are: a status request has to repeat the creation time of
 * the original to the letter, which a round trip through an instant would not keep in the hour that the
 * clock passes twice in November.
 */
export type NetworkDateTime = string;
export type NetworkDate = string;

const HOUR_MS = 3_600_000;
const INSTANT_MS_MIN = 0;
const INSTANT_MS_MAX = Date.UTC(9999, 11, 31);

/** The last one that was written: all messages of a batch are written at one time. */
let lastWritten = { instantMs: Number.NaN, text: '' };

export function networkDateTime(instant: Date): NetworkDateTime {
  const instantMs = instant.getTime();
  if (instantMs === lastWritten.instantMs) return lastWritten.text;
  if (!(instantMs >= INSTANT_MS_MIN && instantMs < INSTANT_MS_MAX)) {
    throw new MessageFieldError('instant', 'a date from 1970 to 9999');
  }
  const text = new Date(instantMs + newYorkOffsetMs(instantMs)).toISOString().slice(0, 19);
  lastWritten = { instantMs, text };
  return text;
}

export function networkDate(instant: Date): NetworkDate {
  return networkDateTime(instant).slice(0, 10);
}

/**
 * The instant that a time in a message names. A time with its own offset is taken at its word. In the hour
 * that New York passes twice the earlier one is meant; a time in the hour it skips is read with the offset
 * of the winter, as clocks that were not put forward show it.
 */
export function instantOf(time: NetworkDateTime): Date {
  if (!isDateTime(time)) throw new MessageFieldError('time', 'an ISO 8601 date and time');
  if (/(?:Z|[+-]\d\d:\d\d)$/.test(time)) return new Date(time);
  const asIfUtcMs = Date.parse(`${time}Z`);
  const summer = asIfUtcMs + 4 * HOUR_MS;
  if (summer + newYorkOffsetMs(summer) === asIfUtcMs) return new Date(summer);
  return new Date(asIfUtcMs + 5 * HOUR_MS);
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const DATE_TIME =
  /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?$/;

export function isDate(text: string): boolean {
  const parts = DATE.exec(text);
  if (parts === null) return false;
  const year = Number(parts[1]);
  const month = Number(parts[2]);
  const day = Number(parts[3]);
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

/** The last time that was found right, for the same reason. */
let lastRight = '';

export function isDateTime(text: string): boolean {
  if (text === lastRight) return true;
  const isRight = DATE_TIME.test(text) && isDate(text.slice(0, 10));
  if (isRight) lastRight = text;
  return isRight;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

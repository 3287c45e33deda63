import Type, { type TStringOptions } from 'typebox';
import Format from 'typebox/format';

const MOMENT_FORMAT = 'iso-8601-time';
const MOMENT_LENGTH_MAX = 40;
/** The last one that text with four digits of a year can say. */
export const LAST_MOMENT = new Date('9999-12-31T23:59:59.999Z');
const ISO_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** Makes the calendar a part of the schema, so that a day that never was is named together with every other bad field. */
Format.Set(MOMENT_FORMAT, (text) => findMoment(text) !== null);

/** A moment that a caller names: ISO 8601, a day or a time of one; without a zone it is UTC. */
export function momentText(options: TStringOptions = {}) {
  return Type.String({ ...options, format: MOMENT_FORMAT, maxLength: MOMENT_LENGTH_MAX });
}

/** Of text that its schema let through. */
export function parseMoment(text: string): Date {
  const moment = findMoment(text);
  if (moment === null) throw new Error('The schema let a moment through that is none.');
  return moment;
}

const FINER_THAN_MS = /\.\d{3}\d*[1-9]/;

/**
 * Where a span of times begins or ends, both being kept by the millisecond: the first one that is not before what the text says.
 * Programs write microseconds, and what was made earlier within the same millisecond is before them.
 */
export function parseBorder(text: string): Date {
  const moment = parseMoment(text);
  if (!FINER_THAN_MS.test(text)) return moment;
  return new Date(Math.min(moment.getTime() + 1, LAST_MOMENT.getTime()));
}

/** Of any text; null where it is none. */
export function findMoment(text: string): Date | null {
  const match = ISO_TIME.exec(text);
  if (match === null) return null;
  const [, year, month, day, zone] = match;
  if (!isDay(Number(year), Number(month), Number(day))) return null;
  const isZoned = zone !== undefined || text.length === '2026-11-16'.length;
  const moment = new Date(isZoned ? text : `${text}Z`);
  // The database has no year 0, and writes years of five digits in another way: a zone can lead to either.
  return moment.getUTCFullYear() >= 1 && moment <= LAST_MOMENT ? moment : null;
}

/** JavaScript takes 30 February for 2 March. */
function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

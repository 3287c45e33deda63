import Type, { type TStringOptions } from 'typebox';
import Format from 'typebox/format';

const DURATION_FORMAT = 'iso-8601-duration';
const DURATION_LENGTH_MAX = 40;
const DURATION =
  /^P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?=\d)(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$/;
/** Only the smallest part may have a fraction. */
const FRACTION_LAST = /^[^.]*(?:\d\.\d+[WDHMS])?$/;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** The last one that a Date can hold. */
const LAST_MOMENT_MS = 8.64e15;

/** Makes it a part of the schema, so that text which is none is named together with every other bad field. */
Format.Set(DURATION_FORMAT, (text) => addDuration(new Date(0), text) !== null);

/** A duration that a caller names. */
export function durationText(options: TStringOptions = {}) {
  return Type.String({
    ...options,
    format: DURATION_FORMAT,
    maxLength: DURATION_LENGTH_MAX,
    'x-mismatch': 'Must be an ISO 8601 duration such as P3D.',
  });
}

/**
 * Adds an ISO 8601 duration (`P3D`, `PT1.5H`, `P1M`) to a moment, by the calendar in UTC; null where it is none. What leads beyond
 * all that can be reckoned ends at the last moment.
 */
export function addDuration(at: Date, duration: string): Date | null {
  const text = duration.replace(',', '.');
  const match = FRACTION_LAST.test(text) ? DURATION.exec(text) : null;
  if (!match) return null;
  const [years = 0, months = 0, ...rest] = match.slice(1).map((part) => Number(part ?? 0));
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = rest;
  const restMs =
    weeks * WEEK_MS + days * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS;
  const result = new Date(addMonths(at, years * 12 + months).getTime() + Math.round(restMs));
  return Number.isNaN(result.getTime()) ? new Date(LAST_MOMENT_MS) : result;
}

/** A month after 31 January is the last day of February. */
function addMonths(at: Date, months: number): Date {
  if (months === 0) return at;
  const moved = new Date(at);
  moved.setUTCDate(1);
  moved.setUTCMonth(moved.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate();
  moved.setUTCDate(Math.min(at.getUTCDate(), lastDay));
  return moved;
}

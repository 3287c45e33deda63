/** The clock of New York, by which banks and networks count days and hours. */

/** YYYY-MM-DD, a day without a time of day. Such days compare as text. */
export type CivilDate = string;

/** HH:MM on the clocks of New York. */
export type WallTime = string;

export const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const NEW_YORK = 'America/New_York';
const HOURS_KEPT_MAX = 4_096;

/** Days since 1970. */
export function dayNumber(date: CivilDate): number {
  const at = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(at)) throw new RangeError(`"${date}" is not a YYYY-MM-DD date.`);
  return at / DAY_MS;
}

export function fromDayNumber(day: number): CivilDate {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

export function addDays(date: CivilDate, days: number): CivilDate {
  return fromDayNumber(dayNumber(date) + days);
}

const newYorkFormat = new Intl.DateTimeFormat('en-US', {
  timeZone: NEW_YORK,
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
});

// Offsets change at whole hours of UTC, so one look-up serves an hour. Intl costs microseconds, and a payment asks
// for several windows.
const offsetByHour = new Map<number, number>();

/** How far New York's clocks are ahead of UTC at that instant, which is a negative number. */
export function newYorkOffsetMs(at: number): number {
  const hour = Math.floor(at / HOUR_MS);
  const known = offsetByHour.get(hour);
  if (known !== undefined) return known;
  const parts: Record<string, number> = {};
  for (const part of newYorkFormat.formatToParts(hour * HOUR_MS)) parts[part.type] = Number(part.value);
  const { year, month, day, hour: wallHour, minute } = parts as Record<string, number>;
  const local = Date.UTC(
    year as number,
    (month as number) - 1,
    day as number,
    wallHour as number,
    minute as number,
  );
  if (offsetByHour.size >= HOURS_KEPT_MAX) offsetByHour.clear();
  offsetByHour.set(hour, local - hour * HOUR_MS);
  return local - hour * HOUR_MS;
}

export type NewYorkTime = { readonly date: CivilDate; readonly time: WallTime };

export function toNewYork(instant: Date): NewYorkTime {
  const local = new Date(instant.getTime() + newYorkOffsetMs(instant.getTime())).toISOString();
  return { date: local.slice(0, 10), time: local.slice(11, 16) };
}

const WALL_TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;

/**
 * The instant at which New York's clocks show this. An hour that comes twice in autumn means its first coming;
 * one that is left out in spring means as much later as the clocks are put forward.
 */
export function fromNewYork(date: CivilDate, time: WallTime): Date {
  const match = WALL_TIME.exec(time);
  if (!match) throw new RangeError(`"${time}" is not an HH:MM time.`);
  const wall = dayNumber(date) * DAY_MS + (Number(match[1]) * 60 + Number(match[2])) * MINUTE_MS;
  const before = newYorkOffsetMs(wall - DAY_MS);
  const after = newYorkOffsetMs(wall + DAY_MS);
  for (const offset of [Math.max(before, after), Math.min(before, after)])
    if (newYorkOffsetMs(wall - offset) === offset) return new Date(wall - offset);
  return new Date(wall - before);
}

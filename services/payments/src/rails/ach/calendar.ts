/** The days and the hours of the Federal Reserve: banking days, and New York's clock. */

/** YYYY-MM-DD, a day without a time of day. Such days compare as text. */
export type CivilDate = string;

/** HH:MM on the clocks of New York. */
export type WallTime = string;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const NEW_YORK = 'America/New_York';
const SUNDAY = 0;
const MONDAY = 1;
const THURSDAY = 4;
const SATURDAY = 6;

/** The Fed is never closed longer than four days on end; a longer search means a broken calendar. */
const CLOSED_DAYS_MAX = 10;
const YEARS_KEPT_MAX = 64;
const HOURS_KEPT_MAX = 4_096;

type HolidayRule = { readonly name: string; readonly since: number } & (
  | { readonly month: number; readonly day: number }
  | { readonly month: number; readonly weekday: number; readonly nth: number }
  | { readonly month: number; readonly weekday: number; readonly last: true }
);

// `since` is the first year in which the Reserve Banks closed.
const HOLIDAY_RULES: readonly HolidayRule[] = [
  { name: "New Year's Day", since: 1914, month: 1, day: 1 },
  { name: 'Martin Luther King Day', since: 1986, month: 1, weekday: MONDAY, nth: 3 },
  { name: "Washington's Birthday", since: 1971, month: 2, weekday: MONDAY, nth: 3 },
  { name: 'Memorial Day', since: 1971, month: 5, weekday: MONDAY, last: true },
  { name: 'Juneteenth', since: 2022, month: 6, day: 19 },
  { name: 'Independence Day', since: 1914, month: 7, day: 4 },
  { name: 'Labor Day', since: 1914, month: 9, weekday: MONDAY, nth: 1 },
  { name: 'Columbus Day', since: 1971, month: 10, weekday: MONDAY, nth: 2 },
  { name: 'Veterans Day', since: 1978, month: 11, day: 11 },
  { name: 'Thanksgiving Day', since: 1942, month: 11, weekday: THURSDAY, nth: 4 },
  { name: 'Christmas Day', since: 1914, month: 12, day: 25 },
];

export type Holiday = { readonly name: string; readonly date: CivilDate };

function dayNumber(date: CivilDate): number {
  const at = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(at)) throw new RangeError(`"${date}" is not a YYYY-MM-DD date.`);
  return at / DAY_MS;
}

function fromDayNumber(day: number): CivilDate {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** 0 is Sunday. */
function weekdayOf(day: number): number {
  return (((day + THURSDAY) % 7) + 7) % 7;
}

export function addDays(date: CivilDate, days: number): CivilDate {
  return fromDayNumber(dayNumber(date) + days);
}

function dayOfRule(rule: HolidayRule, year: number): number {
  if ('day' in rule) {
    const day = Date.UTC(year, rule.month - 1, rule.day) / DAY_MS;
    // On a Sunday the Fed closes on the Monday after; on a Saturday it is open on the Friday before.
    return weekdayOf(day) === SUNDAY ? day + 1 : day;
  }
  if ('last' in rule) {
    const end = Date.UTC(year, rule.month, 0) / DAY_MS;
    return end - ((weekdayOf(end) - rule.weekday + 7) % 7);
  }
  const first = Date.UTC(year, rule.month - 1, 1) / DAY_MS;
  return first + ((rule.weekday - weekdayOf(first) + 7) % 7) + (rule.nth - 1) * 7;
}

/** The days on which the Reserve Banks are closed in that year; one that falls on a Saturday is listed there. */
export function fedHolidays(year: number): Holiday[] {
  return HOLIDAY_RULES.filter((rule) => year >= rule.since).map((rule) => ({
    name: rule.name,
    date: fromDayNumber(dayOfRule(rule, year)),
  }));
}

const holidaysByYear = new Map<number, ReadonlySet<CivilDate>>();

function holidayDates(year: number): ReadonlySet<CivilDate> {
  const known = holidaysByYear.get(year);
  if (known) return known;
  if (holidaysByYear.size >= YEARS_KEPT_MAX) holidaysByYear.clear();
  const dates = new Set(fedHolidays(year).map((holiday) => holiday.date));
  holidaysByYear.set(year, dates);
  return dates;
}

export function isBankingDay(date: CivilDate): boolean {
  const weekday = weekdayOf(dayNumber(date));
  if (weekday === SUNDAY || weekday === SATURDAY) return false;
  return !holidayDates(Number(date.slice(0, 4))).has(date);
}

/** The first banking day after `date`, which itself may or may not be one. */
export function nextBankingDay(date: CivilDate): CivilDate {
  for (let days = 1; days <= CLOSED_DAYS_MAX; days += 1) {
    const candidate = addDays(date, days);
    if (isBankingDay(candidate)) return candidate;
  }
  throw new RangeError(`No banking day within ${CLOSED_DAYS_MAX} days after ${date}.`);
}

/** `days` ≥ 0. Zero days after a closed day is the next banking day. */
export function addBankingDays(date: CivilDate, days: number): CivilDate {
  if (!Number.isSafeInteger(days) || days < 0)
    throw new RangeError(`${days} is not a number of banking days.`);
  let result = days > 0 || isBankingDay(date) ? date : nextBankingDay(date);
  for (let i = 0; i < days; i += 1) result = nextBankingDay(result);
  return result;
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

function newYorkOffsetMs(at: number): number {
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

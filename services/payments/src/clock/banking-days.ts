import { addDays, type CivilDate, DAY_MS, dayNumber, fromDayNumber } from './new-york.ts';

/** The days on which the Federal Reserve is open. */

const SUNDAY = 0;
const MONDAY = 1;
const THURSDAY = 4;
const SATURDAY = 6;

/** The Fed is never closed longer than four days on end; a longer search means a broken calendar. */
const CLOSED_DAYS_MAX = 10;
const YEARS_KEPT_MAX = 64;

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

/** 0 is Sunday. */
function weekdayOf(day: number): number {
  return (((day + THURSDAY) % 7) + 7) % 7;
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

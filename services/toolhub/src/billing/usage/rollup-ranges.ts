/** Days as text (`2026-11-15`), which compare as they follow; the end is not part of a range. */
export interface DayRange {
  from: string;
  to: string;
}

/** Which part of a question each source answers; every day is in exactly one of them. */
export interface UsageSources {
  months: DayRange;
  /** Whole days before and after those months. */
  days: readonly DayRange[];
  /** What is not added up yet. */
  live: DayRange;
}

const DAY_MS = 24 * 60 * 60_000;

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Behind it days have five digits for their year, and do not compare as they follow any more. */
const LAST_DAY = '9999-12-31';

/** The first day of the month after the day's, or the last day of all where there is none. */
export function nextMonth(day: string): string {
  if (day.startsWith('9999-12')) return LAST_DAY;
  const date = new Date(day);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)).toISOString().slice(0, 10);
}

const firstOfMonth = (day: string) => `${day.slice(0, 7)}-01`;
export const earlier = (a: string, b: string) => (a < b ? a : b);

/** `rolledBefore` is the first day that is not added up; null where none is. */
export function sourcesOf({ from, to }: DayRange, rolledBefore: string | null): UsageSources {
  const edge = rolledBefore === null || rolledBefore < from ? from : earlier(rolledBefore, to);
  const monthsFrom = from === firstOfMonth(from) ? from : nextMonth(from);
  const monthsTo = firstOfMonth(edge);
  const live = { from: edge, to };
  if (monthsFrom >= monthsTo) return { months: { from, to: from }, days: [{ from, to: edge }], live };
  return {
    months: { from: monthsFrom, to: monthsTo },
    days: [
      { from, to: monthsFrom },
      { from: monthsTo, to: edge },
    ],
    live,
  };
}

/** A calendar month in UTC, written like `2026-10`. */
export type Period = string;

/** The database knows no year 0, and the first hundred years are taken for those of the twentieth century. */
export const PERIOD_PATTERN = '^[1-9]\\d{3}-(0[1-9]|1[0-2])$';

const MONTH_NAMES = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

export function periodOf(moment: Date): Period {
  return moment.toISOString().slice(0, 7);
}

/** The month as a date column holds it; as text, because a moment would pass through the time zone of the process. */
export function firstDayOf(period: Period): string {
  return `${period}-01`;
}

/** The first moment of the month. */
export function startOf(period: Period): Date {
  return new Date(`${period}-01T00:00:00.000Z`);
}

/** The first moment that is no longer part of the month. */
export function endOf(period: Period): Date {
  const start = startOf(period);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
}

export function nextPeriod(period: Period): Period {
  return periodOf(endOf(period));
}

export function periodBefore(moment: Date): Period {
  return periodOf(new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() - 1, 1)));
}

/** So many months, of which the last is given, in order. */
export function periodsUpTo(last: Period, count: number): Period[] {
  const start = startOf(last);
  return Array.from({ length: count }, (_, index) =>
    periodOf(new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() - (count - 1 - index), 1))),
  );
}

export function hasEnded(period: Period, now: Date): boolean {
  return endOf(period) <= now;
}

export function daysIn(period: Period): number {
  const start = startOf(period);
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate();
}

/** `October 2026`. */
export function periodTitle(period: Period): string {
  const start = startOf(period);
  return `${MONTH_NAMES[start.getUTCMonth()]} ${start.getUTCFullYear()}`;
}

/** `14 October 2026`. */
export function dateTitle(moment: Date): string {
  return `${moment.getUTCDate()} ${MONTH_NAMES[moment.getUTCMonth()]} ${moment.getUTCFullYear()}`;
}

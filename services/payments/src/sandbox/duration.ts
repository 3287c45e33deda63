const DURATION =
  /^P(?=\d|T\d)(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9})(?:\.(\d{1,3}))?S)?)?$/;

/** Adds an ISO 8601 duration (`P3D`, `PT90M`, `P1M`) to a moment, by the calendar in UTC; null where it is none. */
export function addDuration(at: Date, duration: string): Date | null {
  const match = DURATION.exec(duration);
  if (!match) return null;
  const [years, months, weeks, days, hours, minutes, seconds] = match
    .slice(1, 8)
    .map((part) => Number(part ?? 0));
  const milliseconds = Number((match[8] ?? '').padEnd(3, '0'));
  const moved = addMonths(at, (years as number) * 12 + (months as number));
  const wholeDays = (weeks as number) * 7 + (days as number);
  const rest = ((wholeDays * 24 + (hours as number)) * 60 + (minutes as number)) * 60 + (seconds as number);
  const result = new Date(moved.getTime() + rest * 1_000 + milliseconds);
  return Number.isNaN(result.getTime()) ? null : result;
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

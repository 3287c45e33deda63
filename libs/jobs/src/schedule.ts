/** When something that repeats is due next, in UTC. */
export type Schedule = (after: Date) => Date;

const MINUTE_MS = 60_000;

export function everyMinutes(minutes: number): Schedule {
  const step = minutes * MINUTE_MS;
  return (after) => new Date((Math.floor(after.getTime() / step) + 1) * step);
}

export function dailyAt(hour: number, minute: number): Schedule {
  return (after) => {
    const due = new Date(after);
    due.setUTCHours(hour, minute, 0, 0);
    if (due <= after) due.setUTCDate(due.getUTCDate() + 1);
    return due;
  };
}

export function monthlyAt(day: number, hour: number, minute: number): Schedule {
  if (day > 28) throw new RangeError('a day that not every month has');
  return (after) => {
    const due = new Date(Date.UTC(after.getUTCFullYear(), after.getUTCMonth(), day, hour, minute));
    if (due <= after) due.setUTCMonth(due.getUTCMonth() + 1);
    return due;
  };
}

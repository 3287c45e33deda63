const DAY_MS = 24 * 60 * 60_000;

/** A calendar month in UTC, as the date of its first day. */
export function monthOf(moment: Date): string {
  return `${moment.toISOString().slice(0, 7)}-01`;
}

export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The first moment of the day in UTC. */
export function dayStart(moment: Date): Date {
  return new Date(`${dayOf(moment)}T00:00:00.000Z`);
}

export function nextDayStart(moment: Date): Date {
  return new Date(dayStart(moment).getTime() + DAY_MS);
}

export function nextMonthStart(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 1));
}

/** Invoices price changes in the order of their moments, so each is later than the one before, whatever clocks say. */
export function momentAfter(before: Date | null, moment: Date): Date {
  return before === null || before < moment ? moment : new Date(before.getTime() + 1);
}

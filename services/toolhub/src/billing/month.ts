/** A calendar month in UTC, as the date of its first day. */
export function monthOf(moment: Date): string {
  return `${moment.toISOString().slice(0, 7)}-01`;
}

export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

export function nextMonthStart(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 1));
}

/** Invoices price changes in the order of their moments, so each is later than the one before, whatever clocks say. */
export function momentAfter(before: Date | null, moment: Date): Date {
  return before === null || before < moment ? moment : new Date(before.getTime() + 1);
}

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

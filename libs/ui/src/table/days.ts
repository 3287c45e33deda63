/** When a day of the viewer begins, or one that comes so many days later. */
export function startOf(day: string, shiftDays: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + shiftDays).toISOString();
}

/** As a field for days takes it; nothing for what is no moment. */
export function dayOf(moment: string, shiftDays: number): string {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return '';
  at.setDate(at.getDate() + shiftDays);
  const digits = (value: number, count: number) => String(value).padStart(count, '0');
  return [digits(at.getFullYear(), 4), digits(at.getMonth() + 1, 2), digits(at.getDate(), 2)].join('-');
}

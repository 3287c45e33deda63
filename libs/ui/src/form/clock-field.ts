/** What a field for a date and a time holds: the viewer's own wall clock, without its zone. */
export function toClockField(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = [String(at.getFullYear()).padStart(4, '0'), two(at.getMonth() + 1), two(at.getDate())];
  const time = [two(at.getHours()), two(at.getMinutes()), two(at.getSeconds())];
  return `${day.join('-')}T${time.join(':')}`;
}

/** The moment that a field means; nothing where it holds none. */
export function fromClockField(text: string): Date | undefined {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** The zone whose wall clock fields and pages show, as the browser calls it, in words: America/New York. */
export const viewersZone = Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll('_', ' ');

import Format from 'typebox/format';

const FIRST_MS = new Date('0001-01-01T00:00:00Z').getTime();
const LAST_MS = new Date('9999-12-31T23:59:59.999Z').getTime();

/** A leap second has the right form and no `Date`; the database knows no year 0, and texts no year of five digits. */
function isMoment(text: string): boolean {
  const ms = Date.parse(text);
  return Format.IsDateTime(text) && ms >= FIRST_MS && ms <= LAST_MS;
}

/** What the formats of schemas mean in this process: nothing that has the form and cannot be stored. */
export function defineFormats(): void {
  Format.Set('date', (text) => Format.IsDate(text) && !text.startsWith('0000'));
  Format.Set('date-time', isMoment);
}

import Type from 'typebox';
import Format from 'typebox/format';

const FIRST_MS = new Date('0001-01-01T00:00:00Z').getTime();
const LAST_MS = new Date('9999-12-31T23:59:59.999Z').getTime();
const STORED_MOMENT = 'stored-date-time';
const STORED_MOMENT_LENGTH_MAX = 64;

/** Makes them a part of schemas; of a day nothing is let through that the database has not, such as the year 0. */
export function defineFormats(): void {
  Format.Set('date', (text) => Format.IsDate(text) && !text.startsWith('0000'));
  Format.Set(STORED_MOMENT, isStored);
}

/** A leap second has the right form and no `Date`; the database knows no year 0, and texts no year of five digits. */
function isStored(text: string): boolean {
  const ms = Date.parse(text);
  return Format.IsDateTime(text) && ms >= FIRST_MS && ms <= LAST_MS;
}

/** A moment in a cursor, which is compared with those in the database. */
export function storedMoment() {
  return Type.String({ format: STORED_MOMENT, maxLength: STORED_MOMENT_LENGTH_MAX });
}

/** One line of CSV. Quoted where RFC 4180 asks for it; text that a spreadsheet would run as a formula is made plain text. */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(toField).join(',')}\r\n`;
}

/** What spreadsheets begin a formula with, also in the wide letters of East Asian keyboards; blanks before it are dropped by some. */
const FORMULA = /^[\s\0]*[=+\-@＝＋－＠]|^[\t\r\n]/;

function toField(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

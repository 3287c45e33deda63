const SIX_DIGITS = /^\d{6}$/;
const TIME = /^([01]\d|2[0-3])[0-5]\d$/;

/** YYMMDD in files is always of this century. */
export function isFileDate(value: string): boolean {
  if (!SIX_DIGITS.test(value)) return false;
  const month = Number(value.slice(2, 4));
  const day = Number(value.slice(4, 6));
  const date = new Date(Date.UTC(2000 + Number(value.slice(0, 2)), month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

export function isFileTime(value: string): boolean {
  return TIME.test(value);
}

/** From YYYY-MM-DD to YYMMDD. */
export function toFileDate(date: string): string {
  return `${date.slice(2, 4)}${date.slice(5, 7)}${date.slice(8, 10)}`;
}

/** From YYMMDD to YYYY-MM-DD. */
export function fromFileDate(value: string): string {
  return `20${value.slice(0, 2)}-${value.slice(2, 4)}-${value.slice(4, 6)}`;
}

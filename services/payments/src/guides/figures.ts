/** Figures of the code in the words of a reader. */

const SECOND_MS = 1_000;
const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['day', 86_400 * SECOND_MS],
  ['hour', 3_600 * SECOND_MS],
  ['minute', 60 * SECOND_MS],
  ['second', SECOND_MS],
];

export function inWords(ms: number): string {
  const [name, size] = UNITS.find(([, unit]) => ms >= unit && ms % unit === 0) ?? ['ms', 1];
  const count = ms / size;
  if (name === 'ms') return `${count} ms`;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

export function inNumbers(count: number): string {
  return count.toLocaleString('en-US');
}

export function inDollars(cents: number): string {
  return `${(cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })} USD`;
}

export const asCode = (text: string | number): string => `\`${text}\``;

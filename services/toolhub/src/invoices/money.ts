export const CURRENCY = 'USD';

/** `1,234.50 USD`; cents are integers, so nothing is rounded here. */
export function formatCents(cents: number): string {
  return `${formatAmount(cents)} ${CURRENCY}`;
}

/** `1,234.50`. */
export function formatAmount(cents: number): string {
  const sign = cents < 0 ? '-' : '';
  const size = Math.abs(cents);
  return `${sign}${formatCount(Math.trunc(size / 100))}.${String(size % 100).padStart(2, '0')}`;
}

/** `1,234,567`. */
export function formatCount(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

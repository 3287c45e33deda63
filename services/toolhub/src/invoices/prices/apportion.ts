/**
 * Splits a whole number by weights so that the parts are whole numbers and sum to it: each part is its exact share
 * rounded down or up, and the largest remainders are rounded up. Equal remainders go by position, so that the same
 * input always gives the same parts.
 */
export function apportion(total: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((left, right) => left + right, 0n);
  if (total === 0n || sum === 0n) {
    if (total !== 0n) throw new RangeError('nothing to split by');
    return weights.map(() => 0n);
  }
  const parts = weights.map((weight) => (total * weight) / sum);
  const remainders = weights.map((weight, index) => ({ index, rest: (total * weight) % sum }));
  const missing = total - parts.reduce((left, right) => left + right, 0n);
  remainders.sort((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest > b.rest ? -1 : 1));
  for (const { index } of remainders.slice(0, Number(missing))) parts[index] = (parts[index] as bigint) + 1n;
  return parts;
}

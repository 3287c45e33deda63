/*
 * Durations are counted in classes that grow by an eighth of a power of two, so a percentile taken from the counts is
 * at most 5 % off (and half a millisecond, since it is shown in whole ones), and the counts of any days, tools and processes can be added.
 */
const CLASSES_PER_DOUBLING = 8;
/** Class 0 holds what took less than a millisecond; the last one, everything beyond 17 minutes. */
export const DURATION_CLASS_MAX = 160;

export function durationClass(durationMs: number): number {
  if (!(durationMs >= 1)) return 0;
  return Math.min(1 + Math.floor(Math.log2(durationMs) * CLASSES_PER_DOUBLING), DURATION_CLASS_MAX);
}

/** The middle of a class, in whole milliseconds. */
export function classDurationMs(durationClassNumber: number): number {
  if (durationClassNumber === 0) return 0;
  return Math.round(2 ** ((durationClassNumber - 0.5) / CLASSES_PER_DOUBLING));
}

export interface ClassCount {
  durationClass: number;
  calls: number;
}

/** The duration that `share` (0.95) of the calls did not pass; null where there was no call. */
export function percentileMs(counts: readonly ClassCount[], share: number): number | null {
  const total = counts.reduce((sum, { calls }) => sum + calls, 0);
  if (total === 0) return null;
  const rank = Math.max(1, Math.ceil(total * share));
  let seen = 0;
  for (const { durationClass: number, calls } of counts.toSorted(
    (a, b) => a.durationClass - b.durationClass,
  )) {
    seen += calls;
    if (seen >= rank) return classDurationMs(number);
  }
  throw new RangeError('a percentile is a share of at most 1');
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classDurationMs, DURATION_CLASS_MAX, durationClass, percentileMs } from './durations.ts';

const anyDuration = fc.double({ min: 0, max: 900_000, noNaN: true });

test('a class is at most 5 % off and half a millisecond more, since it is shown in whole ones, or one', () => {
  fc.assert(
    fc.property(anyDuration, (durationMs) => {
      const shown = classDurationMs(durationClass(durationMs));
      expect(Math.abs(shown - durationMs)).toBeLessThanOrEqual(Math.max(1, durationMs * 0.05 + 0.5));
    }),
    // Just above the border of a class, whose middle is rounded up.
    { examples: [[29.344129382549472], [1], [0.999]] },
  );
});

test('longer never means a lower class, and every class fits the column', () => {
  fc.assert(
    fc.property(anyDuration, anyDuration, (a, b) => {
      const [low, high] = [durationClass(Math.min(a, b)), durationClass(Math.max(a, b))];
      expect(low).toBeLessThanOrEqual(high);
      expect(high).toBeLessThanOrEqual(DURATION_CLASS_MAX);
    }),
  );
  expect(durationClass(Number.POSITIVE_INFINITY)).toBe(DURATION_CLASS_MAX);
  expect(durationClass(Number.NaN)).toBe(0);
});

test('percentiles of counts are those of the calls', () => {
  fc.assert(
    fc.property(
      fc.array(anyDuration, { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.95),
      (all, share) => {
        const sorted = all.toSorted((a, b) => a - b);
        const exact = sorted[Math.max(1, Math.ceil(all.length * share)) - 1] as number;
        const counts = all.map((durationMs) => ({ durationClass: durationClass(durationMs), calls: 1 }));
        expect(percentileMs(counts, share)).toBe(classDurationMs(durationClass(exact)));
      },
    ),
  );
  expect(percentileMs([], 0.5)).toBeNull();
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evenTicks } from './ticks.ts';

test('ticks of an axis are whole, evenly apart, few, and reach the largest value', () => {
  expect(evenTicks(0)).toEqual([0, 1]);
  expect(evenTicks(3)).toEqual([0, 1, 2, 3]);
  expect(evenTicks(1_234)).toEqual([0, 500, 1_000, 1_500]);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), (largest) => {
      const ticks = evenTicks(largest);
      const [first, step = 0] = ticks;
      expect(first).toBe(0);
      expect(ticks.every((tick, index) => Number.isInteger(tick) && tick === index * step)).toBe(true);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(largest);
      expect(ticks.length).toBeLessThanOrEqual(5);
    }),
  );
});

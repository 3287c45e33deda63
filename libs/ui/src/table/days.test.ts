import { expect, test } from 'vitest';
import { dayOf, startOf } from './days.ts';

test.each(['2026-11-17', '2026-12-31', '2028-02-29', '2026-03-08', '2026-11-01'])(
  '%s is the same day after it was kept as a moment, also as the last of a range',
  (day) => {
    for (const shiftDays of [0, 1]) expect(dayOf(startOf(day, shiftDays), -shiftDays)).toBe(day);
  },
);

test('the last day of a range ends where the next one begins', () => {
  expect(startOf('2026-12-31', 1)).toBe(startOf('2027-01-01', 0));
  expect(dayOf('soon', 0)).toBe('');
});

import { expect, test } from 'vitest';
import { addDuration } from './duration.ts';

const from = new Date('2026-01-31T12:00:00.000Z');

test.each([
  ['P3D', '2026-02-03T12:00:00.000Z'],
  ['PT90M', '2026-01-31T13:30:00.000Z'],
  ['P1W', '2026-02-07T12:00:00.000Z'],
  ['P1M', '2026-02-28T12:00:00.000Z'],
  ['P1Y2M3DT4H5M6.789S', '2027-04-03T16:05:06.789Z'],
  ['PT0S', '2026-01-31T12:00:00.000Z'],
])('%s is added by the calendar', (duration, expected) => {
  expect(addDuration(from, duration)?.toISOString()).toBe(expected);
});

test.each(['', 'P', 'PT', '3D', '-P1D', 'P1.5D', 'P1DT', 'p1d', 'P99999999999D'])(
  '%s is no duration',
  (text) => {
    expect(addDuration(from, text)).toBeNull();
  },
);

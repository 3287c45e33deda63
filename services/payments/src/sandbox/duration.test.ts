import { expect, test } from 'vitest';
import { addDuration } from './duration.ts';

const from = new Date('2026-01-31T12:00:00.000Z');

test.each([
  ['P3D', '2026-02-03T12:00:00.000Z'],
  ['PT90M', '2026-01-31T13:30:00.000Z'],
  ['P1W', '2026-02-07T12:00:00.000Z'],
  ['P1M', '2026-02-28T12:00:00.000Z'],
  ['P1Y2M3DT4H5M6.789S', '2027-04-03T16:05:06.789Z'],
  ['PT1.5H', '2026-01-31T13:30:00.000Z'],
  ['P0.5D', '2026-02-01T00:00:00.000Z'],
  ['P1DT0,25S', '2026-02-01T12:00:00.250Z'],
  ['PT0.123456S', '2026-01-31T12:00:00.123Z'],
  ['P0.00001D', '2026-01-31T12:00:00.864Z'],
  ['P1W2D', '2026-02-09T12:00:00.000Z'],
  ['PT0S', '2026-01-31T12:00:00.000Z'],
  ['P00010Y', '2036-01-31T12:00:00.000Z'],
  ['P99999999D', '+275760-09-13T00:00:00.000Z'],
  ['P12345678901234567890M', '+275760-09-13T00:00:00.000Z'],
])('[P-7.1] %s is added by the calendar', (duration, expected) => {
  expect(addDuration(from, duration)?.toISOString()).toBe(expected);
});

test.each([
  '',
  'P',
  'PT',
  '3D',
  '-P1D',
  'P1.5DT1H',
  'P1.5M',
  'P1.D',
  'P.5D',
  'P1.2.3D',
  'PT1.5H,5S',
  'P1DT',
  'p1d',
])('%s is no duration', (text) => {
  expect(addDuration(from, text)).toBeNull();
});

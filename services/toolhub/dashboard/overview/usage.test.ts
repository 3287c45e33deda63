import { expect, test } from 'vitest';
import { everyDay, forecastOf, rangeOf } from './usage.ts';

test('a range of days ends with today and has all of them', () => {
  const range = rangeOf('7', Date.parse('2026-11-15T23:30:00Z'));
  expect(range).toEqual({ from: '2026-11-09', to: '2026-11-16' });
  const group = { key: '2026-11-10', calls: 5, errors: 2, p50_ms: 1, p95_ms: 2 };
  const days = everyDay({ ...range, data: [group], total: 5 });
  expect(days).toHaveLength(7);
  expect(days[1]).toEqual({ date: '2026-11-10', day: 'Nov 10', calls: 3, errors: 2 });
  expect(days[2]).toEqual({ date: '2026-11-11', day: 'Nov 11', calls: 0, errors: 0 });
});

test('the forecast goes on as the month went so far', () => {
  const plan = {
    ...{ plan: 'free', limit: 1_000, stops_at_limit: true, used: 150, remaining: 850, spend_cap_cents: null },
    resets_at: '2026-12-01T00:00:00.000Z',
  };
  expect(forecastOf(plan, new Date('2026-11-16T00:00:00Z'))).toBe(300);
  expect(forecastOf({ ...plan, used: 3 }, new Date('2026-11-01T00:10:00Z'))).toBe(90);
  // A page that has not read the new month yet, or whose own clock is wrong.
  expect(forecastOf(plan, new Date('2026-12-01T00:00:20Z'))).toBe(150);
  expect(forecastOf(plan, new Date('2026-10-31T23:59:40Z'))).toBe(4_500);
});

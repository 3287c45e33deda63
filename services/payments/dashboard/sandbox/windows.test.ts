import { expect, test } from 'vitest';
import { upcomingWindows } from './windows.ts';

test('the windows that come next are those of the next banking day, over weekends and holidays', () => {
  // A Friday evening in New York, before the weekend of Thanksgiving's month.
  const friday = new Date('2026-11-13T23:30:00Z');
  expect(upcomingWindows(friday, 2)).toEqual([
    { label: expect.stringMatching(/^2026-11-1[36] /), at: expect.any(Date) },
    { label: expect.stringMatching(/^2026-11-16 /), at: expect.any(Date) },
  ]);
  const morning = upcomingWindows(new Date('2026-11-16T14:00:00Z'), 3);
  expect(morning.map(({ label }) => label)).toEqual([
    '2026-11-16 10:30',
    '2026-11-16 14:45',
    '2026-11-16 16:45',
  ]);
  expect(morning[0]?.at.toISOString()).toBe('2026-11-16T15:30:00.000Z');
});

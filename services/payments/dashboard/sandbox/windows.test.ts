import { expect, test } from 'vitest';
import { upcomingWindows } from './windows.ts';

const windowsAfter = (now: string, count: number) =>
  upcomingWindows(new Date(now), count).map((at) => at.toISOString());

test('the windows that come next are those of the next banking day, over weekends and holidays', () => {
  // A Friday evening in New York.
  expect(windowsAfter('2026-11-13T23:30:00Z', 2)).toEqual([
    expect.stringMatching(/^2026-11-1[46]T/),
    expect.stringMatching(/^2026-11-16T/),
  ]);
  expect(windowsAfter('2026-11-16T14:00:00Z', 3)).toEqual([
    '2026-11-16T15:30:00.000Z',
    '2026-11-16T19:45:00.000Z',
    '2026-11-16T21:45:00.000Z',
  ]);
});

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

test('a window whose file has left is none for a payment of now, though its deadline is still to come', () => {
  // 22:31 in New York, and then the minute before the file of the day's last window leaves.
  expect(windowsAfter('2026-11-17T03:31:00Z', 4)).toEqual([
    '2026-11-17T15:30:00.000Z',
    '2026-11-17T19:45:00.000Z',
    '2026-11-17T21:45:00.000Z',
    '2026-11-18T03:45:00.000Z',
  ]);
  expect(windowsAfter('2026-11-17T03:29:00Z', 1)).toEqual(['2026-11-17T03:45:00.000Z']);
});

import { describe, expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = new Date('2026-11-15T12:00:00Z');

describe('retryAfterMs', () => {
  it.each([
    ['120', 120_000],
    [' 7 ', 7_000],
    ['0', 0],
    ['600.5', 600_500],
    ['Sun, 15 Nov 2026 12:00:30 GMT', 30_000],
    ['Sun, 15 Nov 2026 11:00:00 GMT', -3_600_000],
    ['Sun, 15 Nov 2026 12:00:30 +0000', 30_000],
    ['Sunday, 15-Nov-26 12:00:30 GMT', 30_000],
    ['Sun Nov 15 12:00:30 2026', 30_000],
    ['2026-11-15T12:00:30Z', 30_000],
    ['2026-11-15T13:00:30.000+01:00', 30_000],
  ])('%j is %s ms', (text, expected) => {
    expect(retryAfterMs(text, now)).toBe(expected);
  });

  it.each(['', 'soon', '-1', '5s', 'retry-after 5', '12345678901', '1.', 'Sun', '2026-11-15T25:00:00Z'])(
    '%j says nothing',
    (text) => {
      expect(retryAfterMs(text, now)).toBeUndefined();
    },
  );
});

import Format from 'typebox/format';
import { describe, expect, test } from 'vitest';
import { momentText, parseMoment } from './moment.ts';

const { format } = momentText() as { format?: string };
const fits = (text: string) => Format.Test(format as string, text);

describe('moments that callers name', () => {
  test.each([
    ['2026-11-16', '2026-11-16T00:00:00.000Z'],
    ['2026-11-16T15:04', '2026-11-16T15:04:00.000Z'],
    ['2026-11-16T15:04:05', '2026-11-16T15:04:05.000Z'],
    ['2026-11-16 15:04:05.123456789Z', '2026-11-16T15:04:05.123Z'],
    ['2026-11-16T20:34:05+05:30', '2026-11-16T15:04:05.000Z'],
    ['2026-11-16t15:04:05z', '2026-11-16T15:04:05.000Z'],
    ['2028-02-29T00:00:00-0500', '2028-02-29T05:00:00.000Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ])('%s is one', (text, moment) => {
    expect(fits(text)).toBe(true);
    expect(parseMoment(text).toISOString()).toBe(moment);
  });

  test.each([
    ['soon'],
    [''],
    ['2026-02-30'],
    ['2026-02-29T00:00:00Z'],
    ['1900-02-29'],
    ['2026-13-01'],
    ['2026-00-01'],
    ['2026-11-00'],
    ['2026-11-31T00:00:00Z'],
    ['2026-11-16T25:00:00Z'],
    ['2026-11-16T15:04:05+25:00'],
    ['0000-12-31T23:00:00Z'],
    ['0001-01-01T00:00:00+14:00'],
    ['9999-12-31T23:59:59-12:00'],
    ['+010000-01-01T00:00:00Z'],
  ])('%s is none', (text) => {
    expect(fits(text)).toBe(false);
    expect(() => parseMoment(text)).toThrow('none');
  });
});

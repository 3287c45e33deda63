import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageFieldError } from './errors.ts';
import { instantOf, isDate, isDateTime, networkDate, networkDateTime } from './network-time.ts';

describe('the clock of the network', () => {
  test.each([
    ['2026-11-15T15:00:00.999Z', '2026-11-15T10:00:00'],
    ['2026-07-04T03:59:59Z', '2026-07-03T23:59:59'],
    ['2026-07-04T04:00:00Z', '2026-07-04T00:00:00'],
    ['2027-01-01T04:59:59Z', '2026-12-31T23:59:59'],
    ['2026-03-08T06:59:59Z', '2026-03-08T01:59:59'],
    ['2026-03-08T07:00:00Z', '2026-03-08T03:00:00'],
    ['2026-11-01T05:30:00Z', '2026-11-01T01:30:00'],
    ['2026-11-01T06:30:00Z', '2026-11-01T01:30:00'],
  ])('shows %s as %s', (instant, shown) => {
    expect(networkDateTime(new Date(instant))).toBe(shown);
    expect(networkDate(new Date(instant))).toBe(shown.slice(0, 10));
  });

  test('names the second it shows, but for the hour that comes twice', () => {
    const seconds = fc.integer({ min: 0, max: Date.UTC(2099, 11, 31) / 1000 });
    fc.assert(
      fc.property(seconds, (second) => {
        const shown = networkDateTime(new Date(second * 1000));
        const found = instantOf(shown).getTime() / 1000;
        expect(networkDateTime(new Date(found * 1000))).toBe(shown);
        expect([0, 3600]).toContain(second - found);
      }),
    );
  });

  test('takes the earlier of two hours, and winter time where there is none', () => {
    expect(instantOf('2026-11-01T01:30:00').toISOString()).toBe('2026-11-01T05:30:00.000Z');
    expect(instantOf('2026-03-08T02:30:00').toISOString()).toBe('2026-03-08T07:30:00.000Z');
  });

  test('takes a time with an offset at its word', () => {
    expect(instantOf('2026-11-15T10:00:00Z').toISOString()).toBe('2026-11-15T10:00:00.000Z');
    expect(instantOf('2026-11-15T10:00:00.5+02:00').toISOString()).toBe('2026-11-15T08:00:00.500Z');
  });

  test('refuses what is no time', () => {
    expect(() => networkDateTime(new Date(Number.NaN))).toThrow(MessageFieldError);
    expect(() => networkDateTime(new Date('+010000-01-01T00:00:00Z'))).toThrow(MessageFieldError);
    expect(() => instantOf('2026-11-15')).toThrow(MessageFieldError);
  });

  test('knows the calendar', () => {
    for (const date of ['2024-02-29', '2000-02-29', '2026-12-31', '2026-04-30'])
      expect(isDate(date), date).toBe(true);
    for (const date of [
      '2026-02-29',
      '1900-02-29',
      '2026-13-01',
      '2026-00-10',
      '2026-04-31',
      '2026-01-00',
      '0000-01-01',
      '26-01-01',
      '2026-01-01Z',
    ]) {
      expect(isDate(date), date).toBe(false);
    }
    for (const time of [
      '2026-01-01T24:00:00',
      '2026-01-01T00:60:00',
      '2026-01-01T00:00',
      '2026-01-01 00:00:00',
      '2026-01-01T00:00:00+15:00',
    ]) {
      expect(isDateTime(time), time).toBe(false);
    }
  });
});

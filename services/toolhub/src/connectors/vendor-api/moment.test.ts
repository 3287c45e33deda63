import { expect, test } from 'vitest';
import { isoOrNull, momentOf } from './moment.ts';

test.each([
  ['2026-11-15T12:00:00.123+05:30', '2026-11-15T06:30:00.123Z'],
  ['2026-11-15t12:00:00z', '2026-11-15T12:00:00.000Z'],
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
  ['2017-01-01T00:59:60.5+01:00', '2016-12-31T23:59:59.500Z'],
  ['0000-01-01T00:00:00+23:59', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59.999Z'],
])('%s is %s', (text, iso) => expect(momentOf(text).toISOString()).toBe(iso));

test.each([
  [1_700_000_000_000, '2023-11-14T22:13:20.000Z'],
  [9e15, null],
  [253_402_300_800_000, null],
  [-9e15, null],
  [Number.NaN, null],
])('%d ms is %s', (ms, iso) => expect(isoOrNull(ms)).toBe(iso));

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fingerprintOf, parseIdempotencyKey } from './key.ts';

const printable = (maxLength: number) =>
  fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength,
  });

const quote = (key: string) => `"${key.replaceAll(/["\\]/g, '\\$&')}"`;

describe('[P-10.2] the header', () => {
  test('[P-10.2] names the same key bare and quoted', () => {
    fc.assert(
      fc.property(printable(255), (key) => {
        expect(parseIdempotencyKey(quote(key))).toBe(key);
        if (!key.startsWith('"')) expect(parseIdempotencyKey(key)).toBe(key);
      }),
    );
  });

  test('[P-10.2] is refused where it is empty, too long, not printable or half quoted', () => {
    const bad = [
      '',
      '""',
      '"',
      '"a',
      '"a"b"',
      '"\\a"',
      'a\u00e4',
      'a\tb',
      'a\u007f',
      'a'.repeat(256),
      quote('a'.repeat(256)),
    ];
    for (const header of bad) expect(() => parseIdempotencyKey(header)).toThrow(/printable/);
  });

  test('[P-10.2] may be as long as 255 characters, to which quotes do not count', () => {
    const longest = 'a'.repeat(255);
    expect(parseIdempotencyKey(longest)).toBe(longest);
    expect(parseIdempotencyKey(quote(longest))).toBe(longest);
  });
});

describe('the fingerprint of a body', () => {
  const shuffle = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffle);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, shuffle(member)]),
    );
  };

  test('does not depend on the order of fields', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fingerprintOf(shuffle(value))).toEqual(fingerprintOf(value));
      }),
    );
  });

  test('tells different values apart', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const areEqual = isDeepStrictEqual(plain(one), plain(other));
        expect(fingerprintOf(one).equals(fingerprintOf(other))).toBe(areEqual);
      }),
    );
    expect(fingerprintOf([1, 2])).not.toEqual(fingerprintOf([2, 1]));
    expect(fingerprintOf({ a: null })).not.toEqual(fingerprintOf({}));
    expect(fingerprintOf('1')).not.toEqual(fingerprintOf(1));
  });
});

/** As it comes from the parser: without negative zero, without odd prototypes. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { askedMs, backoffMs, delayBeforeRetry, isRetryable, parseRetryAfter } from '../src/retry.ts';

test('waits grow to a bound, and any part of them may be taken', () => {
  fc.assert(
    fc.property(
      fc.nat(1_000),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      (failures, random) => {
        const delayMs = backoffMs(failures, () => random);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThan(Math.min(8_000, 500 * 2 ** failures));
      },
    ),
  );
});

test('Retry-After is a least, and beyond a minute nobody waits', () => {
  fc.assert(
    fc.property(fc.nat(120_000), fc.nat(20), (retryAfterMs, failures) => {
      const delayMs = delayBeforeRetry(failures, retryAfterMs, Math.random);
      if (retryAfterMs > 60_000) expect(delayMs).toBeUndefined();
      else expect(delayMs).toBeGreaterThanOrEqual(retryAfterMs);
    }),
  );
});

test('those who look again and again wait for a minute at most', () => {
  expect([undefined, 7, 1e9].map(askedMs)).toEqual([0, 7_000, 60_000]);
});

test.each([
  ['3', 3_000],
  ['0.5', 500],
  [' 7 ', 7_000],
  ['9999999999', 9_999_999_999_000],
  ['Sun, 15 Nov 2026 12:00:10 GMT', 10_000],
  ['Sun, 15 Nov 2026 11:00:00 GMT', 0],
  ['Sunday, 15-Nov-26 12:00:10 GMT', 10_000],
  ['Sun Nov 15 12:00:10 2026', 10_000],
  ['soon', undefined],
  ['-5', undefined],
  ['later than 5', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After: %s means %s', (header, expected) => {
  expect(parseRetryAfter(header, Date.parse('2026-11-15T12:00:00Z'))).toBe(expected);
});

test('nobody comes back before the time that was asked for, however long it is', () => {
  for (const header of ['61', '9999999999', '9'.repeat(400)]) {
    const retryAfterMs = parseRetryAfter(header, Date.now());
    expect(delayBeforeRetry(0, retryAfterMs, Math.random)).toBeUndefined();
  }
});

test('what may succeed later is sent again, and nothing else', () => {
  const judge = (status: number, code = 'x', retryAfterMs?: number) =>
    isRetryable({ status, code, retryAfterMs });
  for (const status of [408, 429, 500, 502, 503, 504]) expect(judge(status)).toBe(true);
  for (const status of [302, 400, 401, 403, 404, 405, 409, 413, 415, 422]) expect(judge(status)).toBe(false);
  expect(judge(409, 'idempotency_key_in_use')).toBe(true);
  expect(judge(503, 'rail_not_configured')).toBe(false);
});

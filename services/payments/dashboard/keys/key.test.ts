import { expect, test } from 'vitest';
import { type ApiKey, keyState, untilNextEnd } from './key.ts';

const MINUTE_MS = 60_000;
const key = (more: Partial<ApiKey>): ApiKey => ({
  ...{ id: 'key_1', mode: 'test', name: 'Server', hint: '1a2b', scopes: [] },
  ...{ expires_at: null, revoked_at: null, replaced_by: null, created_at: '2026-11-16T15:04:05.000Z' },
  ...more,
});
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

test('a key that was rolled works until its end, and not from then on', () => {
  const rolled = key({ expires_at: '2026-11-16T16:00:00.000Z' });
  expect(keyState(rolled, new Date('2026-11-16T15:59:59.999Z'))).toBe('active');
  expect(keyState(rolled, new Date('2026-11-16T16:00:00.000Z'))).toBe('expired');
});

test('a key that was revoked is so at once, though the clock of the viewer is behind that of the service', () => {
  const revoked = key({ revoked_at: '2026-11-16T16:00:00.000Z' });
  expect(keyState(revoked, new Date('2026-11-16T15:50:00.000Z'))).toBe('revoked');
});

test('keys are read again when the next of them ends, and stand still where none does', () => {
  const looksAgainAfter = (...keys: ApiKey[]) => untilNextEnd.refetchMs?.({ data: keys });
  expect(looksAgainAfter(key({}))).toBe(false);
  expect(looksAgainAfter(key({ expires_at: inMs(-1) }), key({ revoked_at: inMs(-1) }))).toBe(false);
  expect(looksAgainAfter(key({}), key({ expires_at: inMs(0.5 * MINUTE_MS) }))).toBeLessThanOrEqual(30_000);
  expect(looksAgainAfter(key({ expires_at: inMs(7 * 24 * 60 * MINUTE_MS) }))).toBe(MINUTE_MS);
});

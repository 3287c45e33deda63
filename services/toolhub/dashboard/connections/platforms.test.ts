import { expect, test } from 'vitest';
import { type Credential, endOf } from './platforms.ts';

const credential: Credential = {
  platform: 'linkedin',
  account: 'Ada',
  status: 'connected',
  expires_at: '2026-11-20T15:04:05.000Z',
  renews_itself: false,
  updated_at: '2026-11-15T18:20:50.066Z',
};

test('an end is shown where somebody has to do something before it', () => {
  expect(endOf(credential)).toBe(credential.expires_at);
  expect(endOf({ ...credential, renews_itself: true })).toBeNull();
  expect(endOf({ ...credential, expires_at: null })).toBeNull();
});

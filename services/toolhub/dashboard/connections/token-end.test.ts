import { expect, test } from 'vitest';
import { tokenEndOf } from './token-end.ts';

const NOW = new Date('2026-11-16T12:00:00Z');
const LATER = '2026-11-16T14:00:00.000Z';
const BEFORE = '2026-11-16T11:00:00.000Z';

test('a token that lasts is not called the end of its connection: it may be renewed by itself', () => {
  expect(tokenEndOf({ status: 'connected', expires_at: LATER }, NOW)).toEqual({
    label: 'Token lasts until',
    at: LATER,
    rest: ', and is renewed where the platform allows it',
  });
});

test('of a token that is renewed at its next call no time is shown that has passed', () => {
  expect(tokenEndOf({ status: 'connected', expires_at: BEFORE }, NOW)).toBeNull();
});

test('a token that has ended is said to have; one that was refused before its time has no time to show', () => {
  const ended = { label: 'Token ended', at: BEFORE, rest: '' };
  expect(tokenEndOf({ status: 'expired', expires_at: BEFORE }, NOW)).toEqual(ended);
  expect(tokenEndOf({ status: 'expired', expires_at: LATER }, NOW)).toBeNull();
});

test('a token without an end has none', () => {
  expect(tokenEndOf({ status: 'connected', expires_at: null }, NOW)).toBeNull();
});

import type { FetchMessageObject } from 'imapflow';
import { expect, test } from 'vitest';
import { readHead } from './message.ts';

const ARRIVED = new Date('2026-11-16T10:00:00.000Z');

function headOf(envelope: object) {
  return readHead({ uid: 1, internalDate: ARRIVED, envelope } as unknown as FetchMessageObject, 'INBOX');
}

test.each([
  ['2026-11-02T04:30:00Z', '2026-11-02T04:30:00.000Z'],
  // Senders write what they like; the moment of arrival is the server's own.
  ['+099999-01-01T10:00:00Z', ARRIVED.toISOString()],
  ['-002026-11-02T10:00:00Z', ARRIVED.toISOString()],
  ['no date', ARRIVED.toISOString()],
])('a message of %s is dated %s', (date, shown) => {
  expect(headOf({ date: new Date(date) }).date).toBe(shown);
});

test('a subject that is too long ends with a whole character', () => {
  expect(headOf({ subject: `${'a'.repeat(1_999)}😀` }).subject.isWellFormed()).toBe(true);
});

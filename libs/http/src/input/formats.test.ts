import Type from 'typebox';
import { expect, test } from 'vitest';
import { cursorCodec } from '../pagination.ts';
import { storedMoment } from './formats.ts';

const dayCursor = cursorCodec(Type.Tuple([Type.String({ format: 'date' })]));
const momentCursor = cursorCodec(Type.Tuple([storedMoment()]));
const encoded = (value: string) => Buffer.from(JSON.stringify([value])).toString('base64url');

test.each(['2026-02-28', '2024-02-29', '0001-01-01', '9999-12-31'])('%s is a day', (day) => {
  expect(dayCursor.decode(encoded(day))).toEqual([day]);
});

test.each(['0000-01-01', '2026-99-99', '2026-02-29'])('%s is none', (day) => {
  expect(() => dayCursor.decode(encoded(day))).toThrow();
});

test.each(['2026-11-16T23:59:59.999Z', '2026-11-16T23:59:59+14:00'])('%s is a moment', (moment) => {
  expect(momentCursor.decode(encoded(moment))).toEqual([moment]);
});

// What neither a Date nor the database can hold, a leap second among it.
test.each([
  '2016-12-31T23:59:60Z',
  '0000-06-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59-12:00',
])('%s is none', (moment) => {
  expect(() => momentCursor.decode(encoded(moment))).toThrow();
});

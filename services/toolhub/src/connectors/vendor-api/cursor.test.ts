import { Type } from 'typebox';
import { expect, it, test } from 'vitest';
import { decodeCursor, encodeCursor } from './cursor.ts';

const schema = Type.Object({ at: Type.String(), skip: Type.Integer() });

it('comes back as it was given', () => {
  const position = { at: 'naïve 日本語 😀', skip: 3 };
  expect(decodeCursor(schema, encodeCursor(position))).toEqual(position);
  expect(decodeCursor(schema, undefined)).toBeUndefined();
});

test.each([
  ['another shape', { at: 1 }],
  ['nothing', null],
  ['a text that no database takes', { at: 'a\0b', skip: 0 }],
  ['half a character', { at: 'a\ud83d', skip: 0 }],
])('is refused with %s', (_what, position) => {
  expect(() => decodeCursor(schema, encodeCursor(position))).toThrow(
    expect.objectContaining({ code: 'invalid_arguments' }),
  );
});

import { expect, test } from 'vitest';
import { inItsDirection } from './direction.ts';

test('a name from right to left keeps what follows it in its place; others stay as they are', () => {
  expect(inItsDirection('علي حسن 12')).toBe('\u2068علي حسن 12\u2069');
  expect(inItsDirection('יוסי Ltd')).toBe('\u2068יוסי Ltd\u2069');
  for (const name of ['Grace Hopper', 'Łukasz Żółć', '李小龍', '🎉 Party', ''])
    expect(inItsDirection(name)).toBe(name);
});

import { expect, test } from 'vitest';
import { readDay } from './query-day.ts';

test('a day is one that the database knows', () => {
  expect(readDay('from', '2026-02-28')).toBe('2026-02-28');
  expect(readDay('from', undefined)).toBeUndefined();
  for (const text of ['2026-02-30', '2026-99-99', '0000-01-01'])
    expect(() => readDay('from', text)).toThrow(expect.objectContaining({ code: 'invalid_query' }));
});

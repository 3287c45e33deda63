import { expect, test } from 'vitest';
import { abridge } from './arguments.ts';

test('long texts are cut and say how long they are', () => {
  const { value, isCut } = abridge({ to: 'ada', parts: [{ data: 'x'.repeat(5_000) }] });
  expect(value).toEqual({ to: 'ada', parts: [{ data: `${'x'.repeat(2_000)}… (5000 characters)` }] });
  expect(isCut).toBe(true);
  expect(abridge({ to: 'ada', parts: [1, null, true] })).toEqual({
    ...{ value: { to: 'ada', parts: [1, null, true] }, isCut: false },
  });
});

test('what is long by the number of its members is cut as well, behind what comes first', () => {
  const many = {
    to: 'ada',
    rows: Array.from({ length: 100_000 }, (_, row) => ({ row, name: `number ${row}` })),
    columns: Object.fromEntries(Array.from({ length: 100_000 }, (_, column) => [`column ${column}`, column])),
  };
  const { value, isCut } = abridge(many);
  expect(isCut).toBe(true);
  expect(value).toMatchObject({ to: 'ada', rows: expect.arrayContaining([{ row: 0, name: 'number 0' }]) });
  expect(JSON.stringify(value).length).toBeLessThan(200_000);
});

import { expect, test } from 'vitest';
import { type Column, columnsFor } from './columns-for.ts';

const columns: Column<number>[] = [
  { header: 'Number', render: String },
  { header: 'Actions', render: () => 'Halve', has: (number) => number % 2 === 0 },
];
const headersFor = (rows: number[] | undefined) => columnsFor(columns, rows).map(({ header }) => header);

test('a column that no row has anything for is left out', () => {
  expect(headersFor([1, 2, 3])).toEqual(['Number', 'Actions']);
  expect(headersFor([1, 3])).toEqual(['Number']);
  expect(headersFor(undefined)).toEqual(['Number']);
});

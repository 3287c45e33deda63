import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, type DayRange, sourcesOf } from './rollup-ranges.ts';

const daysOf = ({ from, to }: DayRange): string[] => {
  const days: string[] = [];
  for (let day = from; day < to; day = addDays(day, 1)) days.push(day);
  return days;
};

test('whatever is asked for and however far the days are added up, each day is read from one place', () => {
  const day = fc.integer({ min: 0, max: 800 }).map((number) => addDays('2025-01-15', number));
  fc.assert(
    fc.property(day, fc.integer({ min: 0, max: 400 }), fc.option(day), (from, length, rolledBefore) => {
      const to = addDays(from, length);
      const { months, days, live } = sourcesOf({ from, to }, rolledBefore);
      expect([months, ...days, live].flatMap(daysOf).sort()).toEqual(daysOf({ from, to }));
      if (months.from < months.to)
        expect([months.from, months.to].join()).toMatch(/^\d{4}-\d\d-01,\d{4}-\d\d-01$/);
      for (const range of [months, ...days])
        if (range.from < range.to) expect(range.to <= (rolledBefore ?? '')).toBe(true);
    }),
  );
});

test('the last days that a date can name are read as all others', () => {
  for (const from of ['9999-11-30', '9999-12-01', '9999-12-30'])
    for (const rolledBefore of [null, '2026-11-18', '9999-12-31']) {
      const { months, days, live } = sourcesOf({ from, to: '9999-12-31' }, rolledBefore);
      const ranges = [months, ...days, live];
      for (const range of ranges) expect(`${range.from} ${range.to}`).toMatch(/^9999-\S+ 9999-\S+$/);
      expect(ranges.flatMap(daysOf).sort()).toEqual(daysOf({ from, to: '9999-12-31' }));
    }
});

import { expect, test } from 'vitest';
import { fromClockField, toClockField } from './clock-field.ts';

test('the field for the clock shows the wall clock of the viewer, and means the same moment', () => {
  const noon = new Date(2026, 10, 6, 12, 5, 9);
  expect(toClockField(noon)).toBe('2026-11-06T12:05:09');
  expect(fromClockField(toClockField(noon))).toEqual(noon);
  // As browsers write it when the seconds are none.
  expect(fromClockField('2026-11-06T12:05')).toEqual(new Date(2026, 10, 6, 12, 5));
  expect(fromClockField('')).toBeUndefined();
});

import { fedHolidays } from '../../services/payments/src/clock/banking-days.ts';
import { addDays, type CivilDate, fromNewYork } from '../../services/payments/src/clock/new-york.ts';

export interface Period {
  name: string;
  from: CivilDate;
  days: number;
}

/** Autumn has the end of summer time and Thanksgiving, winter has Christmas and the year's end. */
export const PERIODS: readonly Period[] = [
  { name: 'autumn', from: '2034-10-25', days: 36 },
  { name: 'winter', from: '2034-12-13', days: 33 },
];

export function daysOf({ from, days }: Period): CivilDate[] {
  return Array.from({ length: days }, (_, day) => addDays(from, day));
}

export interface Landmarks {
  weekendDays: number;
  holidays: string[];
  clockChanges: CivilDate[];
  turnsOfYear: number;
}

const DAY_MS = 86_400_000;

/** What makes these days hard. */
export function landmarksOf(periods: readonly Period[]): Landmarks {
  const days = periods.flatMap(daysOf);
  const holidays = new Map(
    [...new Set(days.map((day) => Number(day.slice(0, 4))))]
      .flatMap(fedHolidays)
      .map(({ name, date }) => [date, name]),
  );
  const lengthOf = (day: CivilDate) =>
    fromNewYork(addDays(day, 1), '00:00').getTime() - fromNewYork(day, '00:00').getTime();
  return {
    weekendDays: days.filter((day) => [0, 6].includes(new Date(`${day}T12:00:00Z`).getUTCDay())).length,
    holidays: days.flatMap((day) => holidays.get(day) ?? []),
    clockChanges: days.filter((day) => lengthOf(day) !== DAY_MS),
    turnsOfYear: days.filter((day) => day.endsWith('-12-31')).length,
  };
}

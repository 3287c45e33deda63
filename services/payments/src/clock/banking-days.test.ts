import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addBankingDays, fedHolidays, isBankingDay, nextBankingDay } from './banking-days.ts';
import { addDays, fromNewYork, toNewYork } from './new-york.ts';

const dates = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2099-12-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

describe('fedHolidays', () => {
  it.each([
    [
      2026,
      [
        '2026-01-01',
        '2026-01-19',
        '2026-02-16',
        '2026-05-25',
        '2026-06-19',
        '2026-07-04',
        '2026-09-07',
        '2026-10-12',
        '2026-11-11',
        '2026-11-26',
        '2026-12-25',
      ],
    ],
    [
      2027,
      [
        '2027-01-01',
        '2027-01-18',
        '2027-02-15',
        '2027-05-31',
        '2027-06-19',
        '2027-07-05',
        '2027-09-06',
        '2027-10-11',
        '2027-11-11',
        '2027-11-25',
        '2027-12-25',
      ],
    ],
  ])('lists those of %i', (year, expected) => {
    expect(fedHolidays(year).map((holiday) => holiday.date)).toEqual(expected);
  });

  it('knows from which year a holiday was kept', () => {
    const names = (year: number) => fedHolidays(year).map((holiday) => holiday.name);
    expect(names(2021)).not.toContain('Juneteenth');
    expect(names(2022)).toContain('Juneteenth');
    expect(isBankingDay('2021-06-18')).toBe(true);
    expect(isBankingDay('2022-06-20')).toBe(false);
  });
});

describe('isBankingDay', () => {
  it.each([
    ['2026-07-03', true, 'the Friday before a holiday on a Saturday'],
    ['2026-07-04', false, 'that Saturday'],
    ['2026-07-06', true, 'the Monday after it'],
    ['2027-12-24', true, 'the Friday before Christmas on a Saturday'],
    ['2027-12-25', false, 'Christmas on a Saturday'],
    ['2027-12-27', true, 'the Monday after it'],
    ['2027-12-31', true, 'the Friday before a New Year on a Saturday'],
    ['2028-01-01', false, 'that New Year'],
    ['2028-01-03', true, 'the first Monday of 2028'],
    ['2023-01-02', false, 'the Monday after a New Year on a Sunday'],
    ['2027-07-05', false, 'the Monday after Independence Day on a Sunday'],
    ['2026-11-26', false, 'Thanksgiving'],
    ['2026-11-27', true, 'the Friday after Thanksgiving'],
    ['2026-03-08', false, 'the Sunday on which clocks go forward'],
    ['2026-12-31', true, 'the last day of a year'],
  ])('%s: %s (%s)', (date, expected) => {
    expect(isBankingDay(date)).toBe(expected);
  });

  it('refuses what is no date', () => {
    expect(() => isBankingDay('2026-13-01')).toThrow(RangeError);
    expect(() => isBankingDay('tomorrow')).toThrow(RangeError);
  });

  it('is true on 248 to 253 days of any year', () => {
    for (let year = 2022; year < 2100; year += 1) {
      let count = 0;
      for (let day = `${year}-01-01`; day.startsWith(String(year)); day = addDays(day, 1))
        if (isBankingDay(day)) count += 1;
      expect(count).toBeGreaterThanOrEqual(248);
      expect(count).toBeLessThanOrEqual(253);
    }
  });
});

describe('nextBankingDay and addBankingDays', () => {
  it.each([
    ['2026-11-20', '2026-11-23'],
    ['2026-11-25', '2026-11-27'],
    ['2026-12-24', '2026-12-28'],
    ['2026-12-31', '2027-01-04'],
    ['2027-12-31', '2028-01-03'],
  ])('after %s comes %s', (date, expected) => {
    expect(nextBankingDay(date)).toBe(expected);
  });

  it.each([
    ['2026-11-24', 2, '2026-11-27'],
    ['2026-12-30', 2, '2027-01-04'],
    ['2026-07-02', 2, '2026-07-06'],
    ['2026-11-21', 0, '2026-11-23'],
    ['2026-11-21', 1, '2026-11-23'],
    ['2026-11-23', 0, '2026-11-23'],
  ])('%s and %i banking days is %s', (date, days, expected) => {
    expect(addBankingDays(date, days)).toBe(expected);
  });

  it('refuses to go back, and parts of days', () => {
    for (const days of [-1, 0.5]) expect(() => addBankingDays('2026-11-23', days)).toThrow(RangeError);
  });

  it('skips closed days only, and adds up', () => {
    fc.assert(
      fc.property(dates, fc.nat({ max: 12 }), fc.nat({ max: 12 }), (date, a, b) => {
        const next = nextBankingDay(date);
        expect(isBankingDay(next)).toBe(true);
        for (let day = addDays(date, 1); day < next; day = addDays(day, 1))
          expect(isBankingDay(day)).toBe(false);
        expect(addBankingDays(addBankingDays(date, a + 1), b)).toBe(addBankingDays(date, a + 1 + b));
      }),
    );
  });
});

describe('New York time', () => {
  it.each([
    ['2026-03-08T06:59:59.999Z', '2026-03-08', '01:59'],
    ['2026-03-08T07:00:00.000Z', '2026-03-08', '03:00'],
    ['2026-11-01T05:59:00.000Z', '2026-11-01', '01:59'],
    ['2026-11-01T06:00:00.000Z', '2026-11-01', '01:00'],
    ['2027-01-01T04:59:00.000Z', '2026-12-31', '23:59'],
    ['2026-07-01T04:00:00.000Z', '2026-07-01', '00:00'],
  ])('%s is %s %s', (instant, date, time) => {
    expect(toNewYork(new Date(instant))).toEqual({ date, time });
  });

  it.each([
    ['2026-03-06', '22:45', '2026-03-07T03:45:00.000Z'],
    ['2026-03-09', '08:30', '2026-03-09T12:30:00.000Z'],
    ['2026-03-08', '02:30', '2026-03-08T07:30:00.000Z'],
    ['2026-11-01', '01:30', '2026-11-01T05:30:00.000Z'],
    ['2026-10-30', '10:30', '2026-10-30T14:30:00.000Z'],
    ['2026-11-02', '10:30', '2026-11-02T15:30:00.000Z'],
  ])('%s %s is %s', (date, time, instant) => {
    expect(fromNewYork(date, time).toISOString()).toBe(instant);
  });

  it('refuses what is no time', () => {
    expect(() => fromNewYork('2026-11-02', '24:00')).toThrow(RangeError);
  });

  it('there and back is the same wall time, and back and there the same minute outside the repeated hour', () => {
    fc.assert(
      fc.property(fc.integer({ min: 946_684_800_000, max: 4_070_908_800_000 }), (at) => {
        const minute = Math.floor(at / 60_000) * 60_000;
        const wall = toNewYork(new Date(minute));
        const again = fromNewYork(wall.date, wall.time);
        expect(toNewYork(again)).toEqual(wall);
        expect([0, 3_600_000]).toContain(minute - again.getTime());
      }),
    );
  });
});

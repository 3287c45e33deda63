import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBankingDay } from '../../../clock/banking-days.ts';
import { fromNewYork, toNewYork } from '../../../clock/new-york.ts';
import { RETURN_REASONS, type ReturnCode } from '../codes/codes.ts';
import { DEFAULT_ACH_TERMS } from './terms.ts';
import { debitGoodAt, isUntimely, nextWindow, returnDeadline } from './windows.ts';

type Row = { at: [string, string]; sameDay: boolean; leaves: [string, string]; settles: [string, string] };

function ask(at: [string, string], sameDay: boolean, amountCents = 10_000) {
  return nextWindow({ now: fromNewYork(...at), amountCents, sameDay });
}

describe('nextWindow', () => {
  const rows: Record<string, Row> = {
    'the first same-day window': {
      at: ['2026-11-16', '09:00'],
      sameDay: true,
      leaves: ['2026-11-16', '10:15'],
      settles: ['2026-11-16', '13:00'],
    },
    'the instant at which a file leaves is too late for it': {
      at: ['2026-11-16', '10:15'],
      sameDay: true,
      leaves: ['2026-11-16', '14:30'],
      settles: ['2026-11-16', '17:00'],
    },
    'the last same-day window': {
      at: ['2026-11-16', '16:29'],
      sameDay: true,
      leaves: ['2026-11-16', '16:30'],
      settles: ['2026-11-16', '18:00'],
    },
    'after the last same-day window tonight is sooner than tomorrow': {
      at: ['2026-11-16', '16:30'],
      sameDay: true,
      leaves: ['2026-11-16', '22:30'],
      settles: ['2026-11-17', '08:30'],
    },
    'after the standard cutoff the same day of the next banking day is sooner': {
      at: ['2026-11-16', '22:30'],
      sameDay: true,
      leaves: ['2026-11-17', '10:15'],
      settles: ['2026-11-17', '13:00'],
    },
    'standard, in the morning': {
      at: ['2026-11-16', '09:00'],
      sameDay: false,
      leaves: ['2026-11-16', '22:30'],
      settles: ['2026-11-17', '08:30'],
    },
    'standard, after the cutoff': {
      at: ['2026-11-16', '23:00'],
      sameDay: false,
      leaves: ['2026-11-17', '22:30'],
      settles: ['2026-11-18', '08:30'],
    },
    'Friday evening counts the weekend': {
      at: ['2026-11-20', '18:00'],
      sameDay: true,
      leaves: ['2026-11-20', '22:30'],
      settles: ['2026-11-23', '08:30'],
    },
    'Sunday, same day': {
      at: ['2026-11-22', '12:00'],
      sameDay: true,
      leaves: ['2026-11-23', '10:15'],
      settles: ['2026-11-23', '13:00'],
    },
    'Sunday, standard': {
      at: ['2026-11-22', '12:00'],
      sameDay: false,
      leaves: ['2026-11-23', '22:30'],
      settles: ['2026-11-24', '08:30'],
    },
    'the evening before Thanksgiving': {
      at: ['2026-11-25', '20:00'],
      sameDay: false,
      leaves: ['2026-11-25', '22:30'],
      settles: ['2026-11-27', '08:30'],
    },
    'Thanksgiving itself': {
      at: ['2026-11-26', '09:00'],
      sameDay: true,
      leaves: ['2026-11-27', '10:15'],
      settles: ['2026-11-27', '13:00'],
    },
    'the Friday before a holiday on a Saturday is open': {
      at: ['2026-07-03', '09:00'],
      sameDay: true,
      leaves: ['2026-07-03', '10:15'],
      settles: ['2026-07-03', '13:00'],
    },
    'over the change to summer time': {
      at: ['2026-03-06', '20:00'],
      sameDay: false,
      leaves: ['2026-03-06', '22:30'],
      settles: ['2026-03-09', '08:30'],
    },
    'over the change to winter time': {
      at: ['2026-10-30', '20:00'],
      sameDay: false,
      leaves: ['2026-10-30', '22:30'],
      settles: ['2026-11-02', '08:30'],
    },
    "over the year's end": {
      at: ['2026-12-31', '20:00'],
      sameDay: false,
      leaves: ['2026-12-31', '22:30'],
      settles: ['2027-01-04', '08:30'],
    },
  };

  it.each(Object.entries(rows))('%s', (_name, row) => {
    const window = ask(row.at, row.sameDay);
    expect(window.deadline).toEqual(fromNewYork(...row.leaves));
    expect(window.settlesAt).toEqual(fromNewYork(...row.settles));
    expect(window.effectiveDate).toBe(row.settles[0]);
    expect(window.sameDay).toBe(row.leaves[0] === row.settles[0]);
  });

  it('counts hours of UTC over a change of the clocks', () => {
    expect(ask(['2026-03-06', '20:00'], false).settlesAt.toISOString()).toBe('2026-03-09T12:30:00.000Z');
    expect(ask(['2026-10-30', '20:00'], false).settlesAt.toISOString()).toBe('2026-11-02T13:30:00.000Z');
  });

  it('gives the same day up to the limit and not a cent above', () => {
    expect(ask(['2026-11-16', '09:00'], true, 100_000_000).sameDay).toBe(true);
    expect(ask(['2026-11-16', '09:00'], true, 100_000_001).sameDay).toBe(false);
  });

  it('marks same-day batches with their hour of settlement', () => {
    expect(ask(['2026-11-16', '09:00'], true).descriptiveDate).toBe('SD1300');
    expect(ask(['2026-11-16', '09:00'], false).descriptiveDate).toBe('');
  });

  it('takes margin and windows as data', () => {
    const now = fromNewYork('2026-11-16', '10:05');
    const question = { now, amountCents: 1, sameDay: true };
    expect(nextWindow({ ...question, marginMinutes: 30 }).deadline).toEqual(
      fromNewYork('2026-11-16', '14:15'),
    );
    expect(nextWindow({ ...question, marginMinutes: 0 }).deadline).toEqual(
      fromNewYork('2026-11-16', '10:30'),
    );
    const terms = { ...DEFAULT_ACH_TERMS, sameDayWindows: [{ deadline: '12:00', settlesAt: '15:00' }] };
    expect(nextWindow({ ...question, terms }).settlesAt).toEqual(fromNewYork('2026-11-16', '15:00'));
  });

  it('always leaves later than now on a banking day, and settles after it left', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2024-01-01'), max: new Date('2060-01-01'), noInvalidDate: true }),
        fc.boolean(),
        (now, sameDay) => {
          const window = nextWindow({ now, amountCents: 5, sameDay });
          expect(window.deadline.getTime()).toBeGreaterThan(now.getTime());
          expect(window.settlesAt.getTime()).toBeGreaterThan(window.deadline.getTime());
          expect(isBankingDay(window.effectiveDate)).toBe(true);
          expect(isBankingDay(toNewYork(window.networkDeadline).date)).toBe(true);
          expect(toNewYork(window.settlesAt).date).toBe(window.effectiveDate);
        },
      ),
    );
  });
});

describe('returnDeadline', () => {
  const settled = fromNewYork('2026-11-24', '08:30');

  it('is the opening of the second banking day for most codes', () => {
    expect(returnDeadline('R01', settled)).toEqual(fromNewYork('2026-11-27', '08:30'));
    expect(returnDeadline('R29', settled)).toEqual(fromNewYork('2026-11-27', '08:30'));
    expect(debitGoodAt(settled)).toEqual(fromNewYork('2026-11-27', '08:30'));
  });

  it('is the opening of the banking day after sixty days for consumers', () => {
    // The sixtieth day is Saturday, 23 January 2027.
    expect(returnDeadline('R10', settled)).toEqual(fromNewYork('2027-01-25', '08:30'));
    // And here Friday, 29 January.
    expect(returnDeadline('R10', fromNewYork('2026-11-30', '08:30'))).toEqual(
      fromNewYork('2027-02-01', '08:30'),
    );
  });

  it('[P-5.17] has passed a moment after it, and never for a code that is not known or has no day', () => {
    const terms = DEFAULT_ACH_TERMS;
    const untimely = (code: string, at: Date) =>
      isUntimely({ code, at, entry: { settlesAt: settled }, terms });
    const deadline = fromNewYork('2026-11-27', '08:30');
    expect(untimely('R01', deadline)).toBe(false);
    expect(untimely('R01', new Date(deadline.getTime() + 1))).toBe(true);
    for (const code of ['R99', 'R06']) expect(untimely(code, new Date('2040-01-01'))).toBe(false);
  });

  it('is what makes a debit good, however long our own hold is', () => {
    const terms = { ...DEFAULT_ACH_TERMS, debitHoldBankingDays: 0 };
    expect(debitGoodAt(settled, terms)).toEqual(fromNewYork('2026-11-27', '08:30'));
  });

  it('counts five banking days for dishonored returns, and none where banks agree', () => {
    expect(returnDeadline('R68', settled)).toEqual(fromNewYork('2026-12-02', '08:30'));
    expect(returnDeadline('R06', settled)).toBeNull();
    expect(returnDeadline('R31', settled)).toBeNull();
  });

  it('gives sixty days to exactly the consumer codes', () => {
    const sixty = [...RETURN_REASONS.values()].filter((reason) => reason.window === 'sixty_calendar_days');
    expect(sixty.map((reason) => reason.code)).toEqual([
      'R05',
      'R07',
      'R10',
      'R11',
      'R33',
      'R37',
      'R38',
      'R51',
      'R52',
      'R53',
    ]);
  });

  it('is after settlement for every code that has one', () => {
    for (const code of RETURN_REASONS.keys()) {
      const deadline = returnDeadline(code as ReturnCode, settled);
      if (deadline) expect(deadline.getTime()).toBeGreaterThan(settled.getTime());
    }
  });
});

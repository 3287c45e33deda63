import { describe, expect, it } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import type { RailRequest } from '../../rail.ts';
import { LIVE_SCOPE, SHARED_TEST_SCOPE } from '../entries/scope.ts';
import { createPace, debitIsGoodAt, Forecasts, fileDatesOf } from '../schedule/schedule.ts';
import { DEFAULT_ACH_TERMS } from '../schedule/terms.ts';
import { createAchCarrier } from './orders.ts';
import { originatorProblems, SANDBOX_ORIGINATOR } from './originator.ts';

const pace = createPace(2_000);
const rail = createAchCarrier({ pace, isConfigured: (mode) => mode === 'test' });

const bank = { type: 'bank_account', railsSend: ['ach'], railsReceive: ['ach'] } as const;
const balance = { type: 'balance', railsSend: ['rtp', 'ach'], railsReceive: ['rtp', 'ach'] } as const;

function ask(changes: Partial<RailRequest> = {}) {
  return rail.possible({
    mode: 'test',
    amount: 100_00,
    source: bank,
    destination: bank,
    at: fromNewYork('2026-11-16', '09:00'),
    ...changes,
  });
}

describe('possible', () => {
  it('names every obstacle, and then offers nothing', () => {
    expect(
      ask({
        mode: 'live',
        amount: pace.terms.amountMaxCents + 1,
        source: { ...bank, railsSend: [] },
        destination: { ...bank, railsReceive: ['rtp'] },
      }),
    ).toEqual({
      rail: 'ach',
      obstacles: ['source_cannot_send', 'destination_cannot_receive', 'amount_over_limit', 'not_configured'],
      options: [],
    });
    expect(ask({ source: balance, destination: balance }).obstacles).toEqual(['not_between_balances']);
    expect(ask({ amount: pace.terms.amountMaxCents }).obstacles).toEqual([]);
  });

  it('takes a night for each entry, and waits for debits to be good', () => {
    const settles = (changes: Partial<RailRequest>) => ask(changes).options[0]?.settlesAt;
    expect(settles({})).toEqual(fromNewYork('2026-11-20', '08:30'));
    expect(settles({ source: balance })).toEqual(fromNewYork('2026-11-17', '08:30'));
    expect(settles({ destination: balance })).toEqual(fromNewYork('2026-11-19', '08:30'));
  });

  it('offers the same day where a window of it is had and the amount is within its limit', () => {
    const options = (changes: Partial<RailRequest>) =>
      ask(changes).options.map(({ fee, sameDay, settlesAt }) => [fee, sameDay, settlesAt.toISOString()]);
    expect(options({})).toEqual([
      [20, false, '2026-11-20T13:30:00.000Z'],
      // The debit takes the first window of the day, and the credit the first of the day on which the debit is good.
      [50, true, '2026-11-18T18:00:00.000Z'],
    ]);
    expect(options({ amount: pace.terms.sameDayAmountMaxCents })).toHaveLength(2);
    expect(options({ amount: pace.terms.sameDayAmountMaxCents + 1 })).toHaveLength(1);
    // One leg in the evening leaves tonight either way.
    const evening = fromNewYork('2026-11-16', '20:00');
    expect(options({ source: balance, at: evening })).toHaveLength(1);
    // Of two, the second still gains.
    expect(options({ at: evening })).toEqual([
      [20, false, '2026-11-20T13:30:00.000Z'],
      [50, true, '2026-11-19T18:00:00.000Z'],
    ]);
  });
});

describe('Forecasts', () => {
  it('gives the same answers as a fresh one, whatever was asked before', () => {
    const kept = new Forecasts(DEFAULT_ACH_TERMS);
    const hours = ['03:00', '10:14', '10:15', '10:16', '14:30', '16:29', '22:29', '22:30', '23:59', '09:00'];
    for (const day of ['2026-11-20', '2026-11-25', '2026-11-22', '2026-12-31', '2026-11-20'])
      for (const hour of hours)
        for (const legs of ['debit', 'credit', 'debit_then_credit'] as const)
          for (const sameDay of [true, false]) {
            const at = fromNewYork(day, hour);
            const { settlesAt } = new Forecasts(DEFAULT_ACH_TERMS).at(at, { legs, sameDay });
            expect(kept.at(at, { legs, sameDay })).toMatchObject({ settlesAt });
          }
  });

  it('is kept until the file leaves', () => {
    const forecasts = new Forecasts(DEFAULT_ACH_TERMS);
    const question = { legs: 'debit_then_credit', sameDay: false } as const;
    const first = forecasts.at(fromNewYork('2026-11-16', '09:00'), question);
    expect(forecasts.at(fromNewYork('2026-11-16', '22:29'), question)).toBe(first);
    expect(forecasts.at(fromNewYork('2026-11-16', '22:30'), question)).not.toBe(first);
  });
});

describe('debitIsGoodAt', () => {
  it('is settlement, or so many banking days later as the terms want', () => {
    const settled = fromNewYork('2026-11-24', '08:30');
    expect(debitIsGoodAt(settled, { ...DEFAULT_ACH_TERMS, debitHoldBankingDays: 0 })).toEqual(settled);
    expect(debitIsGoodAt(settled, DEFAULT_ACH_TERMS)).toEqual(fromNewYork('2026-11-27', '08:30'));
  });
});

describe('fileDatesOf', () => {
  const times = (due: [string, string], settles: [string, string]) => ({
    amount: 100,
    dueAt: fromNewYork(...due),
    settlesAt: fromNewYork(...settles),
  });

  it('says the day of settlement, and the hour where it is the same day', () => {
    const standard = times(['2026-11-20', '22:30'], ['2026-11-23', '08:30']);
    expect(
      fileDatesOf({ ...standard, scope: LIVE_SCOPE, sameDay: false }, standard.dueAt, pace.terms),
    ).toEqual({
      effectiveDate: '2026-11-23',
      descriptiveDate: '',
    });
    const hurried = times(['2026-11-20', '14:30'], ['2026-11-20', '17:00']);
    expect(fileDatesOf({ ...hurried, scope: LIVE_SCOPE, sameDay: true }, hurried.dueAt, pace.terms)).toEqual({
      effectiveDate: '2026-11-20',
      descriptiveDate: 'SD1700',
    });
  });

  it.each([
    ['2026-11-16', '09:00', '2026-11-16', 'SD1300'],
    ['2026-11-16', '23:00', '2026-11-18', ''],
    ['2026-11-22', '12:00', '2026-11-24', ''],
  ])('without windows, on %s %s, a file says what a bank would take then', (date, time, day, mark) => {
    const asOf = fromNewYork(date, time);
    const entry = { amount: 100, dueAt: asOf, settlesAt: asOf, scope: SHARED_TEST_SCOPE, sameDay: true };
    expect(fileDatesOf(entry, asOf, pace.terms)).toMatchObject({ effectiveDate: day, descriptiveDate: mark });
  });
});

describe('originatorProblems', () => {
  it('finds nothing in good details and names each bad one', () => {
    expect(originatorProblems(SANDBOX_ORIGINATOR)).toEqual([]);
    const bad = {
      odfi: '1100000',
      companyName: '',
      companyId: '12 4567890',
      entryDescription: 'LONGER THAN TEN',
      immediateDestination: '061000145',
      immediateOrigin: '12345',
      destinationName: 'BANK',
      originName: 'Bänk',
    };
    expect(originatorProblems(bad)).toEqual([
      expect.stringContaining('odfi'),
      expect.stringContaining('immediateDestination'),
      expect.stringContaining('immediateOrigin'),
      expect.stringContaining('companyName'),
      expect.stringContaining('entryDescription'),
      expect.stringContaining('originName'),
      expect.stringContaining('companyId'),
    ]);
  });
});

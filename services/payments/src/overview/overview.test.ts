import { expect, test } from 'vitest';
import { type Figure, lastDays, overviewOf, wholeHours } from './overview.ts';

const span = { from: new Date('2026-11-16T00:00:00Z'), to: new Date('2026-11-18T00:00:00Z') };
const hour = new Date('2026-11-16T10:00:00Z');

const figure = (status: Figure['status'], payments: number, more: Partial<Figure> = {}): Figure => ({
  ...{ hour, rail: 'ach', status, payments, amount: payments * 100 },
  ...more,
});

test('volume and success are of what completed, returned payments are no success', () => {
  const figures = [figure('completed', 6), figure('failed', 2), figure('returned', 2), figure('pending', 5)];
  expect(overviewOf(figures, [], span)).toMatchObject({ payments: 15, volume: 600, successRate: 0.6 });
  expect(overviewOf([figure('pending', 5)], [], span)).toMatchObject({ volume: 0, successRate: null });
});

test('every day is there, with all its payments and what completed of them', () => {
  const figures = [figure('completed', 1), figure('completed', 2, { rail: 'rtp' }), figure('failed', 4)];
  const { byDay, byRail } = overviewOf(figures, [], span);
  expect(byDay).toEqual([
    { day: '2026-11-16', payments: 7, amount: 300 },
    { day: '2026-11-17', payments: 0, amount: 0 },
  ]);
  expect(byRail).toEqual([
    { rail: 'ach', payments: 5, amount: 500 },
    { rail: 'rtp', payments: 2, amount: 200 },
  ]);
});

test('half of the payments took no longer than the median, and 19 of 20 no longer than the other', () => {
  const steps = (...counts: [step: number, payments: number][]) => {
    const times = counts.map(([step, payments]) => ({ step, payments }));
    const { settleSecondsMedian, settleSecondsP95 } = overviewOf([], times, span);
    return [settleSecondsMedian, settleSecondsP95];
  };
  // Four steps double the time, which begins at a millisecond.
  const [quick, slow] = [2 ** (0.5 / 4) / 1_000, 2 ** (40.5 / 4) / 1_000];
  expect(steps()).toEqual([null, null]);
  expect(steps([40, 1], [0, 1])).toEqual([quick, slow]);
  expect(steps([0, 19], [40, 1])).toEqual([quick, quick]);
  expect(steps([0, 18], [40, 2])).toEqual([quick, slow]);
  expect(steps([-1, 0], [0, 1])).toEqual([quick, quick]);
});

test('days are whole ones of UTC up to this very moment, and figures are read by whole hours', () => {
  const now = new Date('2026-11-17T10:00:00.000Z');
  const days = lastDays(now, 2);
  expect([days.from.toISOString(), days.to.toISOString()]).toEqual([
    '2026-11-16T00:00:00.000Z',
    '2026-11-17T10:00:00.001Z',
  ]);
  expect(wholeHours(days).to).toEqual(new Date('2026-11-17T11:00:00.000Z'));
  expect(wholeHours({ from: new Date(now.getTime() - 1), to: now })).toEqual({
    from: new Date('2026-11-17T09:00:00.000Z'),
    to: now,
  });
});

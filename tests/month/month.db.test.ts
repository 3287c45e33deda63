// The short form of `npm run month`: the same two months with fewer payments.
import { expect, test } from 'vitest';
import { isGood } from './report.ts';
import { simulateMonths } from './simulation.ts';

const PAYMENTS = 180;

test('two months of payments of every kind: books agree, none is stuck, every webhook is out', {
  timeout: 180_000,
}, async () => {
  const report = await simulateMonths({ payments: PAYMENTS, seed: 20_821_101, mornings: 1 });
  expect(report).toMatchObject({
    payments: PAYMENTS + report.crowd,
    mornings: { planted: 1, wrong: [] },
    stuck: 0,
    disagreements: [],
    wrongEnds: [],
    errors: [],
    landmarks: { clockChanges: ['2034-11-05'], turnsOfYear: 1 },
  });
  expect(report.landmarks.holidays).toEqual([
    'Veterans Day',
    'Thanksgiving Day',
    'Christmas Day',
    "New Year's Day",
  ]);
  expect(report.aside.planted).toBeGreaterThan(0);
  expect(report.aside.found).toBe(report.aside.planted);
  expect(report.webhooks.arrived).toBe(report.webhooks.events);
  expect(report.webhooks.events).toBeGreaterThan(2 * PAYMENTS);
  expect(isGood(report)).toBe(true);
});

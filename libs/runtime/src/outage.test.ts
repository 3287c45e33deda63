import { expect, test } from 'vitest';
import { createLoggedOutage, createOutage, type Outage } from './outage.ts';

function recorded(): { told: unknown[]; outage: Outage } {
  const told: unknown[] = [];
  const outage = createOutage({ began: (error) => told.push(error), ended: () => told.push('ended') });
  return { told, outage };
}

test('an outage is told when it begins and when it ends, however often it is tried', () => {
  const { told, outage } = recorded();
  outage.worked();
  for (const error of ['first', 'second', 'third']) outage.failed(error);
  expect(told).toEqual(['first']);
  outage.worked();
  outage.worked();
  expect(told).toEqual(['first', 'ended']);
  outage.failed('again');
  expect(told).toEqual(['first', 'ended', 'again']);
});

test('it lasts until it works for all for whom it failed', () => {
  const { told, outage } = recorded();
  outage.failed('away', 'ada');
  outage.failed('away', 'bob');
  outage.worked('ada');
  outage.worked('somebody for whom it never failed');
  expect(told).toEqual(['away']);
  outage.worked('bob');
  expect(told).toEqual(['away', 'ended']);
});

test('who leaves ends nothing, and leaves the next failure to be told', () => {
  const { told, outage } = recorded();
  outage.failed('away', 'ada');
  outage.left('ada');
  outage.failed('still away', 'bob');
  expect(told).toEqual(['away', 'still away']);
});

test('the log gets a line for each, the last one a warning', () => {
  const lines: unknown[][] = [];
  const log = {
    error: (...line: unknown[]) => void lines.push(['error', ...line]),
    warn: (...line: unknown[]) => void lines.push(['warn', ...line]),
  };
  const outage = createLoggedOutage(log, { began: 'nobody listens', ended: 'they listen again' });
  outage.failed('away');
  outage.failed('away');
  outage.worked();
  expect(lines).toEqual([
    ['error', { err: 'away' }, 'nobody listens'],
    ['warn', 'they listen again'],
  ]);
});

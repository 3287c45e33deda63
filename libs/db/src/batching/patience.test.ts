import { expect, test } from 'vitest';
import { patienceAmongProcesses } from './patience.ts';

const quick = { size: 8, tookMs: 2 };
const slow = { size: 8, tookMs: 10 };

test('small batches wait where processes keep each other waiting, and nowhere else', () => {
  let several = true;
  const patience = patienceAmongProcesses(() => several);
  for (let batch = 0; batch < 50; batch += 1) expect(patience(quick)).toBe(0);
  expect(patience(slow)).toBe(0);
  for (let batch = 0; batch < 50; batch += 1) patience(slow);
  expect(patience(slow)).toBeGreaterThan(5);
  expect(patience({ ...slow, size: 32 })).toBe(0);
  several = false;
  expect(patience(slow)).toBe(0);
});

test('what is slow for long is what the database takes, and no longer waits for others', () => {
  const patience = patienceAmongProcesses(() => true);
  patience(quick);
  for (let batch = 0; batch < 500; batch += 1) patience(slow);
  expect(patience(slow)).toBeGreaterThan(5);
  for (let batch = 0; batch < 500; batch += 1) patience(slow);
  expect(patience(slow)).toBe(0);
});

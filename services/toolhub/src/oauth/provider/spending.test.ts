import { expect, test } from 'vitest';
import { isLateReuse } from './spending.ts';

const NOW_MS = Date.UTC(2026, 10, 1);
const at = (ms: number) => new Date(NOW_MS + ms);
const used = { payload: {}, used: true, usedAt: at(0), exchangedAt: at(200), contendedUntil: null };

test('[TH-4.6] a reuse is what arrives when the exchange and everybody who lost it are through', () => {
  expect(isLateReuse({ ...used, used: false }, at(60_000))).toBe(false);
  expect([isLateReuse(used, at(200)), isLateReuse(used, at(201))]).toEqual([false, true]);
  const contended = { ...used, contendedUntil: at(900) };
  expect([isLateReuse(contended, at(900)), isLateReuse(contended, at(901))]).toEqual([false, true]);
});

test('[TH-4.6] a process that died before it had told of its exchange hides a reuse for ten seconds, and no longer', () => {
  const died = { ...used, exchangedAt: null };
  expect([isLateReuse(died, at(10_000)), isLateReuse(died, at(10_001))]).toEqual([false, true]);
  // Of a code that was taken back with its consent nobody knows when it was used.
  expect(isLateReuse({ ...died, usedAt: null }, at(0))).toBe(true);
});

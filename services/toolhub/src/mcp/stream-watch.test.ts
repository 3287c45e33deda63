import { createOutage } from '@libs/runtime';
import { afterEach, expect, test } from 'vitest';
import { errors } from '../errors.ts';
import { createStreamWatch, type WatchedStream } from './stream-watch.ts';

const CHECK_MS = 5;
const told: unknown[] = [];
const stops: (() => void)[] = [];
let ended: string[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  told.length = 0;
  ended = [];
});

function watchAll(checks: Record<string, WatchedStream['check']>): void {
  const outage = createOutage({ began: (error) => told.push(error), ended: () => told.push('ended') });
  const watch = createStreamWatch({ outage, checkMs: CHECK_MS });
  for (const [name, check] of Object.entries(checks))
    stops.push(watch({ check, end: () => void ended.push(name) }));
}

test('an outage is told once, whatever is open and however long it lasts, and the next one again', async () => {
  let isAway = true;
  const looks = { ada: 0, bob: 0 };
  const ask = (who: keyof typeof looks) => async () => {
    looks[who] += 1;
    if (isAway) throw new Error('connection refused');
  };
  // A token that is known without the database is always good, which ends nobody's outage.
  watchAll({ ada: ask('ada'), operator: () => 'known', bob: ask('bob') });
  const looksMore = async () => {
    const before = { ...looks };
    await expect.poll(() => looks.ada > before.ada + 3 && looks.bob > before.bob + 3).toBe(true);
  };
  await looksMore();
  expect(told).toEqual([new Error('connection refused')]);
  isAway = false;
  await looksMore();
  expect(told).toEqual([new Error('connection refused'), 'ended']);
  isAway = true;
  await looksMore();
  expect(told).toHaveLength(3);
  expect(ended).toEqual([]);
});

test('a stream that ends in an outage leaves the next one to be told', async () => {
  watchAll({ ada: () => Promise.reject(new Error('away')) });
  await expect.poll(() => told.length).toBe(1);
  stops.pop()?.();
  watchAll({ ada: () => Promise.reject(new Error('away')) });
  await expect.poll(() => told.length).toBe(2);
});

test('who may no longer listen is ended, also after an outage, and nobody else', async () => {
  let fate: 'away' | 'revoked' = 'away';
  watchAll({
    ada: async () => {
      throw fate === 'away' ? new Error('away') : errors.unauthenticated();
    },
    bob: () => 'known',
  });
  await expect.poll(() => told.length).toBe(1);
  expect(ended).toEqual([]);
  fate = 'revoked';
  await expect.poll(() => ended).toContain('ada');
  expect(told).toEqual([new Error('away'), 'ended']);
  expect(ended).not.toContain('bob');
});

test('looks that get no answer do not add up', async () => {
  let waiting = 0;
  let others = 0;
  watchAll({
    ada: () => {
      waiting += 1;
      return new Promise(() => {});
    },
    bob: () => {
      others += 1;
    },
  });
  await expect.poll(() => others).toBeGreaterThan(3);
  expect(waiting).toBe(1);
});

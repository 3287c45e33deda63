// What becomes of jobs with one key of which some are tried again.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTrial, type Trial } from '../test/trial.ts';
import { enqueueJobs } from './index.ts';

const HOUR_MS = 3_600_000;

let trial: Trial;
beforeEach(async () => {
  trial = await openTrial();
});
afterEach(() => trial.close());

const add = (payload: unknown, more: { key?: string; runAt?: Date } = {}) =>
  enqueueJobs(trial.database, 'public', [{ name: 'task', payload, key: 'k', ...more }]);

async function standing(): Promise<unknown[]> {
  const { rows } = await trial.database.query(`select payload, attempts, last_error from jobs order by id`);
  return rows;
}

test('each that is added while those before it wait to be tried again takes their place', async () => {
  await trial.work(() => Promise.reject(new Error('away')), { retryDelayMs: () => HOUR_MS });
  for (const payload of ['first', 'second', 'third']) {
    await add(payload);
    await expect.poll(standing).toEqual([{ payload, attempts: 1, last_error: 'away' }]);
  }
  await add('of another', { key: 'other' });
  await expect.poll(() => trial.errors.length).toBe(4);
  await expect.poll(trial.waiting).toBe(2);
});

test('one that failed leaves what is to be done, and its time, to the one that was added meanwhile', async () => {
  const begun = Promise.withResolvers<void>();
  const fails = Promise.withResolvers<void>();
  const tried: unknown[] = [];
  await trial.work(
    async (jobs) => {
      tried.push(...jobs.map(({ payload }) => payload));
      begun.resolve();
      if (tried.length === 1) await fails.promise;
    },
    { retryDelayMs: () => 0 },
  );
  await add('first');
  await begun.promise;
  await add('second', { runAt: new Date(Date.now() + HOUR_MS) });
  fails.reject(new Error('away'));
  await expect.poll(trial.waiting).toBe(0);
  expect(tried).toEqual(['first', 'second']);
});

test('one that is being tried is left to who tries it, though another of its key fails', async () => {
  const begun = Promise.withResolvers<void>();
  const ends = Promise.withResolvers<void>();
  const done: unknown[] = [];
  const handle = async ([job]: readonly { payload: unknown }[]) => {
    if (job?.payload === 'second') throw new Error('away');
    begun.resolve();
    await ends.promise;
    done.push(job?.payload);
  };
  await trial.work(handle, { batchMax: 1, concurrency: 2, retryDelayMs: () => HOUR_MS });
  await add('first');
  await begun.promise;
  await add('second');
  await expect.poll(() => trial.errors).toEqual([new Error('away')]);
  expect(await trial.waiting()).toBe(2);
  ends.resolve();
  await expect.poll(standing).toEqual([{ payload: 'second', attempts: 1, last_error: 'away' }]);
  expect(done).toEqual(['first']);
});

test('one that is given up stays, and the one that was added meanwhile is tried', async () => {
  await trial.work(() => Promise.reject(new Error('away')), { attemptsMax: 1 });
  await add('first');
  await expect.poll(trial.waiting).toBe(0);
  await add('second');
  await expect.poll(trial.waiting).toBe(0);
  expect(await standing()).toMatchObject([{ payload: 'first' }, { payload: 'second' }]);
});

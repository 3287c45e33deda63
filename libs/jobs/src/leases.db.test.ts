// A job belongs to one worker at a time: for how long, and what is left to who lost it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from '@libs/db';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTrial, type Trial } from '../test/trial.ts';
import { completeJobs, enqueueJobs, type Job, startWorker } from './index.ts';
import { claimJobs, extendLeases, failJob, LeaseLost } from './store.ts';

const HOUR_MS = 3_600_000;

let trial: Trial;
beforeEach(async () => {
  trial = await openTrial();
});
afterEach(() => trial.close());

test('a job that failed is tried again in time, however long the rest of its batch takes', async () => {
  const { promise: secondTry, resolve: tryAgain } = Promise.withResolvers<void>();
  let tries = 0;
  const handle = async ([job, ...others]: readonly Job[]) => {
    if (others.length > 0) throw new Error('each alone');
    if (job?.payload === 'slow') return secondTry;
    tries += 1;
    if (tries === 1) throw new Error('once');
    tryAgain();
  };
  await trial.add('failing', 'slow');
  // Several extensions of the batch fall into the delay.
  const options = { leaseMs: 300, retryDelayMs: () => 250 };
  await trial.work(handle, options);
  await expect.poll(() => tries).toBe(1);
  await trial.work(handle, options);
  await expect.poll(trial.waiting).toBe(0);
  expect(tries).toBe(2);
});

test('a job that takes longer than its lease stays with its worker', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const leaseMs = 300;
  let runs = 0;
  const handle = () => {
    runs += 1;
    return released;
  };
  await trial.add('long');
  await trial.work(handle, { leaseMs });
  await expect.poll(() => runs).toBe(1);
  await trial.work(handle, { leaseMs });
  const leasedUntilMs = async () => {
    const { rows } = await trial.database.query<{ ready_at: Date }>('select ready_at from jobs');
    return rows[0]?.ready_at.getTime() ?? 0;
  };
  const firstMs = await leasedUntilMs();
  await expect.poll(leasedUntilMs).toBeGreaterThan(firstMs + 2 * leaseMs);
  release();
  await expect.poll(trial.waiting).toBe(0);
  expect(runs).toBe(1);
});

test('a job that failed is given back behind the extension of its lease that is under way', async () => {
  const order: string[] = [];
  const { promise: extending, resolve: extensionBegins } = Promise.withResolvers<void>();
  const { promise: mayExtend, resolve: letExtend } = Promise.withResolvers<void>();
  const beside: Database = {
    ...trial.database,
    async query<Row extends object>(...asked: Parameters<Database['query']>) {
      const text = String(asked[0]);
      if (text.startsWith('update jobs set last_error')) order.push('given back');
      if (!text.startsWith('update jobs set ready_at')) return trial.database.query<Row>(...asked);
      extensionBegins();
      await mayExtend;
      const result = await trial.database.query<Row>(...asked);
      order.push('extended');
      return result;
    },
  };
  const handle = async () => {
    await extending;
    setImmediate(letExtend);
    throw new Error('no');
  };
  await trial.add('failing');
  const handlers = [{ name: 'task', handle, leaseMs: 300, attemptsMax: 1 }];
  const onError = (error: unknown) => trial.errors.push(error);
  trial.workers.push(await startWorker({ database: beside, handlers, now: () => new Date(), onError }));
  await expect.poll(trial.waiting).toBe(0);
  expect(order.at(-1)).toBe('given back');
});

test('a lease is extended once at a time, however long the transaction that completes its job hangs', async () => {
  const { promise: mayCommit, resolve: letCommit } = Promise.withResolvers<void>();
  const leaseMs = 90;
  let extending = 0;
  let mostAtOnce = 0;
  const beside: Database = {
    ...trial.database,
    async query<Row extends object>(...asked: Parameters<Database['query']>) {
      if (!String(asked[0]).startsWith('update jobs set ready_at'))
        return trial.database.query<Row>(...asked);
      extending += 1;
      mostAtOnce = Math.max(mostAtOnce, extending);
      return trial.database.query<Row>(...asked).finally(() => {
        extending -= 1;
      });
    },
  };
  const handle = (jobs: readonly Job[]) =>
    trial.database.transaction(async (tx) => {
      await completeJobs(tx, jobs);
      await mayCommit;
    });
  await trial.add('hanging');
  await trial.work(handle, { leaseMs }, { database: beside });
  await expect.poll(() => extending).toBe(1);
  for (let beats = 0; beats < 3; beats += 1) await sleep(leaseMs / 2);
  letCommit();
  await expect.poll(trial.waiting).toBe(0);
  expect(mostAtOnce).toBe(1);
});

test('who lost a job to another can neither complete, extend nor give it back', async () => {
  await trial.add('once');
  const claim = { name: 'task', limit: 1, leaseMs: 0 };
  const late = await claimJobs(trial.database, claim);
  const held = await claimJobs(trial.database, { ...claim, leaseMs: HOUR_MS });
  expect([late, held]).toMatchObject([[{ attempt: 1 }], [{ attempt: 2 }]]);
  const stored = async () => (await trial.database.query('select * from jobs')).rows;
  const before = await stored();
  await expect(completeJobs(trial.database, late)).rejects.toBeInstanceOf(LeaseLost);
  await extendLeases(trial.database, late, 0);
  await failJob(trial.database, late[0] as Job, { error: 'late', retryInMs: 0, leaseMs: 1_000 });
  expect(await stored()).toEqual(before);
  await completeJobs(trial.database, held);
  expect(await stored()).toEqual([]);
});

test('a worker that lost its lease cannot commit a second effect', async () => {
  let first = true;
  let tookOver = (): void => {};
  const expectSecond = new Promise<void>((done) => {
    tookOver = done;
  });
  const handle = async (jobs: readonly Job[]) => {
    const slow = first;
    first = false;
    if (slow) {
      // As if the lease had run out, and another worker came by.
      await trial.database.query('update jobs set ready_at = now()');
      await trial.database.query(`select pg_notify('public_jobs', 'task')`);
      await expectSecond;
    } else tookOver();
    await trial.database.transaction(async (tx) => {
      await tx.query('insert into effects values (1)');
      await completeJobs(tx, jobs);
    });
  };
  await trial.add('once');
  await trial.work(handle);
  await expect.poll(() => first).toBe(false);
  await trial.work(handle);
  await expect.poll(trial.waiting).toBe(0);
  await expect.poll(() => trial.errors.length).toBe(1);
  expect((await trial.database.query('select value from effects')).rows).toEqual([{ value: 1 }]);
});

test('what a handler completed with its effect is not completed again, and the rest of its batch is', async () => {
  const completions: unknown[] = [];
  const beside: Database = {
    ...trial.database,
    query(statement, values) {
      if (typeof statement !== 'string' && statement.name === 'jobs.complete') completions.push(values?.[0]);
      return trial.database.query(statement, values);
    },
  };
  const worker = await startWorker({
    database: beside,
    handlers: ['all', 'half'].map((name) => ({
      name,
      handle: (jobs) =>
        trial.database.transaction((tx) => completeJobs(tx, name === 'all' ? jobs : jobs.slice(1))),
    })),
    now: () => new Date(),
    onError: (error) => trial.errors.push(error),
  });
  trial.workers.push(worker);
  const names = ['all', 'all', 'half', 'half'];
  await enqueueJobs(
    trial.database,
    'public',
    names.map((name) => ({ name, payload: {} })),
  );
  await expect.poll(trial.waiting).toBe(0);
  await worker.drain();
  expect([completions.flat().length, trial.errors]).toEqual([1, []]);
});

test('jobs of a killed process come back when their lease runs out', async () => {
  await trial.add(...Array.from({ length: 50 }, (_, n) => n));
  const script = fileURLToPath(new URL('../test/hanging-worker.ts', import.meta.url));
  const child = fork(script, [trial.testDatabase.url]);
  await once(child, 'message');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const done: number[] = [];
  await trial.work(async (jobs) => {
    done.push(...jobs.map((job) => job.payload as number));
  });
  await expect.poll(() => done.length).toBe(50);
  expect(new Set(done).size).toBe(50);
});

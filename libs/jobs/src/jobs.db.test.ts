// When jobs begin, in which batches, what becomes of those that fail, cron entries, and how a worker ends.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@libs/db';
import {
  createOutage,
  currentTrace,
  formatTraceparent,
  parseTraceparent,
  runInTrace,
  runInTraces,
  traceOf,
} from '@libs/runtime';
import { until } from '@libs/runtime/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTrial, type Trial } from '../test/trial.ts';
import { enqueueJobs, type Job, startWorker } from './index.ts';

const HOUR_MS = 3_600_000;

let trial: Trial;
beforeEach(async () => {
  trial = await openTrial();
});
afterEach(() => trial.close());

test('what waits in another lane of a handler is not behind what waits in this one', async () => {
  const order: string[] = [];
  const urgent = Promise.withResolvers<void>();
  await trial.add(...Array.from({ length: 50 }, (_, n) => n));
  await enqueueJobs(trial.database, 'public', [{ name: 'task.urgent', payload: 'urgent' }]);
  await trial.work(
    async (jobs) => {
      order.push(...jobs.map(({ name }) => name));
      if (jobs.some(({ name }) => name === 'task.urgent')) urgent.resolve();
      // None of this lane ends before the other one had its turn.
      await urgent.promise;
    },
    { lanes: ['task.urgent'], batchMax: 1 },
  );
  await expect.poll(() => order.length).toBe(51);
  await expect.poll(trial.waiting).toBe(0);
});

test('a batch takes fewer jobs where each holds many items', async () => {
  await trial.add(...Array.from({ length: 20 }, () => Array.from({ length: 30 }, (_, n) => n)));
  const batches: number[] = [];
  await trial.work(
    async (jobs) => {
      batches.push(jobs.length);
    },
    { batchMax: 10, items: { max: 60, of: ({ payload }: Job) => (payload as unknown[]).length } },
  );
  await expect.poll(trial.waiting).toBe(0);
  expect(batches).toEqual([10, 2, 2, 2, 2, 2]);
});

test('batches that wait for others than this process come to be more at once, and never more than there may be', async () => {
  await trial.add(...Array.from({ length: 1_000 }, (_, n) => n));
  let atOnce = 0;
  const seen = new Set<number>();
  const worker = await trial.work(
    async () => {
      atOnce += 1;
      seen.add(atOnce);
      await sleep(20);
      atOnce -= 1;
    },
    { batchMax: 1, concurrency: { most: 4 } },
  );
  await until('four are worked on at once', () => seen.has(4));
  await worker.drain();
  expect([...seen].toSorted()).toEqual([1, 2, 3, 4]);
});

test('jobs of many traces go on each under its own, and take no more connections than there may be batches', async () => {
  const traces = Array.from(
    { length: 12 },
    (_, n) => `00-${String(n).padStart(32, 'a')}-${'b'.repeat(16)}-01`,
  );
  const addUnder = (traceparent: string) =>
    trial.database.transaction((tx) => enqueueJobs(tx, 'public', [{ name: 'task', payload: traceparent }]));
  for (const traceparent of traces)
    await runInTrace(parseTraceparent(traceparent), () => addUnder(traceparent));
  let atOnce = 0;
  const seen: number[] = [];
  const told = new Map<unknown, string | undefined>();
  await trial.work(
    async (jobs) => {
      atOnce += 1;
      seen.push(atOnce);
      await trial.database.query('select 1');
      const trace = currentTrace();
      for (const { payload } of jobs) told.set(payload, trace && formatTraceparent(trace));
      atOnce -= 1;
    },
    { concurrency: { most: 2 } },
  );
  await expect.poll(trial.waiting).toBe(0);
  expect(told).toEqual(new Map(traces.map((traceparent) => [traceparent, traceparent])));
  expect([seen.length, Math.max(...seen)]).toEqual([12, 2]);
});

test('jobs that name a trace for each thing are one batch with those that name none, which knows them all', async () => {
  const traceOfThing = (id: string) => ({ traceId: id.repeat(32), parentId: id.repeat(16), sampled: true });
  const add = () =>
    trial.database.transaction((tx) => enqueueJobs(tx, 'public', [{ name: 'task', payload: 1 }]));
  for (const id of ['a', 'b']) await runInTraces(new Map([[id, traceOfThing(id)]]), add);
  await add();
  const batches: unknown[] = [];
  await trial.work(async (jobs) => {
    batches.push([jobs.length, traceOf('a'), traceOf('b'), currentTrace()]);
  });
  await expect.poll(trial.waiting).toBe(0);
  expect(batches).toEqual([[3, traceOfThing('a'), traceOfThing('b'), undefined]]);
});

test('a job exists exactly when its transaction commits, and starts at once', async () => {
  const done: unknown[] = [];
  await trial.work(async (jobs) => {
    done.push(...jobs.map((job) => job.payload));
  });
  const refused = trial.database.transaction(async (tx) => {
    await enqueueJobs(tx, 'public', [{ name: 'task', payload: 'never' }]);
    throw new Error('rolled back');
  });
  await expect(refused).rejects.toThrow('rolled back');
  const began = Date.now();
  await trial.add('now');
  await expect.poll(() => done, { interval: 5 }).toEqual(['now']);
  // Before the next poll, which would find it as well.
  expect(Date.now() - began).toBeLessThan(4_500);
  await expect.poll(trial.waiting).toBe(0);
});

test('a job that was announced while nobody could hear it is found when the listener is back', async () => {
  const done: unknown[] = [];
  const handle = async (jobs: readonly Job[]) => {
    done.push(...jobs.map((job) => job.payload));
  };
  await trial.work(handle, {}, { pollMs: HOUR_MS });
  await trial.add('heard');
  await expect.poll(trial.waiting).toBe(0);
  await trial.database.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen %'`);
  await trial.add('unheard');
  await expect.poll(() => done).toEqual(['heard', 'unheard']);
});

test('a delayed job waits for its time, and a key keeps the earlier of two', async () => {
  const done: string[] = [];
  await trial.work(async (jobs) => {
    done.push(...jobs.map((job) => job.payload as string));
  });
  const later = new Date(Date.now() + 60_000);
  const soon = new Date(Date.now() + 300);
  await enqueueJobs(trial.database, 'public', [{ name: 'task', payload: 'a', key: 'k', runAt: later }]);
  await enqueueJobs(trial.database, 'public', [{ name: 'task', payload: 'b', key: 'k', runAt: soon }]);
  await enqueueJobs(trial.database, 'public', [
    { name: 'task', payload: 'b', key: 'k', runAt: later },
    { name: 'task', payload: 'b', key: 'k', runAt: soon },
  ]);
  expect(await trial.waiting()).toBe(1);
  expect(done).toEqual([]);
  await expect.poll(() => done).toEqual(['b']);
});

test('a job whose time comes is begun then, without waiting for a poll', async () => {
  let runs = 0;
  const handle = async () => {
    runs += 1;
    if (runs === 1) throw new Error('once');
  };
  await trial.work(handle, { retryDelayMs: () => 200 }, { pollMs: HOUR_MS });
  await enqueueJobs(trial.database, 'public', [
    { name: 'task', payload: 'later', runAt: new Date(Date.now() + 200) },
  ]);
  await expect.poll(trial.waiting).toBe(0);
  expect(runs).toBe(2);
});

test('a job that somebody has locked is looked for ever less often, and found when it is free', async () => {
  const claimedAtMs: number[] = [];
  const beside: Database = {
    ...trial.database,
    query(statement, values) {
      if (typeof statement !== 'string' && statement.name === 'jobs.claim')
        claimedAtMs.push(performance.now());
      return trial.database.query(statement, values);
    },
  };
  await trial.add('locked');
  await trial.database.session(async (session) => {
    await session.query('begin');
    await session.query('select from jobs for update');
    await trial.work(async () => {}, {}, { database: beside, pollMs: HOUR_MS });
    await until('it was looked for ten times', () => claimedAtMs.length >= 10);
    const [before = 0, last = 0] = claimedAtMs.slice(8);
    // A busy machine only makes it more.
    expect(last - before).toBeGreaterThan(200);
    await session.query('commit');
  });
  await expect.poll(trial.waiting).toBe(0);
});

test('a job that is announced while the worker looks when the next one is due does not wait for a poll', async () => {
  let hear = (_name: string): void => {};
  let isFirstLook = true;
  const beside: Database = {
    ...trial.database,
    async listen(_channel, onMessage) {
      hear = onMessage;
      return { restart() {}, stop: async () => {} };
    },
    async query<Row extends object>(...asked: Parameters<Database['query']>) {
      const result = await trial.database.query<Row>(...asked);
      const [statement] = asked;
      if (typeof statement !== 'string' && statement.name === 'jobs.next' && isFirstLook) {
        isFirstLook = false;
        await trial.add('meanwhile');
        hear('task');
      }
      return result;
    },
  };
  await trial.work(async () => {}, {}, { database: beside, pollMs: HOUR_MS });
  await expect.poll(() => isFirstLook).toBe(false);
  await expect.poll(trial.waiting).toBe(0);
});

test('one bad job in a batch is tried alone and harms no other', async () => {
  const done: unknown[] = [];
  await trial.add(1, 2, 'bad', 4);
  await trial.work(
    async (jobs) => {
      if (jobs.some((job) => job.payload === 'bad')) throw new Error('spoiled');
      done.push(...jobs.map((job) => job.payload));
    },
    { attemptsMax: 2, retryDelayMs: () => 10 },
  );
  await expect.poll(trial.waiting).toBe(0);
  expect(done).toEqual([1, 2, 4]);
  const { rows } = await trial.database.query('select payload, last_error, attempts from jobs');
  expect(rows).toEqual([{ payload: 'bad', last_error: 'spoiled', attempts: 2 }]);
});

test('a database that is away is told of once for all handlers, and once more when it is back', async () => {
  let isAway = false;
  let looks = 0;
  const query = (async (...asked: Parameters<Database['query']>) => {
    looks += 1;
    if (isAway) throw new Error('away');
    return trial.database.query(...asked);
  }) as Database['query'];
  const told: unknown[] = [];
  const worker = await startWorker({
    database: { ...trial.database, query },
    handlers: ['task', 'other'].map((name) => ({ name, handle: async () => {} })),
    now: () => new Date(),
    onError: (error) => trial.errors.push(error),
    outage: createOutage({ began: (error) => told.push(error), ended: () => told.push('ended') }),
    pollMs: 10,
  });
  trial.workers.push(worker);
  isAway = true;
  const before = looks;
  await expect.poll(() => looks).toBeGreaterThan(before + 10);
  expect(told).toEqual([new Error('away')]);
  isAway = false;
  await expect.poll(() => told.slice(1)).toEqual(['ended']);
  expect(trial.errors).toEqual([]);
});

test('a cron entry plants itself once however many processes start, and again after each run', async () => {
  const cron = [{ name: 'task', schedule: (after: Date) => new Date(after.getTime() + HOUR_MS) }];
  const options = {
    database: trial.database,
    cron,
    now: () => new Date(),
    onError: (error: unknown) => trial.errors.push(error),
  };
  let runs = 0;
  const handlers = [
    {
      name: 'task',
      handle: async () => {
        runs += 1;
      },
    },
  ];
  trial.workers.push(...(await Promise.all([1, 2, 3].map(() => startWorker({ ...options, handlers })))));
  expect(await trial.waiting()).toBe(1);
  await trial.database.query('update jobs set ready_at = now()');
  await trial.database.query(`select pg_notify('public_jobs', 'task')`);
  await expect.poll(() => runs).toBe(1);
  await expect
    .poll(
      async () => (await trial.database.query('select ready_at > now() as later, attempts from jobs')).rows,
    )
    .toEqual([{ later: true, attempts: 0 }]);
});

test('a cron entry that fails is tried on, however often it has failed', async () => {
  await trial.database.query(
    `insert into jobs (name, payload, key, ready_at) values ('task', '{}', 'cron', now())`,
  );
  let runs = 0;
  const handle = async () => {
    runs += 1;
    throw new Error('not yet');
  };
  const worker = await startWorker({
    database: trial.database,
    cron: [{ name: 'task', schedule: (after) => new Date(after.getTime() + HOUR_MS) }],
    handlers: [{ name: 'task', handle, attemptsMax: 2, retryDelayMs: () => 10 }],
    now: () => new Date(),
    onError: (error) => trial.errors.push(error),
  });
  trial.workers.push(worker);
  await expect.poll(() => runs).toBeGreaterThan(3);
});

test('a process whose clock is behind runs what is due once, and not until its clock has caught up', async () => {
  const due = new Date(Date.now() - 60_000);
  const schedule = (after: Date) => (after < due ? due : new Date(after.getTime() + HOUR_MS));
  const now = () => new Date(Date.now() - 120_000);
  let runs = 0;
  const handlers = [
    {
      name: 'task',
      handle: async () => {
        runs += 1;
      },
    },
  ];
  const onError = (error: unknown) => trial.errors.push(error);
  trial.workers.push(
    await startWorker({
      database: trial.database,
      cron: [{ name: 'task', schedule }],
      handlers,
      now,
      onError,
    }),
  );
  await expect
    .poll(
      async () => (await trial.database.query('select ready_at > now() as later, attempts from jobs')).rows,
    )
    .toEqual([{ later: true, attempts: 0 }]);
  expect(runs).toBe(1);
});

test('draining waits for the job under way and leaves the rest', async () => {
  let finished = false;
  let started = (): void => {};
  const begun = new Promise<void>((done) => {
    started = done;
  });
  await trial.add('slow', 'next');
  const worker = await trial.work(
    async () => {
      started();
      await new Promise((done) => setTimeout(done, 200));
      finished = true;
    },
    { batchMax: 1 },
  );
  await begun;
  await worker.drain();
  expect(finished).toBe(true);
  expect(await trial.waiting()).toBe(1);
});

test('draining waits for a claim under way, and for what it brings', async () => {
  const done: unknown[] = [];
  const worker = await trial.work(async (jobs) => {
    done.push(...jobs.map((job) => job.payload));
  });
  await trial.database.session(async (session) => {
    await session.query('begin');
    await session.query('lock table jobs in share row exclusive mode');
    await enqueueJobs(session, 'public', [{ name: 'task', payload: 'late' }]);
    // Its own announcement comes with the commit, and so after the lock.
    await trial.database.query(`select pg_notify('public_jobs', 'task')`);
    await until('a claim waits for the lock', async () => {
      const waits = `select from pg_locks where relation = 'jobs'::regclass and not granted`;
      return (await session.query(waits)).rowCount > 0;
    });
    let isDrained = false;
    const drained = worker.drain().then(() => {
      isDrained = true;
    });
    await until('it listens no more', async () => {
      const listens = `select from pg_stat_activity where datname = current_database() and query like 'listen %'`;
      // Outside of the session's transaction, which goes on seeing who was connected at its first look.
      return (await trial.database.query(listens)).rowCount === 0;
    });
    expect(isDrained).toBe(false);
    await session.query('commit');
    await drained;
  });
  expect([done, await trial.waiting(), trial.errors]).toEqual([['late'], 0, []]);
});

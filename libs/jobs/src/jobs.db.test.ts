import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Database } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createOutage } from '@libs/runtime';
import { until } from '@libs/runtime/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { completeJobs, enqueueJobs, type Job, jobsMigrations, startWorker, type Worker } from './index.ts';
import { claimJobs, extendLeases, failJob, LeaseLost } from './store.ts';

const HOUR_MS = 3_600_000;

let testDatabase: TestDatabase;
let database: Database;
let workers: Worker[];
let errors: unknown[];

beforeEach(async () => {
  testDatabase = await createTestDatabase({ schema: 'public', series: [jobsMigrations] });
  database = testDatabase.database;
  workers = [];
  errors = [];
  await database.query('create table effects (value int)');
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.drain()));
  await testDatabase.drop();
});

async function work(
  handle: (jobs: readonly Job[]) => Promise<void>,
  more: object = {},
  options: object = {},
): Promise<Worker> {
  const worker = await startWorker({
    database,
    handlers: [{ name: 'task', handle, ...more }],
    now: () => new Date(),
    onError: (error) => errors.push(error),
    ...options,
  });
  workers.push(worker);
  return worker;
}

function add(...payloads: unknown[]): Promise<void> {
  return enqueueJobs(
    database,
    'public',
    payloads.map((payload) => ({ name: 'task', payload })),
  );
}

async function waiting(): Promise<number> {
  const { rows } = await database.query<{ n: number }>(
    'select count(*)::int as n from jobs where failed_at is null',
  );
  return rows[0]?.n ?? 0;
}

test('what waits in another lane of a handler is not behind what waits in this one', async () => {
  const order: string[] = [];
  await add(...Array.from({ length: 500 }, (_, n) => n));
  await enqueueJobs(database, 'public', [{ name: 'task.urgent', payload: 'urgent' }]);
  await work(
    async (jobs) => {
      order.push(...jobs.map(({ name }) => name));
    },
    { lanes: ['task.urgent'], batchMax: 1 },
  );
  await expect.poll(() => order.length).toBe(501);
  expect(order.indexOf('task.urgent')).toBeLessThan(50);
  await expect.poll(waiting).toBe(0);
});

test('a batch takes fewer jobs where each holds many items', async () => {
  await add(...Array.from({ length: 20 }, () => Array.from({ length: 30 }, (_, n) => n)));
  const batches: number[] = [];
  await work(
    async (jobs) => {
      batches.push(jobs.length);
    },
    { batchMax: 10, items: { max: 60, of: ({ payload }: Job) => (payload as unknown[]).length } },
  );
  await expect.poll(waiting).toBe(0);
  expect(batches).toEqual([10, 2, 2, 2, 2, 2]);
});

test('a job exists exactly when its transaction commits, and starts at once', async () => {
  const done: unknown[] = [];
  await work(async (jobs) => {
    done.push(...jobs.map((job) => job.payload));
  });
  const refused = database.transaction(async (tx) => {
    await enqueueJobs(tx, 'public', [{ name: 'task', payload: 'never' }]);
    throw new Error('rolled back');
  });
  await expect(refused).rejects.toThrow('rolled back');
  const began = Date.now();
  await add('now');
  await expect.poll(() => done, { interval: 5 }).toEqual(['now']);
  // Before the next poll, which would find it as well.
  expect(Date.now() - began).toBeLessThan(4_500);
  await expect.poll(waiting).toBe(0);
});

test('a job that was announced while nobody could hear it is found when the listener is back', async () => {
  const done: unknown[] = [];
  const handle = async (jobs: readonly Job[]) => {
    done.push(...jobs.map((job) => job.payload));
  };
  await work(handle, {}, { pollMs: HOUR_MS });
  await add('heard');
  await expect.poll(waiting).toBe(0);
  await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen %'`);
  await add('unheard');
  await expect.poll(() => done).toEqual(['heard', 'unheard']);
});

test('a delayed job waits for its time, and a key keeps the earlier of two', async () => {
  const done: string[] = [];
  await work(async (jobs) => {
    done.push(...jobs.map((job) => job.payload as string));
  });
  const later = new Date(Date.now() + 60_000);
  const soon = new Date(Date.now() + 300);
  await enqueueJobs(database, 'public', [{ name: 'task', payload: 'a', key: 'k', runAt: later }]);
  await enqueueJobs(database, 'public', [{ name: 'task', payload: 'b', key: 'k', runAt: soon }]);
  await enqueueJobs(database, 'public', [
    { name: 'task', payload: 'b', key: 'k', runAt: later },
    { name: 'task', payload: 'b', key: 'k', runAt: soon },
  ]);
  expect(await waiting()).toBe(1);
  expect(done).toEqual([]);
  await expect.poll(() => done).toEqual(['b']);
});

test('a job whose time comes is begun then, without waiting for a poll', async () => {
  let runs = 0;
  const handle = async () => {
    runs += 1;
    if (runs === 1) throw new Error('once');
  };
  await work(handle, { retryDelayMs: () => 200 }, { pollMs: HOUR_MS });
  await enqueueJobs(database, 'public', [
    { name: 'task', payload: 'later', runAt: new Date(Date.now() + 200) },
  ]);
  await expect.poll(waiting).toBe(0);
  expect(runs).toBe(2);
});

test('a job that is announced while the worker looks when the next one is due does not wait for a poll', async () => {
  let hear = (_name: string): void => {};
  let isFirstLook = true;
  const beside: Database = {
    ...database,
    async listen(_channel, onMessage) {
      hear = onMessage;
      return { restart() {}, stop: async () => {} };
    },
    async query<Row extends object>(...asked: Parameters<Database['query']>) {
      const result = await database.query<Row>(...asked);
      const [statement] = asked;
      if (typeof statement !== 'string' && statement.name === 'jobs.next' && isFirstLook) {
        isFirstLook = false;
        await add('meanwhile');
        hear('task');
      }
      return result;
    },
  };
  await work(async () => {}, {}, { database: beside, pollMs: HOUR_MS });
  await expect.poll(() => isFirstLook).toBe(false);
  await expect.poll(waiting).toBe(0);
});

test('one bad job in a batch is tried alone and harms no other', async () => {
  const done: unknown[] = [];
  await add(1, 2, 'bad', 4);
  await work(
    async (jobs) => {
      if (jobs.some((job) => job.payload === 'bad')) throw new Error('spoiled');
      done.push(...jobs.map((job) => job.payload));
    },
    { attemptsMax: 2, retryDelayMs: () => 10 },
  );
  await expect.poll(waiting).toBe(0);
  expect(done).toEqual([1, 2, 4]);
  const { rows } = await database.query('select payload, last_error, attempts from jobs');
  expect(rows).toEqual([{ payload: 'bad', last_error: 'spoiled', attempts: 2 }]);
});

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
  await add('failing', 'slow');
  // Several extensions of the batch fall into the delay.
  const options = { leaseMs: 300, retryDelayMs: () => 250 };
  await work(handle, options);
  await expect.poll(() => tries).toBe(1);
  await work(handle, options);
  await expect.poll(waiting).toBe(0);
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
  await add('long');
  await work(handle, { leaseMs });
  await expect.poll(() => runs).toBe(1);
  await work(handle, { leaseMs });
  const leasedUntilMs = async () => {
    const { rows } = await database.query<{ ready_at: Date }>('select ready_at from jobs');
    return rows[0]?.ready_at.getTime() ?? 0;
  };
  const firstMs = await leasedUntilMs();
  await expect.poll(leasedUntilMs).toBeGreaterThan(firstMs + 2 * leaseMs);
  release();
  await expect.poll(waiting).toBe(0);
  expect(runs).toBe(1);
});

test('a job that failed is given back behind the extension of its lease that is under way', async () => {
  const order: string[] = [];
  const { promise: extending, resolve: extensionBegins } = Promise.withResolvers<void>();
  const { promise: mayExtend, resolve: letExtend } = Promise.withResolvers<void>();
  const beside: Database = {
    ...database,
    async query<Row extends object>(...asked: Parameters<Database['query']>) {
      const text = String(asked[0]);
      if (text.startsWith('update jobs set last_error')) order.push('given back');
      if (!text.startsWith('update jobs set ready_at')) return database.query<Row>(...asked);
      extensionBegins();
      await mayExtend;
      const result = await database.query<Row>(...asked);
      order.push('extended');
      return result;
    },
  };
  const handle = async () => {
    await extending;
    setImmediate(letExtend);
    throw new Error('no');
  };
  await add('failing');
  const handlers = [{ name: 'task', handle, leaseMs: 300, attemptsMax: 1 }];
  const onError = (error: unknown) => errors.push(error);
  workers.push(await startWorker({ database: beside, handlers, now: () => new Date(), onError }));
  await expect.poll(waiting).toBe(0);
  expect(order.at(-1)).toBe('given back');
});

test('who lost a job to another can neither complete, extend nor give it back', async () => {
  await add('once');
  const claim = { name: 'task', limit: 1, leaseMs: 0 };
  const late = await claimJobs(database, claim);
  const held = await claimJobs(database, { ...claim, leaseMs: HOUR_MS });
  expect([late, held]).toMatchObject([[{ attempt: 1 }], [{ attempt: 2 }]]);
  const stored = async () => (await database.query('select * from jobs')).rows;
  const before = await stored();
  await expect(completeJobs(database, late)).rejects.toBeInstanceOf(LeaseLost);
  await extendLeases(database, late, 0);
  await failJob(database, late[0] as Job, { error: 'late', retryInMs: 0 });
  expect(await stored()).toEqual(before);
  await completeJobs(database, held);
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
      await database.query('update jobs set ready_at = now()');
      await database.query(`select pg_notify('public_jobs', 'task')`);
      await expectSecond;
    } else tookOver();
    await database.transaction(async (tx) => {
      await tx.query('insert into effects values (1)');
      await completeJobs(tx, jobs);
    });
  };
  await add('once');
  await work(handle);
  await expect.poll(() => first).toBe(false);
  await work(handle);
  await expect.poll(waiting).toBe(0);
  await expect.poll(() => errors.length).toBe(1);
  expect((await database.query('select value from effects')).rows).toEqual([{ value: 1 }]);
});

test('what a handler completed with its effect is not completed again, and the rest of its batch is', async () => {
  const completions: unknown[] = [];
  const beside: Database = {
    ...database,
    query(statement, values) {
      if (typeof statement !== 'string' && statement.name === 'jobs.complete') completions.push(values?.[0]);
      return database.query(statement, values);
    },
  };
  const worker = await startWorker({
    database: beside,
    handlers: ['all', 'half'].map((name) => ({
      name,
      handle: (jobs) => database.transaction((tx) => completeJobs(tx, name === 'all' ? jobs : jobs.slice(1))),
    })),
    now: () => new Date(),
    onError: (error) => errors.push(error),
  });
  workers.push(worker);
  const names = ['all', 'all', 'half', 'half'];
  await enqueueJobs(
    database,
    'public',
    names.map((name) => ({ name, payload: {} })),
  );
  await expect.poll(waiting).toBe(0);
  await worker.drain();
  expect([completions.flat().length, errors]).toEqual([1, []]);
});

test('jobs of a killed process come back when their lease runs out', async () => {
  await add(...Array.from({ length: 50 }, (_, n) => n));
  const script = fileURLToPath(new URL('../test/hanging-worker.ts', import.meta.url));
  const child = fork(script, [testDatabase.url]);
  await once(child, 'message');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const done: number[] = [];
  await work(async (jobs) => {
    done.push(...jobs.map((job) => job.payload as number));
  });
  await expect.poll(() => done.length).toBe(50);
  expect(new Set(done).size).toBe(50);
});

test('a database that is away is told of once for all handlers, and once more when it is back', async () => {
  let isAway = false;
  let looks = 0;
  const query = (async (...asked: Parameters<Database['query']>) => {
    looks += 1;
    if (isAway) throw new Error('away');
    return database.query(...asked);
  }) as Database['query'];
  const told: unknown[] = [];
  const worker = await startWorker({
    database: { ...database, query },
    handlers: ['task', 'other'].map((name) => ({ name, handle: async () => {} })),
    now: () => new Date(),
    onError: (error) => errors.push(error),
    outage: createOutage({ began: (error) => told.push(error), ended: () => told.push('ended') }),
    pollMs: 10,
  });
  workers.push(worker);
  isAway = true;
  const before = looks;
  await expect.poll(() => looks).toBeGreaterThan(before + 10);
  expect(told).toEqual([new Error('away')]);
  isAway = false;
  await expect.poll(() => told.slice(1)).toEqual(['ended']);
  expect(errors).toEqual([]);
});

test('a cron entry plants itself once however many processes start, and again after each run', async () => {
  const cron = [{ name: 'task', schedule: (after: Date) => new Date(after.getTime() + HOUR_MS) }];
  const options = { database, cron, now: () => new Date(), onError: (error: unknown) => errors.push(error) };
  let runs = 0;
  const handlers = [
    {
      name: 'task',
      handle: async () => {
        runs += 1;
      },
    },
  ];
  workers.push(...(await Promise.all([1, 2, 3].map(() => startWorker({ ...options, handlers })))));
  expect(await waiting()).toBe(1);
  await database.query('update jobs set ready_at = now()');
  await database.query(`select pg_notify('public_jobs', 'task')`);
  await expect.poll(() => runs).toBe(1);
  await expect
    .poll(async () => (await database.query('select ready_at > now() as later, attempts from jobs')).rows)
    .toEqual([{ later: true, attempts: 0 }]);
});

test('a cron entry that fails is tried on, however often it has failed', async () => {
  await database.query(
    `insert into jobs (name, payload, key, ready_at) values ('task', '{}', 'cron', now())`,
  );
  let runs = 0;
  const handle = async () => {
    runs += 1;
    throw new Error('not yet');
  };
  const worker = await startWorker({
    database,
    cron: [{ name: 'task', schedule: (after) => new Date(after.getTime() + HOUR_MS) }],
    handlers: [{ name: 'task', handle, attemptsMax: 2, retryDelayMs: () => 10 }],
    now: () => new Date(),
    onError: (error) => errors.push(error),
  });
  workers.push(worker);
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
  const onError = (error: unknown) => errors.push(error);
  workers.push(await startWorker({ database, cron: [{ name: 'task', schedule }], handlers, now, onError }));
  await expect
    .poll(async () => (await database.query('select ready_at > now() as later, attempts from jobs')).rows)
    .toEqual([{ later: true, attempts: 0 }]);
  expect(runs).toBe(1);
});

test('draining waits for the job under way and leaves the rest', async () => {
  let finished = false;
  let started = (): void => {};
  const begun = new Promise<void>((done) => {
    started = done;
  });
  await add('slow', 'next');
  const worker = await work(
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
  expect(await waiting()).toBe(1);
});

test('draining waits for a claim under way, and for what it brings', async () => {
  const done: unknown[] = [];
  const worker = await work(async (jobs) => {
    done.push(...jobs.map((job) => job.payload));
  });
  await database.session(async (session) => {
    await session.query('begin');
    await session.query('lock table jobs in share row exclusive mode');
    await enqueueJobs(session, 'public', [{ name: 'task', payload: 'late' }]);
    // Its own announcement comes with the commit, and so after the lock.
    await database.query(`select pg_notify('public_jobs', 'task')`);
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
      return (await database.query(listens)).rowCount === 0;
    });
    expect(isDrained).toBe(false);
    await session.query('commit');
    await drained;
  });
  expect([done, await waiting(), errors]).toEqual([['late'], 0, []]);
});

// Where tables are spread, jobs wait for the servers of their own tenants: here one server, spoken to as if it were several.
import { type Database, EVERY_SERVER } from '@libs/db';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTrial, type Trial } from '../test/trial.ts';
import { claimNext, type TenantsOf } from './claims.ts';
import { enqueueJobs, startWorker } from './index.ts';

let trial: Trial;
let database: Database;
const away = new Set<string>();

const refused = () =>
  Object.assign(new Error('connection to the remote node app@10.0.0.2:5432 failed'), { code: '08006' });

beforeEach(async () => {
  trial = await openTrial();
  away.clear();
  database = {
    ...trial.database,
    isSpread: true,
    serverOf: async (tenantId) => tenantId.slice(0, 1),
    async settleTenant(tenantId) {
      if (away.has(tenantId.slice(0, 1))) throw refused();
    },
    async settleCommits() {
      if (away.size > 0) throw refused();
    },
  };
});
afterEach(() => trial.close());

/** Jobs say whose they are, or nothing. */
const tenantsOf: TenantsOf = (jobs) => jobs.map(({ payload }) => payload as string[] | null);

const claim = (wish: { limit?: number; full?: readonly string[]; tenantsOf?: TenantsOf | undefined } = {}) =>
  claimNext(database, {
    ...{ name: 'task', limit: wish.limit ?? 10, leaseMs: 60_000, tenantsOf },
    ...('tenantsOf' in wish ? { tenantsOf: wish.tenantsOf } : {}),
    isFull: (servers) => wish.full?.includes(servers) ?? false,
  });

test('a batch is of one server, and the jobs of one that is away are left as they are', async () => {
  away.add('a');
  await trial.add(['a1'], ['b1'], ['c1'], ['b2'], ['a1', 'b1'], []);
  const payloads: unknown[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const { jobs, servers } = await claim();
    payloads.push([servers, ...jobs.map(({ payload }) => payload)]);
  }
  expect(payloads).toEqual([
    ['b', ['b1'], ['b2']],
    ['c', ['c1']],
    ['', []],
  ]);
  expect(await claim()).toMatchObject({ jobs: [], isMore: false });
  const { rows } = await database.query(
    'select attempts, ready_at > now() as later from jobs where attempts = 0',
  );
  expect(rows).toEqual([
    { attempts: 0, later: true },
    { attempts: 0, later: true },
  ]);
});

test('servers that have enough to do are passed', async () => {
  await trial.add(['a1'], ['b1'], ['a2']);
  expect((await claim({ full: ['a'] })).servers).toBe('b');
  expect(await claim({ full: ['a'] })).toMatchObject({ jobs: [], isMore: false });
  expect((await claim()).jobs).toHaveLength(2);
});

test('a job of which nobody knows whose it is waits for every server', async () => {
  away.add('a');
  await trial.add(null, ['b1']);
  expect((await claim()).servers).toBe('b');
  expect((await claim({ tenantsOf: undefined })).jobs).toEqual([]);
  away.clear();
  await database.query('update jobs set ready_at = now()');
  await expect.poll(async () => (await claim({ tenantsOf: undefined })).servers).toBe(EVERY_SERVER);
});

test('a job that is changed after it was seen is left for the next look', async () => {
  await enqueueJobs(database, 'public', [{ name: 'task', key: 'once', payload: ['b1'] }]);
  const changing: TenantsOf = async (jobs) => {
    await enqueueJobs(database, 'public', [{ name: 'task', key: 'once', payload: ['b2'] }]);
    return tenantsOf(jobs);
  };
  expect((await claim({ tenantsOf: changing })).jobs).toEqual([]);
  expect((await claim()).jobs).toMatchObject([{ payload: ['b2'], attempt: 1 }]);
});

test('a batch that hangs at its server holds up none of another', async () => {
  const released = Promise.withResolvers<void>();
  const done: string[] = [];
  const worker = await startWorker({
    database,
    handlers: [
      {
        name: 'task',
        tenantsOf,
        async handle(jobs) {
          const [tenantId = ''] = jobs.flatMap(({ payload }) => payload as string[]);
          if (tenantId === 'a1') await released.promise;
          done.push(tenantId);
        },
      },
    ],
    now: () => new Date(),
    onError: (error) => trial.errors.push(error),
  });
  trial.workers.push(worker);
  await trial.add(['a1']);
  await trial.add(['b1']);
  await expect.poll(() => done).toEqual(['b1']);
  await trial.add(['b2']);
  await expect.poll(() => done).toEqual(['b1', 'b2']);
  released.resolve();
  await expect.poll(() => done).toEqual(['b1', 'b2', 'a1']);
});

test('a batch whose server goes away meanwhile comes back, is not tried one by one, and is never given up for that', async () => {
  const sizes: number[] = [];
  const outage: string[] = [];
  const worker = await startWorker({
    database,
    handlers: [
      {
        name: 'task',
        tenantsOf,
        attemptsMax: 1,
        async handle(jobs) {
          sizes.push(jobs.length);
          if (sizes.length > 1) return;
          away.add('a');
          throw refused();
        },
      },
    ],
    now: () => new Date(),
    onError: () => {},
    outage: {
      failed: () => void outage.push('failed'),
      worked: (who) => void (who === 'task' || outage.push('worked')),
      left: () => {},
    },
  });
  trial.workers.push(worker);
  await trial.add(['a1'], ['a2'], ['a3']);
  await expect.poll(() => outage).toEqual(['failed']);
  expect(sizes).toEqual([3]);
  away.clear();
  await expect.poll(trial.waiting, { timeout: 20_000 }).toBe(0);
  expect(outage).toEqual(['failed', 'worked']);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(6);
});

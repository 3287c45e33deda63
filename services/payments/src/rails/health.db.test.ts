/** A rail that fails is not chosen until it recovers, and every process knows. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createOutage, type Outage } from '@libs/runtime';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { paymentsMigrations } from '../migrations.ts';
import { createRailHealth, type RailFailure, type RailHealth } from './health.ts';

let testDatabase: TestDatabase;
const open: RailHealth[] = [];
/** Told by those who expect none: thrown in the background they would end the whole run, and belong to no test. */
const outages: unknown[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase(paymentsMigrations());
});
afterEach(() => expect(outages.splice(0)).toEqual([]));
afterAll(async () => {
  for (const health of open) health.close();
  await testDatabase.drop();
});

const unreachable: RailFailure = { cause: 'unreachable', detail: 'ECONNREFUSED', decisive: false };
const signedOff: RailFailure = { cause: 'signed_off', detail: '9948', decisive: true };

interface Watching {
  clock?: { now: number };
  lines?: string[];
  database?: Database;
  outage?: Outage;
  /** Null: as many as the service takes. */
  failuresMax?: null;
}

async function watch(options: Watching = {}): Promise<RailHealth> {
  const health = await createRailHealth({
    database: options.database ?? testDatabase.database,
    now: () => new Date(options.clock?.now ?? Date.now()),
    log: {
      error: (_fields, message) => options.lines?.push(message),
      warn: (_fields, message) => options.lines?.push(message),
    },
    outage:
      options.outage ??
      createOutage({
        began: (error) => void outages.push(error),
        ended: () => {},
      }),
    trialAfterMs: 30_000,
    ...(options.failuresMax === null ? {} : { failuresMax: 3 }),
    pollMs: 20,
  });
  open.push(health);
  return health;
}

async function fail(health: RailHealth, mode: 'test' | 'live', times: number, failure = unreachable) {
  for (let count = 0; count < times; count += 1) await health.reportFailure('rtp', mode, failure);
}

test('failures in a row take the rail down for that mode, a success in between does not', async () => {
  const lines: string[] = [];
  const health = await watch({ lines });
  await fail(health, 'live', 2);
  await health.reportSuccess('rtp', 'live', 'connection');
  await fail(health, 'live', 2);
  expect(health.isUp('rtp', 'live')).toBe(true);
  expect(lines).toEqual([]);
  await fail(health, 'live', 1);
  expect(health.isUp('rtp', 'live')).toBe(false);
  expect(health.isUp('rtp', 'test')).toBe(true);
  expect(health.isUp('ach', 'live')).toBe(true);
  expect(lines).toEqual(['a rail is down and will not be chosen']);
  await health.reportSuccess('rtp', 'live', 'connection');
  expect(health.isUp('rtp', 'live')).toBe(true);
  expect(lines).toHaveLength(2);
});

test('refusals of the network in a row take the rail down, though each of the messages arrived', async () => {
  const health = await watch();
  const doubtful: RailFailure = { cause: 'signed_off', detail: '9912', decisive: false };
  const refuse = async () => {
    await health.reportSuccess('rtp', 'live', 'connection');
    await health.reportFailure('rtp', 'live', doubtful);
  };
  await refuse();
  await refuse();
  await health.reportSuccess('rtp', 'live', 'network');
  await refuse();
  await refuse();
  expect(health.isUp('rtp', 'live')).toBe(true);
  await refuse();
  expect(health.isUp('rtp', 'live')).toBe(false);
  await health.reportSuccess('rtp', 'live', 'network');
});

test('five failures in a row are an outage where nothing else was told', async () => {
  const health = await watch({ failuresMax: null });
  for (let count = 0; count < 4; count += 1) await health.reportFailure('book', 'live', unreachable);
  await health.reportFailure('book', 'test', unreachable);
  expect(health.isUp('book', 'live')).toBe(true);
  await health.reportFailure('book', 'live', unreachable);
  expect([health.isUp('book', 'live'), health.isUp('book', 'test')]).toEqual([false, true]);
});

test('other processes learn of it, and of the recovery', async () => {
  const [one, other] = [await watch(), await watch()];
  await one.reportFailure('rtp', 'test', signedOff);
  await expect.poll(() => other.isUp('rtp', 'test'), { interval: 10 }).toBe(false);
  const late = await watch();
  expect(late.isUp('rtp', 'test')).toBe(false);
  await other.reportSuccess('rtp', 'test', 'network');
  await expect.poll(() => one.isUp('rtp', 'test'), { interval: 10 }).toBe(true);
});

test('failures before a recovery that another process saw do not count', async () => {
  const [one, other] = [await watch(), await watch()];
  await fail(one, 'live', 3);
  await expect.poll(() => other.isUp('rtp', 'live'), { interval: 10 }).toBe(false);
  await other.reportSuccess('rtp', 'live', 'connection');
  await expect.poll(() => one.isUp('rtp', 'live'), { interval: 10 }).toBe(true);
  await fail(one, 'live', 2);
  expect(one.isUp('rtp', 'live')).toBe(true);
  await fail(one, 'live', 1);
  expect(one.isUp('rtp', 'live')).toBe(false);
  await one.reportSuccess('rtp', 'live', 'connection');
});

test('of two that change it in the same millisecond the later one counts, for both', async () => {
  const clock = { now: Date.now() + 1_000 };
  const [one, other] = [await watch({ clock }), await watch({ clock })];
  await one.reportFailure('ach', 'test', signedOff);
  await expect.poll(() => other.isUp('ach', 'test'), { interval: 10 }).toBe(false);
  await other.reportSuccess('ach', 'test', 'network');
  await expect.poll(() => one.isUp('ach', 'test'), { interval: 10 }).toBe(true);
});

test('a process whose clock is behind undoes nothing that another has seen since', async () => {
  const now = Date.now() + 2_000;
  const [one, behind] = [await watch({ clock: { now } }), await watch({ clock: { now: now - 1 } })];
  await one.reportFailure('ach', 'test', signedOff);
  await expect.poll(() => behind.isUp('ach', 'test'), { interval: 10 }).toBe(false);
  await behind.reportSuccess('ach', 'test', 'network');
  await expect.poll(() => behind.isUp('ach', 'test'), { interval: 10 }).toBe(false);
  expect(one.isUp('ach', 'test')).toBe(false);
  await one.reportSuccess('ach', 'test', 'network');
});

/** A database whose answers a test holds back or breaks. */
function breakable(onQuery: (answer: () => Promise<unknown>, isLook: boolean) => Promise<unknown>): Database {
  const { database } = testDatabase;
  return new Proxy(database, {
    get: (target, name) =>
      name === 'query'
        ? (...query: Parameters<Database['query']>) =>
            onQuery(() => target.query(...query), query.length === 1)
        : Reflect.get(target, name),
  });
}

test('what it read before it saw more itself does not count', async () => {
  const held: (() => void)[] = [];
  let holds = false;
  const database = breakable(async (answer, isLook) => {
    const read = await answer();
    if (isLook && holds) await new Promise<void>((go) => held.push(go));
    return read;
  });
  const clock = { now: Date.now() + 3_000 };
  const health = await watch({ database, clock });
  await health.reportFailure('ach', 'test', signedOff);
  // Later than the failure, so that a look which read that one before changes nothing.
  clock.now += 1;
  await health.reportSuccess('ach', 'test', 'network');
  holds = true;
  await expect.poll(() => held.length, { interval: 10 }).toBeGreaterThan(0);
  clock.now += 1;
  await health.reportFailure('ach', 'test', signedOff);
  expect(health.isUp('ach', 'test')).toBe(false);
  held[0]?.();
  await setImmediate();
  expect(health.isUp('ach', 'test')).toBe(false);
  holds = false;
  for (const go of held) go();
  await health.reportSuccess('ach', 'test', 'network');
});

test('a database that cannot be read is an outage, which ends with the first look that works', async () => {
  const told: string[] = [];
  let isAway = false;
  const health = await watch({
    database: breakable((answer) => (isAway ? Promise.reject(new Error('away')) : answer())),
    outage: createOutage({ began: () => told.push('began'), ended: () => told.push('ended') }),
  });
  isAway = true;
  await expect.poll(() => told, { interval: 10 }).toEqual(['began']);
  expect(health.isUp('ach', 'test')).toBe(true);
  isAway = false;
  await expect.poll(() => told, { interval: 10 }).toEqual(['began', 'ended']);
});

test('being signed off is not mended by a message that merely arrives', async () => {
  const health = await watch();
  await health.reportFailure('ach', 'live', signedOff);
  await health.reportSuccess('ach', 'live', 'connection');
  expect(health.isUp('ach', 'live')).toBe(false);
  await health.reportSuccess('ach', 'live', 'network');
  expect(health.isUp('ach', 'live')).toBe(true);
});

test('after a while it is on trial: one failure puts it down again, one success up for good', async () => {
  const clock = { now: Date.now() + 60_000 };
  const health = await watch({ clock });
  await fail(health, 'live', 3);
  clock.now += 29_999;
  expect(health.isUp('rtp', 'live')).toBe(false);
  // Those that go on failing meanwhile do not put the trial off.
  await fail(health, 'live', 1);
  clock.now += 1;
  expect(health.isUp('rtp', 'live')).toBe(true);
  await fail(health, 'live', 1);
  expect(health.isUp('rtp', 'live')).toBe(false);
  clock.now += 30_000;
  expect(health.isUp('rtp', 'live')).toBe(true);
  await health.reportSuccess('rtp', 'live', 'connection');
  await fail(health, 'live', 2);
  expect(health.isUp('rtp', 'live')).toBe(true);
});

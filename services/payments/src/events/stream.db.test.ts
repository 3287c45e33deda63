import type { Database } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentsMigrations } from '../migrations.ts';
import { type Mode, tenantOf } from '../tenant.ts';
import { insertEvents } from './store.ts';
import { createEventStreams } from './stream.ts';

let testDatabase: TestDatabase;
let database: Database;
const ending = new AbortController();

beforeAll(async () => {
  testDatabase = await createTestDatabase(paymentsMigrations());
  database = testDatabase.database;
});
afterAll(async () => {
  ending.abort();
  await testDatabase.drop();
});

const callerIn = (mode: Mode) => ({
  ...{
    keyId: `key_${mode}`,
    tenant: tenantOf('org_streams', mode),
    scopes: new Set(['events:read'] as const),
  },
});

const ignore = () => {};
const happened = (id: string, mode: Mode) => {
  const at = new Date();
  const { id: tenantId } = callerIn(mode).tenant;
  const event = { tenantId, id, type: 'payment.pending', subjectId: 'pay_1', data: '{}' } as const;
  return insertEvents(database, [{ ...event, occurredAt: at, createdAt: at }]);
};

const nameOf = (statement: Parameters<Database['query']>[0]) =>
  typeof statement === 'string' ? statement : statement.name;

/** How often each prepared statement was asked. */
function counting() {
  const counts = new Map<string, number>();
  const counted = Object.assign(Object.create(database), {
    query(...call: Parameters<Database['query']>) {
      const name = nameOf(call[0]);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return database.query(...call);
    },
  }) as Database;
  return { counted, countOf: (name: string) => counts.get(name) ?? 0 };
}

test('a stream that nobody reads has no other of its tenant ask the database, and is hung up on', async () => {
  const { counted, countOf } = counting();
  const streams = createEventStreams({
    ...{ databases: { test: counted, live: database }, now: () => new Date(), ending: ending.signal },
    onError: (error) => {
      throw error;
    },
    untakenMaxMs: 1_000,
  });
  const hungUpOn: string[] = [];
  const open = (name: string) =>
    streams.open({
      ...{ caller: callerIn('test'), lastEventId: null, hungUp: ending.signal },
      stillAllowed: async () => true,
      hangUp: () => void hungUpOn.push(name),
    });
  const [read, stalled] = [await open('read'), await open('stalled')];
  expect((await read.next()).value).toMatch(/^retry/);
  const first = read.next();
  expect((await stalled.next()).value).toMatch(/^retry/);
  await happened('evt_2', 'test');
  expect((await first).value).toContain('id: evt_2\n');
  const second = read.next();
  const [looks, reads] = [countOf('events.moved'), countOf('events.stream')];
  await expect.poll(() => countOf('events.moved') - looks, { timeout: 10_000 }).toBeGreaterThan(5);
  expect(countOf('events.stream') - reads).toBeLessThanOrEqual(1);
  await happened('evt_3', 'test');
  expect((await second).value).toContain('id: evt_3\n');
  const third = read.next();
  await expect.poll(() => hungUpOn, { timeout: 10_000 }).toEqual(['stalled']);
  await happened('evt_4', 'test');
  await third;
  await Promise.all([read.return(undefined), stalled.return(undefined)]);
});

test('a stream of live mode goes on while test mode gets no answer from the database', async () => {
  let isBusy = false;
  let unanswered = 0;
  const crowded = Object.assign(Object.create(database), {
    query(...call: Parameters<Database['query']>) {
      isBusy ||= nameOf(call[0]) === 'events.moved';
      if (!isBusy) return database.query(...call);
      unanswered += 1;
      return new Promise(() => {});
    },
  }) as Database;
  const streams = createEventStreams({
    databases: { test: crowded, live: database },
    now: () => new Date(),
    onError: (error) => {
      throw error;
    },
    ending: ending.signal,
  });
  const open = (mode: Mode) =>
    streams.open({
      caller: callerIn(mode),
      lastEventId: null,
      stillAllowed: async () => true,
      hungUp: ending.signal,
      hangUp: ignore,
    });
  const [inTest, inLive] = [await open('test'), await open('live')];
  expect((await inTest.next()).value).toMatch(/^retry/);
  expect((await inLive.next()).value).toMatch(/^retry/);
  // It ends with the process: what waits for the database is told nothing more.
  void inTest.next();
  const told = inLive.next();
  await expect.poll(() => unanswered).toBe(1);
  await happened('evt_1', 'live');
  expect((await told).value).toContain('id: evt_1\n');
  await inLive.return(undefined);
});

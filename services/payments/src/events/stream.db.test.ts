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

test('a stream of live mode goes on while test mode gets no answer from the database', async () => {
  let isBusy = false;
  let unanswered = 0;
  const crowded = Object.assign(Object.create(database), {
    query(...call: Parameters<Database['query']>) {
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
    });
  const [inTest, inLive] = [await open('test'), await open('live')];
  expect((await inTest.next()).value).toMatch(/^retry/);
  expect((await inLive.next()).value).toMatch(/^retry/);
  isBusy = true;
  const told = inLive.next();
  await expect.poll(() => unanswered).toBe(1);
  const at = new Date();
  const tenantId = callerIn('live').tenant.id;
  await insertEvents(database, [
    {
      tenantId,
      id: 'evt_1',
      type: 'payment.pending',
      subjectId: 'pay_1',
      data: '{}',
      occurredAt: at,
      createdAt: at,
    },
  ]);
  expect((await told).value).toContain('id: evt_1\n');
  await Promise.all([inTest.return(undefined), inLive.return(undefined)]);
});

// A database whose machine vanishes without a word: whoever waits for an answer is told, in the end by us.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openBreakableWay } from '../../test/breakable-way.ts';
import { DatabaseUnreachable, isDatabaseAway, openDatabase } from '../index.ts';
import { createTestDatabase, type TestDatabase } from '../testing.ts';
import { connectAlone } from './connection.ts';

let test_: TestDatabase;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  test_ = await createTestDatabase();
  await test_.database.query('create table notes (id int primary key)');
});
afterAll(() => test_.drop());
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function openSilenceable(statementMs = 200) {
  const way = await openBreakableWay(test_.url);
  closers.push(() => way.close());
  const database = await openDatabase({
    url: way.url,
    schema: 'public',
    connectionsMax: 1,
    sessionsMax: 1,
    timeouts: { statementMs, reportMs: 60_000, silenceMs: 200 },
  });
  closers.push(() => database.close());
  return { way, database };
}

/** Whether it failed as whatever a later try may reach. */
const isAway = (work: Promise<unknown>) => work.then(() => false, isDatabaseAway);

test('a statement that is never answered fails, and its connection is not given out again', async () => {
  const { way, database } = await openSilenceable();
  way.silence(true);
  expect(await isAway(database.query('select 1'))).toBe(true);
  way.silence(false);
  expect((await database.query('select 2 as two')).rows).toEqual([{ two: 2 }]);
  expect(database.usage()).toEqual({ busy: 0, idle: 1, waiting: 0 });
});

test.each(['begin', 'commit'])('so does a transaction at its %s', async (step) => {
  const { way, database } = await openSilenceable();
  way.silence(step === 'begin');
  const work = database.transaction(async (tx) => {
    await tx.query('select 1');
    way.silence(true);
  });
  expect(await isAway(work)).toBe(true);
  way.silence(false);
  expect((await database.query('select 2 as two')).rows).toEqual([{ two: 2 }]);
});

test('so does a session', async () => {
  const { way, database } = await openSilenceable();
  const work = database.session(async (session) => {
    await session.query('select 1');
    way.silence(true);
    await session.query('select 1');
  });
  expect(await isAway(work)).toBe(true);
  way.silence(false);
  await database.session((session) => session.query('select 1'));
});

test('one that takes connections and says nothing is not reached, by whatever connects', async () => {
  const way = await openBreakableWay(test_.url);
  closers.push(() => way.close());
  way.silence(true);
  const timeouts = { connectMs: 200 };
  await expect(connectAlone(way.url, 'alone', timeouts)).rejects.toThrow(DatabaseUnreachable);
  for (const directUrl of [undefined, way.url]) {
    const opening = openDatabase({ url: way.url, directUrl, schema: 'public', timeouts });
    await expect(opening).rejects.toThrow(DatabaseUnreachable);
  }
});

test('reports, and whatever has no limit, may take their time', async () => {
  const { database } = await openSilenceable();
  await database.transaction((tx) => tx.query('select pg_sleep(1.5)'), { report: true });
  // The connection is the same one, whose next statement has the limit of all: the database itself says so.
  await expect(database.query('select pg_sleep(30)')).rejects.toMatchObject({ code: '57014' });
  const { database: unlimited } = await openSilenceable(0);
  await unlimited.query('select pg_sleep(1.5)');
});

test('many short statements on one connection are no long one', async () => {
  const { database } = await openSilenceable();
  await database.transaction(async (tx) => {
    for (let count = 0; count < 15; count += 1) await tx.query('select pg_sleep(0.1)');
  });
});

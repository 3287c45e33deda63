// Connections that listen: what is told while they cannot, and what is left behind when they may not.
import { createOutage } from '@libs/runtime';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openBreakableWay } from '../../test/breakable-way.ts';
import { openDatabase } from '../index.ts';
import { createTestDatabase, type TestDatabase } from '../testing.ts';
import { subscribe } from './subscription.ts';

let test_: TestDatabase;
const closers: (() => Promise<unknown>)[] = [];
let told: string[] = [];
const outage = createOutage({ began: () => told.push('began'), ended: () => told.push('ended') });

beforeAll(async () => {
  test_ = await createTestDatabase();
});
afterAll(() => test_.drop());
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  told = [];
});

async function openBreakable() {
  const way = await openBreakableWay(test_.url);
  closers.push(() => way.close());
  const database = await openDatabase({ url: way.url, schema: 'public', outage });
  closers.push(() => database.close());
  // Several at once, so that as many lie idle when the way is cut.
  const wakeIdle = () =>
    Promise.all(Array.from({ length: 5 }, () => database.query('select pg_sleep(0.05)')));
  await wakeIdle();
  return { way, database, wakeIdle };
}

test('a database that is away is one outage for all that listen and all that lie idle', async () => {
  const { way, database, wakeIdle } = await openBreakable();
  const heard: string[] = [];
  let reconnects = 0;
  const onReconnect = () => {
    reconnects += 1;
  };
  for (const channel of ['one', 'two', 'three'])
    await database.listen(channel, (payload) => heard.push(payload), { onReconnect });
  way.cut(true);
  await expect.poll(() => way.refused()).toBeGreaterThan(6);
  expect(told).toEqual(['began']);
  way.cut(false);
  await expect.poll(() => reconnects).toBe(3);
  await wakeIdle();
  expect(told).toEqual(['began', 'ended']);
  await database.query(`select pg_notify('three', 'heard')`);
  await expect.poll(() => heard).toEqual(['heard']);
});

test('idle connections that break are told of once, and their end when the next one works', async () => {
  const { way, wakeIdle } = await openBreakable();
  way.cut(true);
  await expect.poll(() => told).toEqual(['began']);
  await expect(wakeIdle()).rejects.toThrow();
  expect(told).toEqual(['began']);
  way.cut(false);
  await wakeIdle();
  expect(told).toEqual(['began', 'ended']);
});

test('who stops listening while the database is away keeps no outage open', async () => {
  const { way, database, wakeIdle } = await openBreakable();
  const subscription = await database.listen('one', () => {});
  way.cut(true);
  await expect.poll(() => way.refused()).toBeGreaterThan(0);
  await subscription.stop();
  way.cut(false);
  await wakeIdle();
  way.cut(true);
  await expect.poll(() => told.at(-1)).toBe('began');
  way.cut(false);
  await wakeIdle();
  expect(told.at(-1)).toBe('ended');
});

test('a connection on which listening is refused is given up', async () => {
  const url = new URL(test_.url);
  url.searchParams.set('application_name', 'refused listener');
  const refused = subscribe({ url: url.href, schema: 'public', outage }, 'no channel', () => {}, {});
  await expect(refused).rejects.toThrow('syntax error');
  const open = async () => {
    const { rows } = await test_.database.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where application_name = 'refused listener'`,
    );
    return rows[0]?.count;
  };
  await expect.poll(open).toBe(0);
  expect(told).toEqual([]);
});

// Messages between processes: they come with the commit, and a listener that hears nothing any more is noticed.
import { createOutage } from '@libs/runtime';
import { withinASecond } from '@libs/runtime/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openBreakableWay } from '../test/breakable-way.ts';
import { type Changes, type Database, openChanges, openDatabase } from './index.ts';
import { createTestDatabase, type TestDatabase } from './testing.ts';

let test_: TestDatabase;
const closers: (() => Promise<unknown>)[] = [];
let told: string[] = [];

beforeAll(async () => {
  test_ = await createTestDatabase();
});
afterAll(() => test_.drop());
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  told = [];
});

async function openProcess(
  options: { url?: string; directUrl?: string } = {},
): Promise<{ database: Database; changes: Changes }> {
  const database = await openDatabase({ url: test_.url, schema: 'public', ...options });
  closers.push(() => database.close());
  const outage = createOutage({ began: (error) => told.push(`${error}`), ended: () => told.push('ended') });
  const changes = await openChanges({ database, onError: () => {}, outage });
  closers.push(() => changes.close());
  return { database, changes };
}

async function openWay() {
  const way = await openBreakableWay(test_.url);
  closers.push(() => way.close());
  return way;
}

test('every process hears what commits, the publisher too, and nothing that is rolled back', async () => {
  const one = await openProcess();
  const two = await openProcess();
  const heard: string[] = [];
  one.changes.on('key', (id) => heard.push(`one ${id}`));
  two.changes.on('key', (id) => heard.push(`two ${id}`));
  two.changes.on('other', (id) => heard.push(`other ${id}`));
  await expect(
    one.database.transaction(async (tx) => {
      await one.changes.publish(tx, 'key', 'rolled back');
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await one.database.transaction((tx) => one.changes.publish(tx, 'key', 'k 1'));
  await expect.poll(() => heard.toSorted()).toEqual(['one k 1', 'two k 1']);
  expect(one.changes.isLive()).toBe(true);
});

test('a listener that falls silent is noticed within a second, and comes back by itself', async () => {
  const way = await openWay();
  const { database, changes } = await openProcess({ directUrl: way.url });
  const heard: (string | null)[] = [];
  changes.on('key', (id) => heard.push(id));
  way.silence(true);
  // The connection looks alive and the message is lost: only the missing beat tells.
  await database.transaction((tx) => changes.publish(tx, 'key', 'lost'));
  await withinASecond(
    () => heard,
    (found) => expect(found).toContain(null),
  );
  expect(changes.isLive()).toBe(false);
  way.silence(false);
  await expect.poll(() => changes.isLive()).toBe(true);
  await database.transaction((tx) => changes.publish(tx, 'key', 'found'));
  await expect.poll(() => heard.at(-1)).toBe('found');
  expect(heard).not.toContain('lost');
});

test('a database that is away is told of once, and once more when it is back', async () => {
  const way = await openWay();
  const { changes } = await openProcess({ url: way.url });
  let looks = 0;
  changes.on('key', () => {
    looks += 1;
  });
  way.cut(true);
  await expect.poll(() => looks).toBeGreaterThan(8);
  expect(told).toHaveLength(1);
  way.cut(false);
  await expect.poll(() => told.slice(1)).toEqual(['ended']);
  expect(changes.isLive()).toBe(true);
});

test('a handler that throws keeps nobody from hearing, and what is too long is refused', async () => {
  const { database, changes } = await openProcess();
  const heard: (string | null)[] = [];
  changes.on('key', () => {
    throw new Error('no');
  });
  changes.on('key', (id) => heard.push(id));
  await changes.publish(database, 'key', 'x');
  await expect.poll(() => heard).toEqual(['x']);
  await expect(changes.publish(database, 'key', 'x'.repeat(8_000))).rejects.toThrow(RangeError);
  expect(() => changes.on('two words', () => {})).toThrow(TypeError);
});

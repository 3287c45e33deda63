import { idBorder } from '@libs/seal';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from './database.ts';
import { type DividedTable, idBorders, makePart, renewParts } from './parts.ts';
import { createTestDatabase, type TestDatabase } from './testing.ts';

const DAY_MS = 86_400_000;
/** The first day of a part of ten days. */
const TODAY = new Date(Math.floor(Date.UTC(2026, 10, 16) / (10 * DAY_MS)) * 10 * DAY_MS);
const inDays = (days: number) => new Date(TODAY.getTime() + days * DAY_MS);
const table: DividedTable = { name: 'letters', borders: idBorders('let'), daysPerPart: 10, keptDays: 30 };

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  await database.query(`drop table if exists letters;
    create table letters (id text collate "C" primary key, dear boolean not null default false) partition by range (id);
    create table letters_default partition of letters default`);
});

const dear = (clearOthers: (part: string) => Promise<void> = async () => {}) => ({
  rows: 'dear',
  clearOthers,
});
const write = (days: number, dear = false) =>
  database.query('insert into letters values ($1, $2)', [
    `${idBorder('let', inDays(days).getTime())}x`,
    dear,
  ]);
const places = async () =>
  (
    await database.query<{ place: string; n: number }>(
      'select tableoid::regclass::text as place, count(*)::int as n from letters group by 1 order by 1',
    )
  ).rows.map(({ place, n }) => `${place} ${n}`);
const count = async () =>
  (await database.query<{ n: number }>('select count(*)::int as n from letters')).rows[0]?.n;

test('parts are there before their time, and go as a whole when all of it is past', async () => {
  expect(await renewParts(database, table, TODAY)).toBe(0);
  for (const days of [0, 9.9, 10, 25]) await write(days);
  const [first, second, third] = [0, 10, 20].map(
    (days) => `letters_${inDays(days).toISOString().slice(0, 10).replaceAll('-', '')}`,
  );
  expect(await places()).toEqual([`${first} 2`, `${second} 1`, `${third} 1`]);
  expect(await renewParts(database, table, inDays(39.9))).toBe(0);
  expect(await renewParts(database, table, inDays(40))).toBe(1);
  expect(await places()).toEqual([`${second} 1`, `${third} 1`]);
});

test('what is kept for longer moves to the part for everything else', async () => {
  await renewParts(database, table, TODAY);
  await write(1);
  await write(2, true);
  expect(await renewParts(database, { ...table, outliving: dear() }, inDays(40))).toBe(1);
  expect(await places()).toEqual(['letters_default 1']);
});

test('who may not go on drops no further part', async () => {
  for (const days of [0, 10]) await renewParts(database, table, inDays(days));
  const parts = () => database.query("select from pg_inherits where inhparent = 'letters'::regclass");
  const before = await parts();
  let asked = 0;
  const mayGoOn = () => {
    asked += 1;
    return asked <= 4;
  };
  // Three parts are to come, and two are past their time.
  expect(await renewParts(database, table, inDays(50), { mayGoOn })).toBe(1);
  expect((await parts()).rowCount).toBe(before.rowCount + 3 - 1);
  expect(await renewParts(database, table, inDays(50), { mayGoOn: () => false })).toBe(0);
});

test('a part of which very much is kept for longer stays, is cleared of the rest, and goes when little is left', async () => {
  await renewParts(database, table, TODAY);
  await write(1);
  await database.query(`insert into letters select $1 || n, true from generate_series(1, 10001) as n`, [
    idBorder('let', inDays(2).getTime()),
  ]);
  const [part] = await places();
  const cleared: string[] = [];
  const outliving = dear(async (name) => void cleared.push(name));
  expect(await renewParts(database, { ...table, outliving }, inDays(40))).toBe(0);
  expect(await places()).toEqual([part]);
  expect(cleared).toEqual([part?.split(' ')[0]]);

  await database.query('delete from letters where id like $1', ['%0']);
  expect(await renewParts(database, { ...table, outliving }, inDays(40))).toBe(1);
  expect(await places()).toEqual(['letters_default 9001']);
  expect(cleared).toHaveLength(1);
});

test('rows of a time that has no part are taken all the same, and the next times get their parts', async () => {
  await write(0);
  expect(await makePart(database, table, TODAY)).toBe(false);
  await renewParts(database, table, TODAY);
  await write(10);
  expect(await places()).toEqual([expect.stringMatching(/^letters_\d+ 1$/), 'letters_default 1']);
});

test('a time that another part has already is not tried again and again, since each try is an error in the log of the server', async () => {
  const border = idBorder('let', inDays(15).getTime());
  await database.query(
    `create table letters_before partition of letters for values from (minvalue) to ('${border}')`,
  );
  let tries = 0;
  const watched = new Proxy(database, {
    get(target, name) {
      if (name === 'transaction') tries += 1;
      return Reflect.get(target, name, target);
    },
  });
  await renewParts(watched, table, TODAY);
  // Two of the three times are taken, the second of them in part.
  expect(tries).toBe(1);
  await write(21);
  await write(1);
  expect(await places()).toEqual([expect.stringMatching(/^letters_\d+ 1$/), 'letters_before 1']);
  await renewParts(watched, table, TODAY);
  expect(tries).toBe(1);
});

test('processes that renew at once do it once', async () => {
  await Promise.all(Array.from({ length: 4 }, () => renewParts(database, table, TODAY)));
  await write(1);
  const dropped = await Promise.all(Array.from({ length: 4 }, () => renewParts(database, table, inDays(40))));
  expect(dropped.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(1);
  expect(await count()).toBe(0);
});

test('a part that somebody reads is not waited for long, and goes the next time', async () => {
  await renewParts(database, table, TODAY);
  await write(1);
  await database.session(async (session) => {
    await session.query('begin');
    await session.query('select count(*) from letters');
    expect(await renewParts(database, table, inDays(40))).toBe(0);
    await session.query('commit');
  });
  expect(await count()).toBe(1);
  expect(await renewParts(database, table, inDays(40))).toBe(1);
  expect(await count()).toBe(0);
});

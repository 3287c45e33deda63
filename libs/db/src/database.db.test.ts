import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from './index.ts';
import { createTestDatabase, type TestDatabase } from './testing.ts';

let test_: TestDatabase;
let database: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  database = test_.database;
  await database.query('create table notes (id int primary key, amount bigint, day date)');
});
afterAll(() => test_.drop());

test('a transaction that throws leaves nothing behind', async () => {
  const failed = database.transaction(async (tx) => {
    await tx.query('insert into notes values (1, 1, null)');
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  expect((await database.query('select * from notes')).rows).toEqual([]);
});

test('int8 is a number while it is exact, and dates stay calendar days', async () => {
  const { rows } = await database.query(`select 9007199254740991::int8 as amount, '2026-11-15'::date as day`);
  expect(rows).toEqual([{ amount: 9007199254740991, day: '2026-11-15' }]);
  await expect(database.query('select 9007199254740993::int8')).rejects.toThrow(/beyond what a number holds/);
});

test('a listener hears what other connections announce, and comes back after its connection is cut', async () => {
  const heard: string[] = [];
  let reconnected = (): void => {};
  const back = new Promise<void>((done) => {
    reconnected = done;
  });
  const subscription = await database.listen('news', (payload) => heard.push(payload), {
    onReconnect: reconnected,
  });
  await database.query(`select pg_notify('news', 'one')`);
  await expect.poll(() => heard).toEqual(['one']);
  await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query = 'listen news'`);
  await back;
  await database.query(`select pg_notify('news', 'two')`);
  await expect.poll(() => heard).toEqual(['one', 'two']);
  await subscription.stop();
});

test('what the address asks of the server holds beside our settings, and in place of none', async () => {
  const url = new URL(test_.url);
  url.searchParams.set('options', '-c geqo=off -c search_path=nowhere');
  const asked = await openDatabase({ url: url.href, schema: 'public', connectionsMax: 1 });
  const { rows } = await asked.query(
    `select current_setting('geqo') as geqo, current_setting('search_path') as path`,
  );
  await asked.close();
  expect(rows).toEqual([{ geqo: 'off', path: 'public' }]);
});

test('a server that ends idle sessions ends none of ours', async () => {
  const name = new URL(test_.url).pathname.slice(1);
  await database.query(`alter database "${name}" set idle_session_timeout = '1s'`);
  const idle = await openDatabase({ url: test_.url, schema: 'public', connectionsMax: 1 });
  const { rows } = await idle.query(`select current_setting('idle_session_timeout') as ends_after`);
  await idle.close();
  await database.query(`alter database "${name}" reset idle_session_timeout`);
  expect(rows).toEqual([{ ends_after: '0' }]);
});

test('a file of the address that is missing is told in one line', async () => {
  const url = 'postgres://127.0.0.1:1/nowhere?sslrootcert=/no-such-file.pem';
  await expect(openDatabase({ url, schema: 'public' })).rejects.toThrow(
    'the database at 127.0.0.1:1/nowhere cannot be reached: the address names a file that cannot be read: /no-such-file.pem (ENOENT)',
  );
});

test('a database that cannot be reached is told in one line that names the place, not the password', async () => {
  const failed = openDatabase({ url: 'postgres://me:secret@127.0.0.1:1/nowhere', schema: 'public' });
  const error = await failed.catch((reason: Error) => reason);
  expect((error as Error).message).toMatch(
    /^the database at 127\.0\.0\.1:1\/nowhere cannot be reached: .*ECONNREFUSED/,
  );
  expect((error as Error).message).not.toContain('secret');
});

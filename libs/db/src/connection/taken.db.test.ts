// Which connections are given back to a pool.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase, type Queryable } from '../index.ts';
import { createTestDatabase, type TestDatabase } from '../testing.ts';

let test_: TestDatabase;
let database: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  await test_.database.query('create table notes (id int)');
});
afterAll(() => test_.drop());
afterEach(() => database.close());

const write = (db: Queryable) => db.query('insert into notes values (1)');
const read = (db: Queryable) => db.query('select 1');

/** As after a failover: the connection that is open leads to the server that takes no writes now, and the next one to the other. */
async function openAtReadOnly(open: (opened: Database) => Promise<unknown>): Promise<void> {
  const name = new URL(test_.url).pathname.slice(1);
  await test_.database.query(`alter database "${name}" set default_transaction_read_only = on`);
  try {
    database = await openDatabase({ url: test_.url, schema: 'public', connectionsMax: 1, sessionsMax: 1 });
    await open(database);
  } finally {
    await test_.database.query(`alter database "${name}" reset default_transaction_read_only`);
  }
}

test('one whose server takes no writes is not given back by a transaction that it failed', async () => {
  await openAtReadOnly((opened) => opened.transaction(read));
  await expect(database.transaction(write)).rejects.toThrow('read-only');
  await database.transaction(write);
});

test('nor by a session', async () => {
  await openAtReadOnly((opened) => opened.session(read));
  await expect(database.session(write)).rejects.toThrow('read-only');
  await database.session(write);
});

test('a session that failed leaves no lock behind', async () => {
  database = await openDatabase({ url: test_.url, schema: 'public', sessionsMax: 1 });
  const failing = database.session(async (session) => {
    await session.query('select pg_advisory_lock(7)');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  const isFree = async () =>
    (await database.query<{ free: boolean }>('select pg_try_advisory_xact_lock(7) as free')).rows[0]?.free;
  await expect.poll(isFree).toBe(true);
});

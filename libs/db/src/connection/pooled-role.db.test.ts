// Through PgBouncer in transaction mode: what a transaction needs is the role's, what lives longer goes past the pooler.
import { existsSync } from 'node:fs';
import { createOutage } from '@libs/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, type DatabaseOptions, openChanges, openDatabase } from '../index.ts';
import {
  connectionTo,
  createTestDatabase,
  PGBOUNCER,
  startPooler,
  type TestDatabase,
  type TestPooler,
} from '../testing.ts';

const SETTINGS = ['search_path', 'enable_seqscan', 'jit', 'statement_timeout'];

describe.runIf(existsSync(PGBOUNCER))('behind a pooler', () => {
  let pooler: TestPooler;
  let made: TestDatabase;
  const databases: Database[] = [];

  async function open(options: Partial<DatabaseOptions> = {}): Promise<Database> {
    const database = await openDatabase({
      ...connectionTo(made.url, pooler.url),
      schema: 'first',
      timeouts: { statementMs: 7_000 },
      ...options,
    });
    databases.push(database);
    return database;
  }

  beforeAll(async () => {
    pooler = await startPooler(process.env.TEST_POSTGRES_URL as string);
    made = await createTestDatabase();
    await made.database.query('create schema first');
    await made.database.query('create table first.notes (id int primary key)');
  });
  afterAll(async () => {
    await Promise.all(databases.map((database) => database.close()));
    await made.drop();
    await pooler.stop();
  });

  test('processes that start together find the settings in place, through the pooler and past it', async () => {
    const processes = await Promise.all(Array.from({ length: 4 }, () => open()));
    for (const database of processes) {
      const read = async (on: Pick<Database, 'query'>) =>
        (
          await on.query<{ values: string[] }>(
            'select array(select current_setting(name) from unnest($1::text[]) as name) as values',
            [SETTINGS],
          )
        ).rows[0]?.values;
      expect(await read(database)).toEqual(['first', 'off', 'off', '7s']);
      expect(await database.session(read)).toEqual(['first', 'off', 'off', '7s']);
    }
  });

  test('named statements of many callers at once meet no connection that does not know them', async () => {
    const database = await open();
    const insert = { name: 'notes.insert', text: 'insert into notes (id) values ($1)' };
    const ids = Array.from({ length: 300 }, (_, index) => index);
    await Promise.all(
      ids.map((id) =>
        id % 3 === 0 ? database.transaction((tx) => tx.query(insert, [id])) : database.query(insert, [id]),
      ),
    );
    const { rows } = await database.query('select count(*)::int as count from notes');
    expect(rows).toEqual([{ count: ids.length }]);
  });

  test('messages are heard, and a session keeps its lock', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    const outage = createOutage({ began: () => {}, ended: () => {} });
    const changes = await openChanges({ database: one, onError: () => {}, outage });
    const heard = new Promise((resolve) => changes.on('news', (message) => message && resolve(message)));
    await one.session(async (session) => {
      await session.query('select pg_advisory_lock(77)');
      for (let statements = 0; statements < 20; statements += 1) {
        const { rows } = await other.query('select pg_try_advisory_xact_lock(77) as free');
        expect(rows).toEqual([{ free: false }]);
      }
      await session.query('select pg_advisory_unlock(77)');
    });
    await other.transaction((tx) => changes.publish(tx, 'news', 'good'));
    expect(await heard).toBe('good');
    await changes.close();
  });

  test('a second service with the same role in the same database is told what to do', async () => {
    await expect(open({ schema: 'second' })).rejects.toThrow(
      /each service has a role, or a database, of its own/,
    );
  });

  test('a connection that the pooler opened before the role was set up is not worked with', async () => {
    const early = await createTestDatabase();
    const connection = connectionTo(early.url, pooler.url);
    const before = await openDatabase({ ...connection, schema: 'public' });
    await before.query('select 1');
    await early.database.query(
      `do $$ begin execute format('alter role %I in database %I reset all', current_user, current_database()); end $$`,
    );
    await expect(openDatabase({ ...connection, schema: 'first' })).rejects.toThrow(/RECONNECT/);
    await before.close();
    await early.drop();
  });
});

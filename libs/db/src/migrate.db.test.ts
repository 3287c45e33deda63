import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, MigrationError, type MigrationSource, migrate } from './index.ts';
import { createTestDatabase, type TestDatabase } from './testing.ts';

let testDatabase: TestDatabase;
let database: Database;
const folders: string[] = [];

type Files = Record<string, string>;

async function folderOf(files: Files): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  folders.push(folder);
  for (const [name, sql] of Object.entries(files)) await writeFile(join(folder, name), sql);
  return folder;
}

/** A service with one series, or with one for each entry. */
async function sourceOf(schema: string, files: Files, libraries: Record<string, Files> = {}) {
  const source: MigrationSource = {
    schema,
    series: [
      ...(await Promise.all(
        Object.entries(libraries).map(async ([name, library]) => ({ name, folder: await folderOf(library) })),
      )),
      { name: schema, folder: await folderOf(files) },
    ],
  };
  return source;
}

async function refusal(source: MigrationSource): Promise<string> {
  const error = await migrate(testDatabase.url, source).catch((reason: Error) => reason);
  expect(error).toBeInstanceOf(MigrationError);
  const { message } = error as Error;
  expect(message).not.toContain('\n');
  return message;
}

async function valuesOf<T>(sql: string): Promise<T[]> {
  const { rows } = await database.query<{ value: T }>(sql);
  return rows.map((row) => row.value);
}

const has = async (table: string) =>
  (await valuesOf<boolean>(`select to_regclass('${table}') is not null as value`))[0];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
});
afterAll(async () => {
  await testDatabase.drop();
  for (const folder of folders) await rm(folder, { recursive: true });
});

test('ten processes may migrate at once: each file is applied once, in order', async () => {
  const source = await sourceOf(
    'crowd',
    { '0001_first.sql': 'insert into steps values (2);', '0002_second.sql': 'insert into steps values (3);' },
    { steps: { '0001_steps.sql': 'create table steps (n int); insert into steps values (1);' } },
  );
  const applied = await Promise.all(Array.from({ length: 10 }, () => migrate(testDatabase.url, source)));
  expect(applied.reduce((sum, count) => sum + count, 0)).toBe(3);
  expect(await valuesOf('select n as value from crowd.steps order by ctid')).toEqual([1, 2, 3]);
  expect(await valuesOf(`select series || number || name as value from crowd.migrations order by 1`)).toEqual(
    ['crowd1first', 'crowd2second', 'steps1steps'],
  );
  expect(await migrate(testDatabase.url, source)).toBe(0);
});

test('a library fills the schema that it is told, with the same file for everyone', async () => {
  const folder = await folderOf({
    '0001_parcels.sql': `create table parcels (id int);
      create function count_parcels() returns bigint language sql set search_path from current
      as 'select count(*) from parcels';`,
  });
  for (const schema of ['shop', 'store'])
    await migrate(testDatabase.url, {
      schema,
      series: [{ name: 'parcels', folder, schema: `${schema}_parcels` }],
    });
  await database.query('insert into store_parcels.parcels values (1)');
  expect(await valuesOf('select shop_parcels.count_parcels() as value')).toEqual([0]);
  expect(await valuesOf('select store_parcels.count_parcels() as value')).toEqual([1]);
  expect(
    await valuesOf(
      'select (select checksum from shop.migrations) = (select checksum from store.migrations) as value',
    ),
  ).toEqual([true]);
});

test('names that are put into SQL as they stand are plain ones', async () => {
  const source = await sourceOf('plain', { '0001_a.sql': 'select 1' });
  await expect(migrate(testDatabase.url, { ...source, schema: 'a; drop' })).rejects.toThrow(TypeError);
  const [series] = source.series;
  const elsewhere = { ...source, series: [{ ...series, schema: '"x"' }] } as MigrationSource;
  await expect(migrate(testDatabase.url, elsewhere)).rejects.toThrow(TypeError);
});

test('a failing migration names itself and leaves the schema as the file before left it', async () => {
  const source = await sourceOf('broken', {
    '0001_good.sql': 'create table whole (n int);',
    '0002_bad.sql': 'create table half (n int); select nonsense;',
  });
  expect(await refusal(source)).toMatch(
    /^migration broken\/0002_bad\.sql of broken failed: column "nonsense"/,
  );
  expect([await has('broken.whole'), await has('broken.half')]).toEqual([true, false]);
});

test('a file that was changed after it ran stops the start: the line says which, and what to do', async () => {
  const files = {
    '0001_a.sql': 'create table a (n int);\n-- Why\n',
    '0002_b.sql': 'create table b (n int);',
  };
  await migrate(testDatabase.url, await sourceOf('kept', files));
  const changed = { ...files, '0001_a.sql': 'create table a (n bigint);\n-- Why\n' };
  expect(await refusal(await sourceOf('kept', { ...changed, '0003_c.sql': 'create table c (n int);' }))).toBe(
    'migration kept/0001_a.sql is not the file that ran here as 0001_a.sql: ' +
      'put that file back as it was, and write the change as a new file with the next number',
  );
  expect(await has('kept.c')).toBe(false);
  expect(
    await refusal(
      await sourceOf('kept', { '0001_a.sql': files['0001_a.sql'], '0002_other.sql': 'select 1' }),
    ),
  ).toMatch(/^migration kept\/0002_other\.sql is not the file that ran here as 0002_b\.sql: /);
});

test('other ends of lines are no change', async () => {
  await migrate(testDatabase.url, await sourceOf('lines', { '0001_a.sql': 'select 1;\nselect 2;\n' }));
  const again = await sourceOf('lines', { '0001_a.sql': 'select 1;\r\nselect 2;\r\n' });
  expect(await migrate(testDatabase.url, again)).toBe(0);
});

test('a database of a newer version is not touched', async () => {
  const older = { '0001_a.sql': 'create table a (n int)' };
  await migrate(testDatabase.url, await sourceOf('ahead', { ...older, '0002_b.sql': 'select 1' }));
  expect(await refusal(await sourceOf('ahead', older))).toBe(
    'schema ahead was upgraded by a newer version (ahead/0002_b.sql), which this one does not know: ' +
      'start that version or a later one',
  );
  const withLibrary = await sourceOf('with_library', older, { library: { '0001_l.sql': 'select 1' } });
  await migrate(testDatabase.url, withLibrary);
  expect(await refusal(await sourceOf('with_library', older))).toMatch(
    /newer version \(library\/0001_l\.sql\)/,
  );
});

test('tables without this record are of an earlier version, and nothing is built on them', async () => {
  const refused = (schema: string) =>
    `schema ${schema} was made by an earlier version, from which there is no upgrade: start with an empty ` +
    'database (the embedded one: move DATA_DIR away), or go on with that version';
  await database.query(`create schema before; create table before.migrations
    (number int primary key, name text not null, applied_at timestamptz not null default now())`);
  expect(await refusal(await sourceOf('before', { '0001_a.sql': 'create table a (n int)' }))).toBe(
    refused('before'),
  );
  await database.query('create schema half_webhooks; create table half_webhooks.queue (id text)');
  const half = await sourceOf('half', { '0001_a.sql': 'create table a (n int)' });
  const library = {
    name: 'webhooks',
    folder: await folderOf({ '0001_q.sql': 'select 1' }),
    schema: 'half_webhooks',
  };
  expect(await refusal({ ...half, series: [library, ...half.series] })).toBe(refused('half_webhooks'));
  expect(await has('half.migrations')).toBe(false);
});

test('files are named and numbered without a gap, and no two series share a name', async () => {
  expect(await refusal(await sourceOf('gaps', { '0001_a.sql': '', '0003_c.sql': '' }))).toBe(
    '0003_c.sql of gaps breaks the sequence of numbers',
  );
  expect(await refusal(await sourceOf('names', { '1-a.sql': '' }))).toBe(
    '1-a.sql is not named like 0001_what_it_does.sql',
  );
  const twice = await sourceOf('twice', { '0001_a.sql': '' });
  expect(await refusal({ ...twice, series: [...twice.series, ...twice.series] })).toBe(
    'two series of twice share a name',
  );
});

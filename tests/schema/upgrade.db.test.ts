// Every release that was kept, with its data, becomes what a fresh database is today.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Database, migrate, readMigrations } from '@libs/db';
import { createTestDatabase } from '@libs/db/testing';
import { describe, expect, test } from 'vitest';
import { readCatalogue } from './catalogue.ts';
import { SERVICES } from './services.ts';
import { findBundledAlters } from './statements.ts';

const folder = fileURLToPath(new URL('kept', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a release leaves to processes of the version before, where there may be such, and the next one removes. */
const GOES_NEXT: readonly string[] = ['payments_not_completed'];

async function catalogueToStay(database: Database, schemas: readonly string[]): Promise<string[]> {
  const goes = GOES_NEXT.map((name) => `index CREATE INDEX ${name} ON `);
  return (await readCatalogue(database, schemas)).filter(
    (line) => !goes.some((start) => line.startsWith(start)),
  );
}

async function rowsByTable(database: Database, schemas: readonly string[]): Promise<Record<string, number>> {
  const { rows: tables } = await database.query<{ name: string }>(
    `select format('%s.%s', schemaname, tablename) as name from pg_tables where schemaname = any($1)`,
    [schemas],
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await database.query<{ n: number }>(`select count(*)::int as n from ${name}`);
    counts[name] = rows[0]?.n ?? 0;
  }
  return counts;
}

for (const { source, schemas } of SERVICES) {
  describe(source.schema, () => {
    const kept = readdirSync(folder).filter((file) => file.startsWith(`${source.schema}-`));

    test('a release was kept', () => expect(kept).not.toEqual([]));

    test.each(kept)('%s becomes what a fresh database is, and loses nothing', async (file) => {
      const [upgraded, fresh] = await Promise.all([createTestDatabase(), createTestDatabase(source)]);
      try {
        await upgraded.database.session((session) =>
          session.query(`${readFileSync(`${folder}/${file}`, 'utf8')}; reset search_path`),
        );
        const before = await rowsByTable(upgraded.database, schemas);
        expect(Object.entries(before).filter(([, rows]) => rows === 0)).toEqual([]);
        await migrate(upgraded.url, source);
        expect(await catalogueToStay(upgraded.database, schemas)).toEqual(
          await readCatalogue(fresh.database, schemas),
        );
        const after = await rowsByTable(upgraded.database, schemas);
        for (const [table, rows] of Object.entries(before))
          if (table in after) expect([table, after[table]! >= rows]).toEqual([table, true]);
      } finally {
        await Promise.all([upgraded.drop(), fresh.drop()]);
      }
    });

    test('a process that starts on a database of an earlier schema says in one line what to do', async () => {
      const earlier = await createTestDatabase();
      try {
        await earlier.database.query(`create schema ${source.schema};
          create table ${source.schema}.migrations (number int primary key, name text, applied_at timestamptz)`);
        const main = `services/${source.schema}/src/main.ts`;
        const service = spawn(process.execPath, [main], {
          cwd: root,
          env: {
            PATH: process.env.PATH,
            NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
            DATABASE_URL: earlier.url,
            DATA_DIR: `${tmpdir()}/earlier-${source.schema}`,
          },
        });
        let told = '';
        service.stderr.on('data', (chunk) => {
          told += chunk;
        });
        const code = await new Promise((done) => service.on('close', done));
        expect(code).toBe(1);
        expect(told.trim().split('\n')).toEqual([
          expect.stringMatching(
            /schema \w+ was made by an earlier version, .*: start with an empty database .* move DATA_DIR away/,
          ),
        ]);
      } finally {
        await earlier.drop();
      }
    }, 60_000);

    test('files after the first release change one thing per ALTER', async () => {
      expect((await readMigrations(source)).flatMap(findBundledAlters)).toEqual([]);
    });
  });
}

test('an index that the guide builds beforehand, while payments are accepted, is the one that the migration makes', async () => {
  const guide = readFileSync(`${root}services/payments/docs/upgrades.md`, 'utf8');
  const statements = [...guide.matchAll(/`((?:create|select|drop) [^`]+)`/g)].map(([, sql = '']) => sql);
  const building = statements.filter((sql) => sql.startsWith('create index concurrently if not exists '));
  expect(building).not.toEqual([]);
  const { source, schemas } = SERVICES.find((service) => service.source.schema === 'payments')!;
  const [upgraded, fresh] = await Promise.all([createTestDatabase(), createTestDatabase(source)]);
  try {
    await upgraded.database.session((session) =>
      session.query(`${readFileSync(`${folder}/payments-0.1.0.sql`, 'utf8')}; reset search_path`),
    );
    // As they stand there: built, looked at, and where that was broken off, taken away and built again.
    for (const sql of [...statements, ...building]) await upgraded.database.query(sql);
    await migrate(upgraded.url, source);
    expect(await catalogueToStay(upgraded.database, schemas)).toEqual(
      await readCatalogue(fresh.database, schemas),
    );
  } finally {
    await Promise.all([upgraded.drop(), fresh.drop()]);
  }
});

/** Upgrades the release of Payments that was kept, after `before`, and asks what came of it. */
async function askUpgraded(question: string, before = 'select 1'): Promise<unknown[]> {
  const { source } = SERVICES.find((service) => service.source.schema === 'payments')!;
  const upgraded = await createTestDatabase();
  try {
    await upgraded.database.session((session) =>
      session.query(`${readFileSync(`${folder}/payments-0.1.0.sql`, 'utf8')}; ${before}; reset search_path`),
    );
    await migrate(upgraded.url, source);
    return (await upgraded.database.query(question)).rows;
  } finally {
    await upgraded.drop();
  }
}

test('payments of a release before that did not complete are listed', async () => {
  const answers = await askUpgraded(
    `select exists (select from payments.payments_uncompleted) as some, not exists (
       (select tenant_id, id, status from payments.payments where status <> 'completed'
        except select tenant_id, id, status from payments.payments_uncompleted)
       union all
       (select tenant_id, id, status from payments.payments_uncompleted
        except select tenant_id, id, status from payments.payments where status <> 'completed')) as all`,
  );
  expect(answers).toEqual([{ some: true, all: true }]);
});

test('where payments lie on several servers, they are found by the index as before', async () => {
  const answers = await askUpgraded(
    `select to_regclass('payments.payments_not_completed') is not null as indexed,
       exists (select from payments.payments_uncompleted) as listed,
       exists (select from pg_trigger where tgname = 'payments_listed') as followed`,
    // As Citus says where a table is.
    `create table payments.pg_dist_partition (logicalrelid regclass);
     insert into payments.pg_dist_partition values ('payments.payments')`,
  );
  expect(answers).toEqual([{ indexed: true, listed: false, followed: false }]);
});

test('an ALTER that does two things at once is found', () => {
  const faults = (sql: string) => findBundledAlters({ series: 's', number: 2, name: 'x', sql });
  expect(faults('alter table a add column b int, add column c int;')).toEqual([
    's 2 x: one change for each ALTER TABLE (alter table a add column b int, add colu…)',
  ]);
  expect(
    faults(`-- a, b
      alter table a add column b numeric(10, 2) default 'x, add column';
      alter table a add constraint c check (b in (1, 2));
      create function f() returns int language sql as $$ select 1, 2; $$;
      alter table a
        alter column b drop not null,
        alter column b set default 1;`),
  ).toHaveLength(1);
});

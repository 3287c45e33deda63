import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { isDatabaseAway } from './connection/away.ts';
import { checkIdentifier, connectAlone, migrationSettings } from './connection/connection.ts';

/** Files that belong together and are numbered for themselves: a service's own, or those of a library. */
export interface MigrationSeries {
  /** The series' name in the record of what was applied; it must never change. */
  name: string;
  /** A folder of files named `0001_what_it_does.sql`. */
  folder: string;
  /**
   * The schema that the files fill, where it is not the service's. The files name none: they are applied with this one
   * as the search path. So the text that runs is the text of the file, wherever its tables are to lie, and its
   * checksum holds for every service that uses the series.
   */
  schema?: string;
}

export interface MigrationSource {
  /** The service's schema, made when it is not there; the record of what was applied is kept in it. */
  schema: string;
  /** In the order in which they are applied: what a file needs comes in an earlier series. */
  series: readonly MigrationSeries[];
}

export interface Migration {
  series: string;
  schema: string;
  number: number;
  name: string;
  sql: string;
  checksum: string;
}

/** The message is one line for the person who starts the service. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;

export async function readMigrations(source: MigrationSource): Promise<Migration[]> {
  const names = new Set(source.series.map((series) => series.name));
  if (names.size !== source.series.length)
    throw new MigrationError(`two series of ${source.schema} share a name`);
  const all: Migration[] = [];
  for (const series of source.series) all.push(...(await readSeries(series, source.schema)));
  return all;
}

async function readSeries(series: MigrationSeries, schema: string): Promise<Migration[]> {
  const migrations: Migration[] = [];
  for (const file of (await readdir(series.folder)).sort()) {
    const match = FILE_NAME.exec(file);
    if (!match) throw new MigrationError(`${file} is not named like 0001_what_it_does.sql`);
    const number = Number(match[1]);
    if (number !== migrations.length + 1)
      throw new MigrationError(`${file} of ${series.name} breaks the sequence of numbers`);
    // A check-out may have changed the ends of lines, which changes nothing that runs.
    const sql = (await readFile(join(series.folder, file), 'utf8')).replaceAll('\r\n', '\n');
    migrations.push({
      series: series.name,
      schema: checkIdentifier(series.schema ?? schema),
      number,
      name: match[2] as string,
      sql,
      checksum: createHash('sha256').update(sql).digest('hex'),
    });
  }
  return migrations;
}

/**
 * Brings the schema up to date and gives the number of files applied. Each file is one transaction together with the
 * row that records it, so a crash leaves a whole number of files applied. Any number of processes may call this at
 * once: every transaction begins by taking one lock and reading the record under it. The lock ends with its
 * transaction, and nothing else is asked of the session, so a pooler between us and Postgres does no harm.
 */
export async function migrate(url: string, source: MigrationSource): Promise<number> {
  checkIdentifier(source.schema);
  const migrations = await readMigrations(source);
  const client = await connectAlone(url, `${source.schema} migrations`);
  try {
    let pending = await locked(client, source, async () => {
      await prepareSchemas(client, source, migrations);
      return missing(source, migrations, await readRecord(client, source));
    });
    let applied = 0;
    while (pending.length > 0) {
      pending = await locked(client, source, async () => {
        const [next, ...later] = missing(source, migrations, await readRecord(client, source));
        if (!next) return [];
        await apply(client, source, next);
        applied += 1;
        return later;
      });
    }
    return applied;
  } finally {
    await client.end();
  }
}

/** How many files a schema that was migrated before has not had yet; changes nothing. */
export async function countPending(client: pg.Client, source: MigrationSource): Promise<number> {
  const migrations = await readMigrations(source);
  return missing(source, migrations, await readRecord(client, source)).length;
}

async function locked<T>(client: pg.Client, source: MigrationSource, work: () => Promise<T>): Promise<T> {
  await client.query(`begin; ${migrationSettings}`);
  try {
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `migrations ${source.schema}`,
    ]);
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // The first error is the one to report; a rollback that fails means that the connection is gone.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Makes what is not there yet. Tables that came without a record are not ours to build on. */
async function prepareSchemas(
  client: pg.Client,
  source: MigrationSource,
  migrations: readonly Migration[],
): Promise<void> {
  const schemas = [...new Set([source.schema, ...migrations.map((migration) => migration.schema)])];
  const { rows: records } = await client.query(
    `select 1 from information_schema.columns
     where table_schema = $1 and table_name = 'migrations' and column_name = 'checksum'`,
    [source.schema],
  );
  if (records.length === 0) {
    const { rows } = await client.query<{ schema: string }>(
      `select n.nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = any($1) and c.relkind in ('r', 'p') order by 1 limit 1`,
      [schemas],
    );
    if (rows[0])
      throw new MigrationError(
        `schema ${rows[0].schema} was made by an earlier version, from which there is no upgrade: ` +
          'start with an empty database (the embedded one: move DATA_DIR away), or go on with that version',
      );
  }
  for (const schema of schemas) {
    // Asked first, because making a schema needs a right that an operator may want to keep, even if it is there.
    const { rows } = await client.query('select 1 from pg_namespace where nspname = $1', [schema]);
    if (rows.length === 0) await client.query(`create schema ${schema}`);
  }
  if (records.length === 0) await client.query(recordTable(source.schema));
}

/** What was applied. It is made once and never changed, since it is what tells how everything else may be changed. */
export function recordTable(schema: string): string {
  return `create table ${schema}.migrations (
  series text collate "C" not null,
  number int not null,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now(),
  primary key (series, number)
)`;
}

type Recorded = Pick<Migration, 'series' | 'number' | 'name' | 'checksum'>;

async function readRecord(client: pg.Client, source: MigrationSource): Promise<Recorded[]> {
  const { rows } = await client.query<Recorded>(
    `select series, number, name, checksum from ${source.schema}.migrations order by series, number`,
  );
  return rows;
}

const fileName = ({ number, name }: { number: number; name: string }) =>
  `${String(number).padStart(4, '0')}_${name}.sql`;

/** What is still to be applied. Refuses a database that these files are not the continuation of. */
function missing(
  source: MigrationSource,
  migrations: readonly Migration[],
  record: readonly Recorded[],
): Migration[] {
  const key = ({ series, number }: Recorded) => `${series} ${number}`;
  const known = new Map(migrations.map((migration) => [key(migration), migration]));
  for (const recorded of record) {
    const file = known.get(key(recorded));
    if (!file)
      throw new MigrationError(
        `schema ${source.schema} was upgraded by a newer version (${recorded.series}/${fileName(recorded)}), ` +
          'which this one does not know: start that version or a later one',
      );
    if (file.name !== recorded.name || file.checksum !== recorded.checksum)
      throw new MigrationError(
        `migration ${file.series}/${fileName(file)} is not the file that ran here as ${fileName(recorded)}: ` +
          'put that file back as it was, and write the change as a new file with the next number',
      );
  }
  const applied = new Set(record.map(key));
  return migrations.filter((migration) => !applied.has(key(migration)));
}

async function apply(client: pg.Client, source: MigrationSource, migration: Migration): Promise<void> {
  try {
    await client.query(`set local search_path to ${migration.schema}`);
    await client.query(migration.sql);
    await client.query(
      `insert into ${source.schema}.migrations (series, number, name, checksum) values ($1, $2, $3, $4)`,
      [migration.series, migration.number, migration.name, migration.checksum],
    );
  } catch (error) {
    // The file is not at fault, and is applied at the next start.
    if (isDatabaseAway(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError(
      `migration ${migration.series}/${fileName(migration)} of ${source.schema} failed: ${reason}`,
    );
  }
}

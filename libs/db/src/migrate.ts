import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { explainConnectError } from './database.ts';

export interface MigrationSource {
  /** The schema that the files fill; made when it is not there. */
  schema: string;
  /** A folder of files named `0001_what_it_does.sql`. */
  folder: string;
  /** Values for `{{name}}` in the files: SQL that a library contributes to the service's schema. */
  fragments?: Readonly<Record<string, string>>;
}

export interface Migration {
  number: number;
  name: string;
  sql: string;
}

export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;

export async function readMigrations({ folder, fragments = {} }: MigrationSource): Promise<Migration[]> {
  const migrations: Migration[] = [];
  for (const file of (await readdir(folder)).sort()) {
    const match = FILE_NAME.exec(file);
    if (!match) throw new MigrationError(`${file} is not named like 0001_what_it_does.sql`);
    const number = Number(match[1]);
    if (number !== migrations.length + 1) throw new MigrationError(`${file} breaks the sequence of numbers`);
    const text = await readFile(join(folder, file), 'utf8');
    const sql = text.replaceAll(/\{\{(\w+)\}\}/g, (_whole, name: string) => {
      const fragment = fragments[name];
      if (fragment === undefined) throw new MigrationError(`${file} asks for an unknown fragment ${name}`);
      return fragment;
    });
    migrations.push({ number, name: match[2] as string, sql });
  }
  return migrations;
}

/**
 * Brings the schema up to date. Any number of processes may call this at once: a session lock lets one work while
 * the others wait and then find nothing to do. Each file is one transaction with the row that records it, so a
 * crash leaves a whole number of files applied.
 */
export async function migrate(url: string, source: MigrationSource): Promise<number> {
  const migrations = await readMigrations(source);
  const client = new pg.Client({ connectionString: url, application_name: `${source.schema} migrations` });
  try {
    await client.connect();
  } catch (error) {
    throw explainConnectError(url, error);
  }
  try {
    await client.query(`select pg_advisory_lock(hashtextextended($1, 0))`, [`migrations ${source.schema}`]);
    await client.query(`create schema if not exists ${source.schema}`);
    await client.query(`set search_path to ${source.schema}`);
    await client.query(`create table if not exists migrations
      (number int primary key, name text not null, applied_at timestamptz not null default now())`);
    const { rows } = await client.query<{ number: number; name: string }>(
      'select number, name from migrations',
    );
    const applied = new Map(rows.map((row) => [row.number, row.name]));
    const newest = Math.max(0, ...applied.keys());
    if (newest > migrations.length) {
      throw new MigrationError(
        `schema ${source.schema} is at migration ${newest}, this version knows ${migrations.length}: start a newer version`,
      );
    }
    const missing = migrations.filter((migration) => !applied.has(migration.number));
    for (const migration of missing) await apply(client, source.schema, migration);
    return missing.length;
  } finally {
    await client.end();
  }
}

async function apply(client: pg.Client, schema: string, migration: Migration): Promise<void> {
  try {
    await client.query('begin');
    await client.query(migration.sql);
    await client.query(`set local search_path to ${schema}`);
    await client.query('insert into migrations (number, name) values ($1, $2)', [
      migration.number,
      migration.name,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError(
      `migration ${migration.number} (${migration.name}) of ${schema} failed: ${reason}`,
    );
  }
}

// npm run keep-schema: writes what a database of this release is made of, with a row in every table, to `kept/`.
// A release is kept once and never written again: `upgrade.db.test.ts` upgrades every one of them to today's schema.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type MigrationSource, migrate, openDatabase, type Queryable, readMigrations } from '@libs/db';
import { recordTable, startTestServer } from '@libs/db/testing';
import { readListChecks } from './catalogue.ts';
import { SERVICES } from './services.ts';

const ROW = 'kept_1';
const MOMENT = '2026-11-15T12:00:00Z';

/** What the rules of a table ask for beyond the first value that each column takes, by `table.column`. */
const SPECIAL: Readonly<Record<string, string>> = {
  'payment_methods.type': 'balance',
  'payments.source_id': 'pm_1',
  'payments.destination_id': 'pm_2',
  'ledger_transfers.kind': 'fund',
  'ledger_transfers.debit_account': 'outside_sources',
  'webhook_endpoints.status': 'enabled',
  'rail_messages.content': '<message/>',
};

const BY_TYPE: Readonly<Record<string, string>> = {
  text: ROW,
  'text[]': '{}',
  bytea: '\\x01',
  jsonb: '{}',
  json: '{}',
  boolean: 'false',
  date: MOMENT.slice(0, 10),
  'timestamp with time zone': MOMENT,
  bigint: '1',
  integer: '1',
  smallint: '1',
  'double precision': '1',
};

interface Column {
  table: string;
  column: string;
  type: string;
}

/** Columns that must be given: not null and without a value of their own. */
const COLUMNS = `
select format('%s.%s', n.nspname, c.relname) as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type
from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0 and not a.attisdropped
  and ((a.attnotnull and not a.atthasdef and a.attidentity = '') or format('%s.%s', c.relname, a.attname) = any($2))
order by c.relname, a.attnum`;

async function sampleRows(db: Queryable, schemas: readonly string[]): Promise<Map<string, string>> {
  const lists = new Map((await readListChecks(db, schemas)).map(({ column, values }) => [column, values[0]]));
  const { rows } = await db.query<Column>(COLUMNS, [schemas, Object.keys(SPECIAL)]);
  const statements = new Map<string, string>();
  for (const [table, columns] of Map.groupBy(rows, (row) => row.table)) {
    const values = columns.map(({ column, type }) => {
      const name = `${table.split('.')[1]}.${column}`;
      const value = SPECIAL[name] ?? lists.get(name) ?? BY_TYPE[type];
      if (value === undefined) throw new Error(`no sample value for ${name} of type ${type}`);
      return `'${value}'`;
    });
    const names = columns.map(({ column }) => column);
    statements.set(table, `insert into ${table} (${names.join(', ')}) values (${values.join(', ')});`);
  }
  return statements;
}

/** Rows refer to each other, so a row that is refused is tried again when others are there. */
async function insertAll(db: Queryable, rows: Map<string, string>): Promise<string[]> {
  const done: string[] = [];
  for (let waiting = [...rows.entries()]; waiting.length > 0; ) {
    const refused: typeof waiting = [];
    let reason: unknown;
    for (const [table, statement] of waiting) {
      const { rows: present } = await db.query(`select 1 from ${table} limit 1`);
      // What the migrations themselves filled is sample enough.
      if (present.length > 0) continue;
      try {
        await db.query(statement);
        done.push(statement);
      } catch (error) {
        reason = error;
        refused.push([table, statement]);
      }
    }
    if (refused.length === waiting.length)
      throw new Error(`no row fits ${refused[0]?.[0]}`, { cause: reason });
    waiting = refused;
  }
  return done;
}

/** A table that is divided by days takes a row once it has the day; others have a part for everything. */
async function makeDays(db: Queryable, schemas: readonly string[]): Promise<string[]> {
  const day = MOMENT.slice(0, 10);
  const { rows } = await db.query<{ statement: string }>(
    `select format('create table %1$s.%2$s_%3$s partition of %1$s.%2$s for values from (%4$L) to (%5$L);', n.nspname, c.relname,
       $2::text, $3::text, ($3::date + 1)::text) as statement
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_partitioned_table p on p.partrelid = c.oid
     where n.nspname = any($1) and p.partdefid = 0`,
    [schemas, day.replaceAll('-', ''), day],
  );
  for (const { statement } of rows) await db.query(statement);
  return rows.map(({ statement }) => statement);
}

async function describeSchema(
  url: string,
  source: MigrationSource,
  schemas: readonly string[],
): Promise<string> {
  await migrate(url, source);
  const database = await openDatabase({ url, schema: source.schema });
  const days = await makeDays(database, schemas);
  const data = await insertAll(database, await sampleRows(database, schemas));
  await database.close();
  const record = `${source.schema}.migrations`;
  const parts = [...schemas.map((schema) => `create schema ${schema};`), `${recordTable(source.schema)};`];
  for (const migration of await readMigrations(source)) {
    parts.push(
      `-- ${migration.series} ${migration.number} ${migration.name}\nset search_path to ${migration.schema};\n${migration.sql.trimEnd()}`,
      `insert into ${record} (series, number, name, checksum) values
  ('${migration.series}', ${migration.number}, '${migration.name}', '${migration.checksum}');`,
    );
  }
  parts.push('-- A row in every table.', 'reset search_path;', ...days, ...data);
  return `${parts.join('\n\n')}\n`;
}

const { version } = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
) as { version: string };
const server = await startTestServer();
try {
  for (const { source, schemas } of SERVICES) {
    const file = fileURLToPath(new URL(`kept/${source.schema}-${version}.sql`, import.meta.url));
    if (existsSync(file)) {
      console.error(`${source.schema} ${version} is kept already: raise the version in package.json first`);
      process.exitCode = 1;
      continue;
    }
    const sql = await describeSchema(server.url, source, schemas);
    writeFileSync(
      file,
      `-- The database of ${source.schema} ${version}, written by npm run keep-schema. Frozen.\n\n${sql}`,
    );
    console.log(`kept/${source.schema}-${version}.sql`);
  }
} finally {
  await server.stop();
}

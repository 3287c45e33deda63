// Spreading, as far as a plain Postgres can show it: which statements place the tables, and what is refused. The functions
// of Citus are played by ones that write down their calls.
import { migrate, type PlacedTables, prepareSchema, type Queryable, spread } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { PAYMENTS_TABLES } from '../../services/payments/src/spreading/tables.ts';
import { migrationSource } from '../../services/toolhub/src/schema.ts';
import { TOOLHUB_TABLES } from '../../services/toolhub/src/spreading/tables.ts';

const PLAYED_CITUS = `
create table public.pg_dist_partition (logicalrelid oid primary key, method text not null, by text, beside text, place serial);
create function public.create_reference_table(relation regclass) returns void language sql as
  $$ insert into public.pg_dist_partition (logicalrelid, method) values (relation, 'reference') $$;
create function public.create_distributed_table(relation regclass, by text, colocate_with text) returns void language sql as
  $$ insert into public.pg_dist_partition (logicalrelid, method, by, beside) values (relation, 'by tenant', by, colocate_with) $$;
create function public.citus_add_local_table_to_metadata(relation regclass) returns void language sql as
  $$ insert into public.pg_dist_partition (logicalrelid, method) values (relation, 'managed local') $$;
create table public.pg_dist_node (groupid int, isactive boolean default true, noderole text default 'primary');
create table public.pg_dist_object (classid oid not null, objid oid not null, primary key (classid, objid));
create function public.create_distributed_function(called regprocedure) returns void language sql as
  $$ insert into public.pg_dist_object values ('pg_proc'::regclass, called) $$`;

interface Placed {
  name: string;
  method: string;
  by: string | null;
  beside: string | null;
}

async function readPlaced(db: Queryable): Promise<Placed[]> {
  const { rows } = await db.query<Placed>(
    `select logicalrelid::regclass::text as name, method, by, beside from public.pg_dist_partition order by place`,
  );
  return rows;
}

async function readForeignKeys(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>(
    `select format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as key
     from pg_constraint where contype = 'f' order by 1`,
  );
  return rows.map(({ key }) => key);
}

describe.each([
  {
    ...{ name: 'payments', source: paymentsMigrations(), tables: PAYMENTS_TABLES as PlacedTables },
    wasLocal: 'payments.rail_quarantine',
    row: `(id, rail, content_sealed, reason, received_at) values ('qua_a', 'rtp', '', 'odd', now())`,
  },
  {
    ...{ name: 'toolhub', source: migrationSource, tables: TOOLHUB_TABLES as PlacedTables },
    wasLocal: 'toolhub.passkey_challenges',
    row: `(browser_hash, kind, challenge, expires_at) values ('a', 'log_in', 'a', now())`,
  },
])('$name', ({ source, tables, wasLocal, row }) => {
  let made: TestDatabase;
  const run = () => spread({ url: made.url, tables, onPlaced: () => {} });

  beforeAll(async () => {
    made = await createTestDatabase(source);
  });
  afterAll(() => made.drop());

  test('a database without Citus is refused in one line', async () => {
    await expect(run()).rejects.toThrow(/^this database has no Citus: [^\n]+$/);
  });

  test('every table goes to its place with every function, and a repeat changes nothing', async () => {
    await made.database.query(PLAYED_CITUS);
    await expect(run()).rejects.toThrow(/^this cluster has no workers: [^\n]+citus_add_node[^\n]+$/);
    await made.database.query('insert into public.pg_dist_node values (1), (2)');
    await expect(run()).rejects.toThrow(
      /^the coordinator does not know [^\n]+citus_set_coordinator_host[^\n]+$/,
    );
    await made.database.query('insert into public.pg_dist_node values (0)');
    const keysBefore = await readForeignKeys(made.database);
    const wanted = Object.values(tables).filter(({ placement }) => placement !== 'local').length;
    expect(await run()).toBe(wanted);
    // Without a path every name is written with its schema.
    const placed = await made.database.transaction(async (tx) => {
      await tx.query(`set local search_path to ''`);
      return readPlaced(tx);
    });
    for (const { name, method, by } of placed)
      expect([name, method, by ?? undefined]).toEqual([name, tables[name]?.placement, tables[name]?.by]);
    const together = placed.filter(({ method }) => method === 'by tenant').map(({ beside }) => beside);
    expect(together.filter((beside) => beside === 'none')).toHaveLength(1);
    expect(new Set(together).size).toBe(2);
    expect(await readForeignKeys(made.database)).toEqual(keysBefore);
    const { rows: missing } = await made.database.query(
      `select oid::regprocedure from pg_proc where pronamespace = current_schema()::regnamespace
         and oid not in (select objid from public.pg_dist_object)`,
    );
    expect(missing).toEqual([]);
    const dropped = Object.values(tables).flatMap(({ triggersDropped = [] }) => triggersDropped);
    const { rows: left } = await made.database.query(
      'select tgname as name from pg_trigger where tgname = any($1)',
      [dropped],
    );
    expect(left).toEqual([]);
    for (const [name, { indexed = [] }] of Object.entries(tables)) {
      const { rows: indexes } = await made.database.query(
        `select indexdef as made from pg_indexes where format('%s.%s', schemaname, tablename) = $1`,
        [name],
      );
      for (const statement of indexed)
        expect(indexes).toContainEqual({
          made: expect.stringContaining(/ index if not exists (\w+) on /.exec(statement)?.[1] ?? statement),
        });
    }
    expect(await run()).toBe(0);
    // A table of a later migration joins the others.
    const last = placed.findLast(({ method }) => method === 'by tenant')?.name ?? '';
    await made.database.query(`delete from public.pg_dist_partition where logicalrelid = $1::regclass`, [
      last,
    ]);
    expect(await run()).toBe(1);
    const again = (await readPlaced(made.database)).at(-1);
    expect(again?.beside).toBe(placed.find(({ method }) => method === 'by tenant')?.name);
  });

  test('a table that was local before is placed with its rows', async () => {
    await made.database.query(`insert into ${wasLocal} ${row}`);
    await made.database.query(`delete from public.pg_dist_partition where logicalrelid = $1::regclass`, [
      wasLocal,
    ]);
    expect(await run()).toBe(1);
  });

  test('a service that is newer than the placing does not start: what it filled could not be placed any more', async () => {
    const schema = source.schema;
    const start = () => prepareSchema({ url: made.url, source, tables, command: 'npm run it -- spread' });
    await start();
    const [last] = (await readPlaced(made.database)).slice(-1);
    const unplaced = `delete from public.pg_dist_partition where logicalrelid = $1::regclass`;
    await made.database.query(unplaced, [last?.name]);
    await expect(start()).rejects.toThrow(
      new RegExp(
        `^this database is spread, and ${schema}[^\\n]+not in its place: run \`npm run it -- spread\``,
      ),
    );
    const { rows } = await made.database.query(
      `delete from migrations where (series, number) in (select series, number from migrations order by applied_at desc limit 1)
       returning series, number, name, checksum`,
    );
    await expect(start()).rejects.toThrow(
      /^this database is spread, and 1 of the migrations [^\n]+ spread` first/,
    );
    await made.database.query(
      `insert into migrations (series, number, name, checksum) select * from jsonb_to_record($1)
         as record (series text, number int, name text, checksum text)`,
      [rows[0]],
    );
    await run();
    await start();
    // What was not spread is brought up to date as ever.
    await made.database.query('truncate public.pg_dist_partition');
    await start();
    expect(await migrate(made.url, source)).toBe(0);
  });

  test('an installation with rows is refused, with the way to move them', async () => {
    await made.database.query('truncate public.pg_dist_partition');
    await made.database.query(`insert into jobs (name, payload, ready_at) values ('a', '{}', now())`);
    await expect(run()).rejects.toThrow(/has rows \(\w+\.jobs\), and only an empty one is spread: .*pg_dump/);
    expect(await readPlaced(made.database)).toEqual([]);
  });
});

import type pg from 'pg';
import { connectAlone, DatabaseUnreachable } from '../connection/connection.ts';
import type { PlacedTables } from './placement.ts';

/** The message is one line for the person who spreads the installation. */
export class SpreadError extends Error {
  override readonly name = 'SpreadError';
}

/** Whether tables of the schema were placed on the servers of a cluster; asked once, when a service connects. */
export async function isSchemaSpread(pool: pg.Pool, schema: string): Promise<boolean> {
  const known = await pool.query(`select to_regclass('pg_catalog.pg_dist_partition') is not null as present`);
  if (!(known.rows[0] as { present: boolean }).present) return false;
  const { rows } = await pool.query(
    `select from pg_catalog.pg_dist_partition p join pg_catalog.pg_class c on c.oid = p.logicalrelid
     where c.relnamespace = to_regnamespace($1) limit 1`,
    [schema],
  );
  return rows.length > 0;
}

/** A service finishes commits that a crash has cut in two; see `commits.ts`. */
export async function requireRecovery(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ allowed: boolean; role: string }>(
    `select has_function_privilege('pg_catalog.recover_prepared_transactions()', 'execute') as allowed,
       quote_ident(current_user) as role`,
  );
  if (rows[0]?.allowed) return;
  throw new DatabaseUnreachable(
    'this database is spread, and its role may not finish commits after a crash: on the coordinator, ' +
      `grant execute on function recover_prepared_transactions() to ${rows[0]?.role}`,
  );
}

/** One table on its way to its place. */
interface SpreadStep {
  table: string;
  sql: string;
}

export interface SpreadOptions {
  /** The coordinator itself, with a role that may place tables. */
  url: string;
  tables: PlacedTables;
  /** Told of each table that was placed. */
  onPlaced: (table: string) => void;
}

/**
 * Spreads an empty installation over the servers of a Citus cluster, by the list of its tables: all in one transaction, so
 * a run that was cut short has done nothing. Tables that are in their place are left out, so a repeat changes nothing, and
 * tables of later migrations are placed the same way.
 */
export async function spread({ url, tables, onPlaced }: SpreadOptions): Promise<number> {
  const client = await connectAlone(url, 'spread');
  try {
    await requireCitus(client);
    await requireServers(client);
    const placed = await readPlaced(client);
    const missing = without(tables, placed);
    await requireEmpty(client, missing);
    const anchor = Object.keys(tables).find(
      (name) => placed.has(name) && tables[name]?.placement === 'by tenant',
    );
    const steps = spreadSteps(missing, anchor);
    if (steps.length > 0) await inTransaction(client, () => place(client, tables, steps, onPlaced));
    return steps.length;
  } finally {
    await client.end();
  }
}

async function requireCitus(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select to_regproc('create_distributed_table') is not null as present`);
  if (!(rows[0] as { present: boolean }).present)
    throw new SpreadError(
      'this database has no Citus: create extension citus on the coordinator and its workers, add the workers, and try again',
    );
}

async function requireServers(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ workers: number; coordinators: number }>(
    `select count(*) filter (where groupid <> 0)::int as workers, count(*) filter (where groupid = 0)::int as coordinators
     from pg_dist_node where isactive and noderole = 'primary'`,
  );
  if (rows[0]?.workers === 0)
    throw new SpreadError(
      "this cluster has no workers: select citus_add_node('host', 5432) on the coordinator for each of them, and try again",
    );
  if (rows[0]?.coordinators === 0)
    throw new SpreadError(
      "the coordinator does not know its own address: select citus_set_coordinator_host('host', 5432) there, and try again",
    );
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await work();
    await client.query('commit');
  } catch (error) {
    // The first error is the one to report; a rollback that fails means that the connection is gone.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Foreign keys are made anew once both of their tables are in their places: in between they would lead astray. */
async function place(
  client: pg.Client,
  tables: PlacedTables,
  steps: readonly SpreadStep[],
  onPlaced: SpreadOptions['onPlaced'],
): Promise<void> {
  // Triggers of ours read and write rows of their own tenant alone, which lie on the same server.
  await client.query('set local citus.enable_unsafe_triggers = on');
  await client.query(`set local citus.multi_shard_modify_mode = 'sequential'`);
  const keys = await readForeignKeys(client, schemasOf(tables));
  for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${name}`);
  for (const { table, sql } of steps) {
    for (const trigger of tables[table]?.triggersDropped ?? [])
      await client.query(`drop trigger if exists ${trigger} on ${table}`);
    await client.query(sql);
    for (const statement of tables[table]?.indexed ?? []) await client.query(statement);
    onPlaced(table);
  }
  await bringFunctions(client, schemasOf(tables));
  for (const { table, name, definition } of keys)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`);
}

function schemasOf(tables: PlacedTables): string[] {
  return [...new Set(Object.keys(tables).map((name) => name.split('.')[0] as string))];
}

async function readForeignKeys(
  client: pg.Client,
  schemas: readonly string[],
): Promise<{ table: string; name: string; definition: string }[]> {
  const { rows } = await client.query(
    `select format('%s.%s', n.nspname, t.relname) as table, c.conname as name, pg_get_constraintdef(c.oid) as definition
     from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
     where c.contype = 'f' and n.nspname = any($1) and c.conparentid = 0 order by 1, 2`,
    [schemas],
  );
  return rows;
}

/** Statements run where their rows are, and find the functions there that they call. */
async function bringFunctions(client: pg.Client, schemas: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select p.oid::regprocedure::text as name
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = any($1) and not exists (
       select from pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = p.oid)`,
    [schemas],
  );
  for (const { name } of rows)
    await client.query('select create_distributed_function($1::regprocedure)', [name]);
}

/** Those that have a place on the servers and are not there. */
function without(tables: PlacedTables, placed: ReadonlySet<string>): PlacedTables {
  return Object.fromEntries(
    Object.entries(tables).filter(([name, { placement }]) => placement !== 'local' && !placed.has(name)),
  );
}

export async function isPlacedAnywhere(client: pg.Client, tables: PlacedTables): Promise<boolean> {
  const { rows } = await client.query(`select to_regclass('pg_dist_partition') is not null as present`);
  if (!(rows[0] as { present: boolean }).present) return false;
  const placed = await readPlaced(client);
  return Object.keys(tables).some((name) => placed.has(name));
}

export async function findUnplaced(client: pg.Client, tables: PlacedTables): Promise<string[]> {
  return Object.keys(without(tables, await readPlaced(client)));
}

async function readPlaced(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select format('%s.%s', n.nspname, c.relname) as name from pg_dist_partition p
     join pg_class c on c.oid = p.logicalrelid join pg_namespace n on n.oid = c.relnamespace`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** Rows of a table that is placed later would be copied while others are written, and identities would begin anew. */
async function requireEmpty(client: pg.Client, tables: PlacedTables): Promise<void> {
  const filled: string[] = [];
  for (const [name, { placement, isSeeded, wasLocal }] of Object.entries(tables)) {
    if (placement === 'reference' || isSeeded || wasLocal) continue;
    const { rows } = await client.query(`select exists (select from ${name}) as filled`);
    if ((rows[0] as { filled: boolean }).filled) filled.push(name);
  }
  if (filled.length > 0)
    throw new SpreadError(
      `this installation has rows (${filled.slice(0, 3).join(', ')}${filled.length > 3 ? ', …' : ''}), and only an empty one is spread: ` +
        'spread a new database on the cluster, before a service is started there, and move the rows while nothing runs: ' +
        'pg_dump --data-only --load-via-partition-root of the old one into the new one; the README of spreading has the steps',
    );
}

/** All tables of a tenant lie together with `anchor`, or with the first of them, so that joins stay on one server. */
function spreadSteps(tables: PlacedTables, anchor?: string): SpreadStep[] {
  const ofPlacement = (placement: string) =>
    Object.keys(tables).filter((name) => tables[name]?.placement === placement);
  const byTenant = ofPlacement('by tenant');
  const together = anchor ?? byTenant[0];
  return [
    ...ofPlacement('reference').map((table) => ({ table, sql: `select create_reference_table('${table}')` })),
    ...byTenant.map((table) => ({
      table,
      sql: `select create_distributed_table('${table}', '${tables[table]?.by}', colocate_with => '${table === together ? 'none' : together}')`,
    })),
    ...ofPlacement('managed local').map((table) => ({
      table,
      sql: `select citus_add_local_table_to_metadata('${table}')`,
    })),
  ];
}

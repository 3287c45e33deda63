import pg from 'pg';
import { explainConnectError } from './connection.ts';
import type { PlacedTables } from './placement.ts';

/** The message is one line for the person who spreads the installation. */
export class SpreadError extends Error {
  override readonly name = 'SpreadError';
}

/** One table on its way to its place. */
export interface SpreadStep {
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
 * Spreads an empty installation over the servers of a Citus cluster, by the list of its tables. Each table is placed for
 * itself and those that are in their place are left out, so a run that was cut short is simply repeated, and tables of
 * later migrations are placed the same way.
 */
export async function spread({ url, tables, onPlaced }: SpreadOptions): Promise<number> {
  const client = new pg.Client({ connectionString: url, application_name: 'spread' });
  try {
    await client.connect();
  } catch (error) {
    throw explainConnectError(url, error);
  }
  try {
    await requireCitus(client);
    const placed = await readPlaced(client);
    const missing = Object.fromEntries(
      Object.entries(tables).filter(([name, { placement }]) => placement !== 'local' && !placed.has(name)),
    );
    await requireEmpty(client, missing);
    // Triggers of ours read and write rows of their own tenant alone, which lie on the same server.
    await client.query('set citus.enable_unsafe_triggers = on');
    const anchor = Object.keys(tables).find(
      (name) => placed.has(name) && tables[name]?.placement === 'by tenant',
    );
    const steps = spreadSteps(missing, await readReferences(client), anchor);
    for (const { table, sql } of steps) {
      await client.query(sql);
      onPlaced(table);
    }
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
  for (const [name, { placement, isSeeded }] of Object.entries(tables)) {
    if (placement === 'reference' || isSeeded) continue;
    const { rows } = await client.query(`select exists (select from ${name}) as filled`);
    if ((rows[0] as { filled: boolean }).filled) filled.push(name);
  }
  if (filled.length > 0)
    throw new SpreadError(
      `this installation has rows (${filled.slice(0, 3).join(', ')}${filled.length > 3 ? ', …' : ''}), and only an empty one is spread: ` +
        'spread a new database on the cluster, before a service is started there, and move the rows while nothing runs: ' +
        'pg_dump --data-only --disable-triggers of the old one into the new one',
    );
}

/** Foreign keys within the schemas, from table to table. */
async function readReferences(client: pg.Client): Promise<{ from: string; to: string }[]> {
  const { rows } = await client.query<{ from: string; to: string }>(
    `select format('%s.%s', fn.nspname, f.relname) as from, format('%s.%s', tn.nspname, t.relname) as to
     from pg_constraint c join pg_class f on f.oid = c.conrelid join pg_namespace fn on fn.oid = f.relnamespace
     join pg_class t on t.oid = c.confrelid join pg_namespace tn on tn.oid = t.relnamespace
     where c.contype = 'f' and c.conrelid <> c.confrelid`,
  );
  return rows;
}

/**
 * The statements in their order: what is referred to comes before what refers to it. All tables of a tenant lie together
 * with `anchor`, or with the first of them, so that joins and foreign keys stay on one server.
 */
export function spreadSteps(
  tables: PlacedTables,
  references: readonly { from: string; to: string }[],
  anchor?: string,
): SpreadStep[] {
  const ordered = inOrder(Object.keys(tables), references);
  const ofPlacement = (placement: string) => ordered.filter((name) => tables[name]?.placement === placement);
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

function inOrder(names: readonly string[], references: readonly { from: string; to: string }[]): string[] {
  const placed = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (placed.has(name) || path.includes(name)) return;
    for (const { from, to } of references)
      if (from === name && names.includes(to)) visit(to, [...path, name]);
    placed.add(name);
  };
  for (const name of names) visit(name, []);
  return [...placed];
}

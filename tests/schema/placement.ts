import type { PlacedTable, PlacedTables, Queryable } from '@libs/db';

import { lines } from './catalogue.ts';

/** What breaks the rules by which the tables can be spread, in words that say how to mend it. */
export async function findPlacementFaults(
  db: Queryable,
  schemas: readonly string[],
  tables: PlacedTables,
): Promise<string[]> {
  const existing = await lines(db, TABLES, schemas);
  const listed = Object.keys(tables);
  return [
    ...existing.filter((name) => !(name in tables)).map((name) => `${name} is in no list: place it`),
    ...listed
      .filter((name) => !existing.includes(name))
      .map((name) => `${name} is listed and does not exist`),
    ...Object.entries(tables).flatMap(([name, table]) => faultsOfEntry(name, table)),
    ...(await keyFaults(db, schemas, tables)),
    ...(await foreignKeyFaults(db, schemas, tables)),
    ...(await lines(db, COLLATIONS, schemas)).map((name) => `${name} names or orders rows: collate "C"`),
    ...(await lines(db, PATHS, schemas)).map(
      (name) => `${name} finds its tables by the caller's path: set search_path from current, or return …`,
    ),
  ];
}

function faultsOfEntry(name: string, { placement, by, why }: PlacedTable): string[] {
  if (placement === 'by tenant') return by === undefined ? [`${name} does not say by which column`] : [];
  return why === undefined ? [`${name} does not say why it is not spread by tenant`] : [];
}

/** Parts of a table go where it goes. */
const TABLES = `select format('%s.%s', n.nspname, c.relname) as line from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition`;

async function keyFaults(db: Queryable, schemas: readonly string[], tables: PlacedTables): Promise<string[]> {
  const { rows } = await db.query<{ table: string; key: string; first: string }>(
    `select format('%s.%s', n.nspname, t.relname) as table, k.relname as key, pg_get_indexdef(i.indexrelid, 1, true) as first
     from pg_index i join pg_class t on t.oid = i.indrelid join pg_class k on k.oid = i.indexrelid
     join pg_namespace n on n.oid = t.relnamespace
     where n.nspname = any($1) and i.indisunique`,
    [schemas],
  );
  const spread = Object.entries(tables).filter(([, table]) => table.placement === 'by tenant');
  return [
    ...rows
      .filter(({ table, first }) => tables[table]?.by !== undefined && tables[table]?.by !== first)
      .map(({ table, key }) => `${key} does not begin with ${tables[table]?.by}`),
    ...spread
      .filter(([name]) => !rows.some(({ table, key }) => table === name && key.endsWith('_pkey')))
      .map(([name]) => `${name} has no primary key`),
  ];
}

async function foreignKeyFaults(
  db: Queryable,
  schemas: readonly string[],
  tables: PlacedTables,
): Promise<string[]> {
  const { rows } = await db.query<{ name: string; from: string; to: string }>(
    `select c.conname as name, format('%s.%s', fn.nspname, f.relname) as from, format('%s.%s', tn.nspname, t.relname) as to
     from pg_constraint c join pg_class f on f.oid = c.conrelid join pg_namespace fn on fn.oid = f.relnamespace
     join pg_class t on t.oid = c.confrelid join pg_namespace tn on tn.oid = t.relnamespace
     where c.contype = 'f' and fn.nspname = any($1)`,
    [schemas],
  );
  const placeOf = (name: string) => tables[name]?.placement;
  return rows
    .filter(({ from, to }) => placeOf(to) !== 'reference' && placeOf(from) !== placeOf(to))
    .map(({ name, from, to }) => `${name} leads from ${from} to ${to}, which is placed otherwise: drop it`);
}

/** Text that is in an index, or is called an id, and is compared by the rules of some language. */
const COLLATIONS = `
select distinct format('%s.%s.%s', n.nspname, t.relname, a.attname) as line
from pg_attribute a join pg_class t on t.oid = a.attrelid join pg_namespace n on n.oid = t.relnamespace
where n.nspname = any($1) and t.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
  and a.attcollation <> 0 and a.attcollation <> '"C"'::regcollation and a.atttypid = 'text'::regtype
  and (a.attname ~ '(^|_)id$' or exists (
    select from pg_index i where i.indrelid = t.oid and a.attnum = any (i.indkey::int2[])))`;

/** A function with a body that was bound when it was made has \`prosqlbody\`. */
const PATHS = `
select p.oid::regprocedure::text as line from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname = any($1) and p.prosqlbody is null
  and not exists (select from unnest(p.proconfig) as setting where setting like 'search_path=%')`;

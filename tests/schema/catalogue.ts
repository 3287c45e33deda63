import type { Database, Queryable } from '@libs/db';

export async function lines(db: Queryable, sql: string, schemas: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(sql, [schemas]);
  return rows.map((row) => row.line);
}

/** Everything that makes a schema what it is, as text: equal schemas give equal lists. Days of a table come and go. */
export function readCatalogue(database: Database, schemas: readonly string[]): Promise<string[]> {
  return database.transaction(async (tx) => {
    // Without a path every name is written with its schema.
    await tx.query('set local search_path to pg_catalog');
    const found: string[] = [];
    for (const sql of CATALOGUE) found.push(...(await lines(tx, sql, schemas)));
    return found.sort();
  });
}

const CATALOGUE = [
  `select format('table %s.%s %s %s %s', n.nspname, c.relname, c.relkind, c.relpersistence, c.reloptions) as line
   from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = any($1) and c.relkind in ('r', 'p', 'S', 'v', 'm') and not c.relispartition`,
  `select format('column %s.%s.%s %s collate %s not null %s default %s identity %s generated %s storage %s', n.nspname,
     c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation, a.attnotnull,
     pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attgenerated, a.attstorage) as line
   from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
   left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm') and a.attnum > 0 and not a.attisdropped
     and not c.relispartition`,
  `select format('constraint %s %s %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) as line
   from pg_constraint c join pg_namespace n on n.oid = c.connamespace left join pg_class t on t.oid = c.conrelid
   where n.nspname = any($1) and t.relispartition is not true`,
  `select format('index %s', pg_get_indexdef(c.oid)) as line from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = any($1) and c.relkind in ('i', 'I') and not c.relispartition`,
  `select format('trigger %s', pg_get_triggerdef(t.oid)) as line
   from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = any($1) and not t.tgisinternal`,
  `select format('function %s', pg_get_functiondef(p.oid)) as line
   from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = any($1)`,
  `select format('sequence %s', to_jsonb(s) - 'last_value' - 'sequenceowner') as line
   from pg_sequences s where schemaname = any($1)`,
];

export interface ListCheck {
  /** `table.column`, without the schema. */
  readonly column: string;
  readonly values: readonly string[];
}

/** The columns of which the database takes the values of a list only. */
export async function readListChecks(db: Queryable, schemas: readonly string[]): Promise<ListCheck[]> {
  const { rows } = await db.query<{ column: string; definition: string }>(
    `select format('%s.%s', t.relname, a.attname) as column, pg_get_constraintdef(c.oid) as definition
     from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = c.connamespace
     join pg_attribute a on a.attrelid = t.oid and a.attnum = c.conkey[1]
     where n.nspname = any($1) and c.contype = 'c' and cardinality(c.conkey) = 1 and not t.relispartition
       and pg_get_constraintdef(c.oid) like '%= ANY (%'
     order by 1`,
    [schemas],
  );
  return rows.map(({ column, definition }) => ({
    column,
    values: [...definition.matchAll(/'([^']*)'::text/g)].map((match) => match[1] as string).sort(),
  }));
}

/** Columns that hold envelopes, which their name says, with the primary key of their table. */
export function readSealedColumns(db: Queryable, schemas: readonly string[]): Promise<string[]> {
  return lines(
    db,
    `select format('%s.%s by %s', t.relname, a.attname, (
       select string_agg(k.attname, ', ' order by place)
       from pg_index i cross join unnest(i.indkey::int2[]) with ordinality as part (attnum, place)
       join pg_attribute k on k.attrelid = i.indrelid and k.attnum = part.attnum
       where i.indrelid = t.oid and i.indisprimary)) as line
     from pg_attribute a join pg_class t on t.oid = a.attrelid join pg_namespace n on n.oid = t.relnamespace
     where n.nspname = any($1) and t.relkind in ('r', 'p') and not t.relispartition and a.attnum > 0 and not a.attisdropped
       and a.attname ~ '(^|_)sealed(_|$)' order by 1`,
    schemas,
  );
}

import type { Database, PlacedTables, Queryable, Transaction } from '@libs/db';

/** What a statement does by itself where its tables are spread, and a trigger on one server. */
export async function dropTriggersOfOneServer(db: Queryable, tables: PlacedTables): Promise<void> {
  for (const [name, { triggersDropped = [] }] of Object.entries(tables))
    for (const trigger of triggersDropped) await db.query(`drop trigger ${trigger} on ${name}`);
}

/** From here on each transaction is noted with every table that it writes: a row that is changed later hides who wrote it first. */
export async function noteWritten(db: Queryable, tables: PlacedTables): Promise<void> {
  await db.query(`
    create table public.written (tx xid8, name text, primary key (tx, name));
    create function public.note_written() returns trigger language plpgsql as $$ begin
      insert into public.written values (pg_current_xact_id(), tg_argv[0]) on conflict do nothing;
      return null;
    end $$`);
  for (const name of Object.keys(tables))
    await db.query(
      `create trigger written after insert or update or delete on ${name}
       for each row execute function public.note_written('${name}')`,
    );
}

/**
 * Local tables that one transaction has written with rows of tenants and without a managed table: with one of those Citus
 * prepares before it commits, and all of the first server commits at once; without, the servers commit one after the other.
 */
export async function findMixed(db: Queryable, tables: PlacedTables): Promise<string[]> {
  const { rows } = await db.query<{ names: string[] }>(
    'select array_agg(name order by name) as names from public.written group by tx',
  );
  const placementOf = (name: string) => tables[name]?.placement;
  const mixed = rows.flatMap(({ names }) => {
    const local = names.filter((name) => placementOf(name) === 'local');
    const byTenant = names.filter((name) => placementOf(name) === 'by tenant');
    const isPrepared = names.some((name) => placementOf(name) === 'managed local');
    return local.length > 0 && byTenant.length > 0 && !isPrepared
      ? [`${local.join(', ')} with ${byTenant.join(', ')}`]
      : [];
  });
  return [...new Set(mixed)].toSorted();
}

/** One server, spoken to in the forms for tables that are spread. */
export function asIfSpread(database: Database): Database {
  const spread = (tx: Transaction): Transaction => ({ ...tx, isSpread: true });
  return {
    ...database,
    isSpread: true,
    settleCommits: () => Promise.resolve(),
    settleTenant: () => Promise.resolve(),
    transaction: (work, options) => database.transaction((tx) => work(spread(tx)), options),
  };
}

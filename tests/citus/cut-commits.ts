import type { Queryable } from '@libs/db';
import type { TestDatabase } from '@libs/db/testing';
import pg from 'pg';

/** Where the rows of a tenant lie in a table. */
export interface Place {
  shard: string;
  host: string;
  port: number;
  groupid: number;
}

export async function placeOf(db: Queryable, table: string, tenantId: string): Promise<Place> {
  const { rows } = await db.query<Place>(
    `select s.shardid::text as shard, n.nodename as host, n.nodeport as port, n.groupid
     from pg_dist_placement s join pg_dist_node n using (groupid)
     where s.shardid = get_shard_id_for_distribution_column($1::regclass, $2::text)`,
    [table, tenantId],
  );
  const place = rows[0];
  if (place === undefined) throw new Error(`${table} has no place for ${tenantId}`);
  return place;
}

/** A table for what jobs look for, which lies with the payments of its tenants. */
export async function createNotes(db: Queryable): Promise<void> {
  await db.query(
    'create table notes (tenant_id text collate "C" not null, id text, primary key (tenant_id, id))',
  );
  await db.query(
    `select create_distributed_table('notes', 'tenant_id', colocate_with => 'payments.payments')`,
  );
}

/** A note of a tenant whose commit a crash has cut in two, together with what `work` writes on the first server. */
export async function cutCommit(
  { database, url }: Pick<TestDatabase, 'database' | 'url'>,
  { tenantId, note }: { tenantId: string; note: string },
  work: (tx: Queryable) => Promise<unknown>,
): Promise<void> {
  const place = await placeOf(database, 'notes', tenantId);
  const promise = `citus_0_4194304_${Date.now()}_${tenantId.length}_${tenantId}`;
  await database.transaction(async (tx) => {
    // Nobody finishes or undoes it before it is whole.
    await tx.query('lock table pg_dist_transaction in exclusive mode');
    // As the server is left when it dies after its promise: what it wrote is kept, and seen by nobody.
    await onServer(url, place, [
      'begin',
      `insert into payments.notes_${place.shard} values ('${tenantId}', '${note}')`,
      `prepare transaction '${promise}'`,
    ]);
    // And as the first server is left: the transaction is committed.
    await tx.query('insert into pg_dist_transaction (groupid, gid) values ($1, $2)', [
      place.groupid,
      promise,
    ]);
    await work(tx);
  });
}

async function onServer(databaseUrl: string, place: Place, statements: readonly string[]): Promise<void> {
  const url = new URL(databaseUrl);
  url.hostname = place.host;
  url.port = String(place.port);
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

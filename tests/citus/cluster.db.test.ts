// What only a real cluster can show; runs with `npm run citus`, on the one that CITUS_TEST_URL names.
import { type Database, type DividedTable, idBorders, renewParts } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { enqueueJobs, startWorker } from '@libs/jobs';
import { idBorder } from '@libs/seal';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVENTS_TABLE } from '../../services/payments/src/events/store.ts';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { PAYMENTS_TABLES } from '../../services/payments/src/spreading/tables.ts';

const DAY_MS = 86_400_000;

let made: TestDatabase;
let database: Database;
beforeAll(async () => {
  made = await createTestDatabase(paymentsMigrations(), PAYMENTS_TABLES);
  database = made.database;
});
afterAll(() => made.drop());

/** Where the rows of a tenant lie in a table. */
async function placeOf(table: string, tenantId: string) {
  const { rows } = await database.query<{ shard: string; host: string; port: number; groupid: number }>(
    `select s.shardid::text as shard, n.nodename as host, n.nodeport as port, n.groupid
     from pg_dist_placement s join pg_dist_node n using (groupid)
     where s.shardid = get_shard_id_for_distribution_column($1::regclass, $2::text)`,
    [table, tenantId],
  );
  const place = rows[0];
  if (place === undefined) throw new Error(`${table} has no place for ${tenantId}`);
  return place;
}

async function onServer(place: { host: string; port: number }, statements: readonly string[]): Promise<void> {
  const url = new URL(made.url);
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

test('a job finds what was committed with it, also where a crash has cut the commit in two', async () => {
  await database.query(
    'create table notes (tenant_id text collate "C" not null, id text, primary key (tenant_id, id))',
  );
  await database.query(
    `select create_distributed_table('notes', 'tenant_id', colocate_with => 'payments.payments')`,
  );
  const seen: number[] = [];
  const worker = await startWorker({
    database,
    handlers: [
      {
        name: 'notes.read',
        async handle(jobs) {
          for (const { payload } of jobs) {
            const { rows } = await database.query('select id from notes where tenant_id = $1', [payload]);
            seen.push(rows.length);
          }
        },
      },
    ],
    now: () => new Date(),
    onError: (error) => {
      throw error;
    },
  });
  try {
    for (const tenantId of ['a', 'b', 'c', 'd']) {
      const place = await placeOf('notes', tenantId);
      const promise = `citus_0_4194304_${Date.now()}_${tenantId.charCodeAt(0)}`;
      await database.transaction(async (tx) => {
        // Nobody finishes or undoes it before it is whole.
        await tx.query('lock table pg_dist_transaction in exclusive mode');
        // As the server is left when it dies after its promise: what it wrote is kept, and seen by nobody.
        await onServer(place, [
          'begin',
          `insert into payments.notes_${place.shard} values ('${tenantId}', '1')`,
          `prepare transaction '${promise}'`,
        ]);
        // And as the first server is left: the transaction is committed, with its job.
        await tx.query('insert into pg_dist_transaction (groupid, gid) values ($1, $2)', [
          place.groupid,
          promise,
        ]);
        await enqueueJobs(tx, database.schema, [{ name: 'notes.read', payload: tenantId }]);
      });
    }
    await expect.poll(() => seen).toEqual([1, 1, 1, 1]);
  } finally {
    await worker.drain();
  }
});

test('the server of a tenant is the one that has its rows', async () => {
  const tenants = ['org_a.test', 'org_b.test', 'org_c.live', 'org_d.live'];
  const places = await Promise.all(tenants.map((tenantId) => placeOf('payments.payments', tenantId)));
  expect(await Promise.all(tenants.map(database.serverOf))).toEqual(
    places.map(({ groupid }) => String(groupid)),
  );
});

test('parts of spread tables are made ahead, dropped when they are past, and keep what outlives them', async () => {
  await database.query(`create table letters (tenant_id text collate "C" not null, id text collate "C" not null,
    dear boolean not null default false, primary key (tenant_id, id)) partition by range (id)`);
  await database.query('create table letters_default partition of letters default');
  await database.query(
    `select create_distributed_table('letters', 'tenant_id', colocate_with => 'payments.payments')`,
  );
  const today = new Date(Math.floor(Date.UTC(2026, 10, 16) / (10 * DAY_MS)) * 10 * DAY_MS);
  const inDays = (days: number) => new Date(today.getTime() + days * DAY_MS);
  const table: DividedTable = {
    name: 'letters',
    borders: idBorders('let'),
    daysPerPart: 10,
    keptDays: 30,
    outliving: { rows: 'dear', clearOthers: async () => {} },
  };
  const count = async (from: string) =>
    (await database.query<{ n: number }>(`select count(*)::int as n from ${from}`)).rows[0]?.n;
  expect(await renewParts(database, table, today)).toBe(0);
  for (const tenantId of ['a', 'b', 'c', 'd', 'e'])
    for (const [days, dear] of [
      [0, false],
      [1, true],
      [11, false],
    ] as const)
      await database.query('insert into letters values ($1, $2, $3)', [
        tenantId,
        `${idBorder('let', inDays(days).getTime())}x`,
        dear,
      ]);
  expect([await count('letters'), await count('letters_default')]).toEqual([15, 0]);
  expect(await renewParts(database, table, inDays(40))).toBe(1);
  expect([await count('letters'), await count('letters_default')]).toEqual([10, 5]);
  // No server keeps a piece of what was dropped.
  const { rows } = await database.query<{ result: string }>(
    `select result from run_command_on_workers(
       $$select count(*) from pg_class where relname like 'letters_20%' and relkind = 'r' and not relispartition$$)`,
  );
  expect(rows.map(({ result }) => result)).toEqual(rows.map(() => '0'));
});

test('the parts of events come and go', async () => {
  expect(await renewParts(database, EVENTS_TABLE, new Date())).toBe(0);
  const later = new Date(Date.now() + (EVENTS_TABLE.keptDays + 4 * EVENTS_TABLE.daysPerPart) * DAY_MS);
  expect(await renewParts(database, EVENTS_TABLE, later)).toBeGreaterThanOrEqual(2);
});

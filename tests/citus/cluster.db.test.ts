// What only a real cluster can show; runs with `npm run citus`, on the one that CITUS_TEST_URL names.
import { type Database, type DividedTable, idBorders, renewParts } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { enqueueJobs, startWorker } from '@libs/jobs';
import { idBorder } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVENTS_TABLE } from '../../services/payments/src/events/store.ts';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { PAYMENTS_TABLES } from '../../services/payments/src/spreading/tables.ts';
import { createNotes, cutCommit, placeOf } from './cut-commits.ts';

const DAY_MS = 86_400_000;

let made: TestDatabase;
let database: Database;
beforeAll(async () => {
  made = await createTestDatabase(paymentsMigrations(), PAYMENTS_TABLES);
  database = made.database;
});
afterAll(() => made.drop());

test('a job finds what was committed with it, also where a crash has cut the commit in two', async () => {
  await createNotes(database);
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
    for (const tenantId of ['a', 'b', 'c', 'd'])
      await cutCommit(made, { tenantId, note: '1' }, (tx) =>
        enqueueJobs(tx, database.schema, [{ name: 'notes.read', payload: tenantId }]),
      );
    await expect.poll(() => seen).toEqual([1, 1, 1, 1]);
  } finally {
    await worker.drain();
  }
});

test('the server of a tenant is the one that has its rows', async () => {
  const tenants = ['org_a.test', 'org_b.test', 'org_c.live', 'org_d.live'];
  const places = await Promise.all(
    tenants.map((tenantId) => placeOf(database, 'payments.payments', tenantId)),
  );
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

// What is added for an endpoint that was switched on again is read past all that is being given up for it.
import type { Database } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MIGRATIONS, SCHEMA, TENANT } from '../../test/service.ts';
import { createAbandonStore } from './abandon-store.ts';
import { createLaneStore } from './lane-store.ts';

const OLD = 30_000;
const OFF_AT = new Date('2026-03-01T12:00:00Z');
const NOW = new Date('2026-03-01T12:05:00Z');
const ref = { tenantId: TENANT, endpointId: 'we_1' };
const wish = { ...ref, rowsMax: 8, after: undefined };

let opened: TestDatabase;

beforeAll(async () => {
  opened = await createTestDatabase(MIGRATIONS);
  const { database } = opened;
  await database.query(
    `insert into ${SCHEMA}.queue (tenant_id, id, endpoint_id, event_id, event_type, created_at, due_at)
select $1, 'dlv_' || n, $2, 'evt_' || n, 'order.paid', at, at
from (select n, case when n <= ${OLD} then timestamptz '${OFF_AT.toISOString()}' - interval '1 hour'
  else timestamptz '${NOW.toISOString()}' end as at from generate_series(1, ${OLD + 3}) as n) as made
`,
    [ref.tenantId, ref.endpointId],
  );
  await database.query(`insert into ${SCHEMA}.dispatchers (id, seen_at) values ('me', now())`);
  await createLaneStore(database, SCHEMA).acquireLanes('me', [ref]);
  await createAbandonStore(SCHEMA).note(database, { ...ref, addedUntil: OFF_AT });
  await database.query(`analyze ${SCHEMA}.queue`);
});
afterAll(() => opened.drop());

const fetchFrom = (database: Database) => createLaneStore(database, SCHEMA).fetchDue('me', [wish], NOW);

interface Explained {
  'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }];
}

/** How many pages the database looks at for one read of the lane. */
async function pagesRead(): Promise<number> {
  let pages = 0;
  await fetchFrom({
    ...opened.database,
    async query(text: string, values: unknown[]) {
      const { rows } = await opened.database.query<Explained>(
        `explain (analyze, buffers, format json) ${text}`,
        values,
      );
      const plan = rows[0]?.['QUERY PLAN'][0].Plan;
      pages = (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
      return { rows: [], rowCount: 0 };
    },
  } as unknown as Database);
  return pages;
}

test('those that were due before the switch are not looked at', async () => {
  expect(await fetchFrom(opened.database)).toHaveLength(3);
  expect(await pagesRead()).toBeLessThan(30);
});

test('of those that came due since, few are passed; what is behind them is read when they have gone', async () => {
  const { database } = opened;
  await database.query(`update ${SCHEMA}.queue set due_at = $1 where created_at < $1`, [
    new Date(OFF_AT.getTime() + 60_000),
  ]);
  expect(await fetchFrom(database)).toEqual([]);
  // Each that is passed may lie in another page.
  expect(await pagesRead()).toBeLessThan(1_500);
  await database.query(`delete from ${SCHEMA}.queue where due_at < $1`, [NOW]);
  expect(await fetchFrom(database)).toHaveLength(3);
});

// How long one sweep of the log goes on, and what it passes.
import type { Database, QueryResult } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MIGRATIONS, SCHEMA } from '../../test/service.ts';
import { createExpiryStore } from './expiry-store.ts';

const DAY_MS = 86_400_000;
const STEP = 1_000;
const NOW = new Date('2026-06-01T00:00:00Z');
const DEFAULT_PART = `${SCHEMA}.deliveries_default`;

let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase(MIGRATIONS);
});
afterAll(() => opened.drop());

/** A clock that moves by a tenth of a second with each look. */
function ticking(): () => number {
  let ms = 0;
  return () => {
    ms += 100;
    return ms;
  };
}

/** The part for everything else holds so many rows that are past their time. */
function holding(rows: number) {
  const part = { steps: 0, database: opened.database };
  part.database = {
    ...opened.database,
    async query<Row extends object>(...asked: Parameters<Database['query']>): Promise<QueryResult<Row>> {
      if (!String(asked[0]).startsWith(`delete from ${DEFAULT_PART}`))
        return opened.database.query<Row>(...asked);
      part.steps += 1;
      return { rows: [], rowCount: Math.min(STEP, Math.max(0, rows - (part.steps - 1) * STEP)) };
    },
  };
  return part;
}

const sweep = (database: Database) =>
  createExpiryStore(database, SCHEMA, ticking()).expire(NOW, { keepDeliveredMs: 30 * DAY_MS });

test('all that is past its time goes, however much, when there is time for it', async () => {
  const part = holding(500 * STEP);
  expect(await sweep(part.database)).toBe(500 * STEP);
});

test('a sweep ends also where the log fills as fast as it is cleared', async () => {
  const part = holding(Number.POSITIVE_INFINITY);
  await sweep(part.database);
  // Five minutes, of which each step takes a tenth of a second.
  expect(part.steps).toBe(2_999);
});

test('a step does not pass again what those before it have passed', async () => {
  const { database } = opened;
  await database.query(
    `insert into ${DEFAULT_PART} (tenant_id, id, endpoint_id, event_id, event_type, status, tries, attempts, created_at, finished_at)
select 'org_' || n % 7, 'dly_' || lpad(n::text, 8, '0'), 'we_1', 'evt_' || n, 'order.paid',
  case when n % 2 = 0 then 'failed' else 'delivered' end, 1, '[]', at, at
from generate_series(1, 20000) as n, (select timestamptz '2026-03-01' as at) as day`,
  );
  await database.query(`analyze ${DEFAULT_PART}`);
  const pages: number[] = [];
  const counting = {
    ...database,
    async query(text: string, values: unknown[]) {
      if (text.startsWith(`delete from ${DEFAULT_PART}`)) pages.push(await pagesPassed(text, values));
      return database.query(text, values);
    },
  } as unknown as Database;
  expect(await sweep(counting)).toBe(10_000);
  expect(pages.length).toBe(11);
  expect(Math.max(...pages)).toBeLessThan(2 * Math.min(...pages.slice(0, -1)));
});

interface Explained {
  'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }];
}

/** How many pages are looked at to find what a step removes. */
async function pagesPassed(text: string, values: unknown[]): Promise<number> {
  const found = /\(\s*(select [\s\S]*) for update/.exec(text)?.[1];
  const { rows } = await opened.database.query<Explained>(
    `explain (analyze, buffers, format json) ${found}`,
    values,
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
}

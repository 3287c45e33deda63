// The keys of a month are many, and every quarter of an hour those that are past their time are looked for.
import type { Queryable } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentsMigrations } from '../migrations.ts';
import { deleteKeysBefore } from './store.ts';

let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase(paymentsMigrations());
});
afterAll(() => opened.drop());

interface Explained {
  'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }];
}

/** How many pages a statement looks at. */
async function pagesOf(run: (db: Queryable) => Promise<unknown>): Promise<number> {
  let pages = 0;
  const explaining = {
    isSpread: false,
    async query(text: string, values: unknown[]) {
      const { rows } = await opened.database.query<Explained & Record<string, unknown>>(
        `explain (analyze, buffers, format json) ${text}`,
        values,
      );
      const plan = rows[0]?.['QUERY PLAN'][0].Plan;
      pages = (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
      return { rows: [], rowCount: 0 };
    },
  } as unknown as Queryable;
  await run(explaining);
  return pages;
}

test('what is past its time is found without a look at the rest, also when new keys have filled the room of old ones', async () => {
  const { database } = opened;
  // As after months: every page has keys of many days.
  await database.query(`insert into payments.idempotency_keys (tenant_id, path, key, fingerprint, status, created_at)
    select 't', '/v1/payments', 'key_' || n, decode(md5(n::text), 'hex'), 201,
      timestamptz '2026-11-01' + (n * 7919 % 20000) * interval '1 minute'
    from generate_series(1, 20000) as n`);
  await database.query('analyze payments.idempotency_keys');
  const { rows } = await database.query<{ pages: number }>(
    `select (pg_relation_size('payments.idempotency_keys') / 8192)::int as pages`,
  );
  expect(rows[0]?.pages).toBeGreaterThan(200);
  expect(await pagesOf((db) => deleteKeysBefore(db, new Date('2026-11-01T00:00:30Z'), 1_000))).toBeLessThan(
    40,
  );
});

test('the oldest go first, as many as may go', async () => {
  const { database } = opened;
  expect(await deleteKeysBefore(database, new Date('2026-11-03'), 1_000)).toBe(1_000);
  const { rows } = await database.query<{ oldest: Date }>(
    'select min(created_at) as oldest from payments.idempotency_keys',
  );
  expect(rows[0]?.oldest).toEqual(new Date(Date.UTC(2026, 10, 1) + 1_001 * 60_000));
});

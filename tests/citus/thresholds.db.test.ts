// Inserts that select pass through the first server, which counts rows that were in the way, too.
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { markNotified } from '../../services/toolhub/src/billing/meter/meter-store.ts';
import { migrationSource } from '../../services/toolhub/src/schema.ts';
import { TOOLHUB_TABLES } from '../../services/toolhub/src/spreading/tables.ts';

let made: TestDatabase;
beforeAll(async () => {
  made = await createTestDatabase(migrationSource, TOOLHUB_TABLES);
});
afterAll(() => made.drop());

test('[TH-7.6] a threshold is told once, and so many of a month', async () => {
  const tell = (percent: number) =>
    markNotified(made.database, {
      ...{ customerId: 'cus_ada', month: '2026-11-01', limit: 10, percent, toldMax: 2 },
    });
  const told: boolean[] = [];
  for (const percent of [80, 80, 100, 80, 100, 120]) told.push(await tell(percent));
  expect(told).toEqual([true, false, true, false, false, false]);
});

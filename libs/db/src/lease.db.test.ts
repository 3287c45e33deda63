// One holder at a time, whatever runs in parallel; a lease ends by itself; a latecomer changes nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Database, leasesOn } from './index.ts';
import { createTestDatabase, type TestDatabase } from './testing.ts';

let test_: TestDatabase;
let database: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  database = test_.database;
  await database.query(`create table reports
    (owner text, part int, note text, lease_id text, lease_until timestamptz, primary key (owner, part))`);
});
afterAll(() => test_.drop());
beforeEach(() => database.query('delete from reports'));

const place = { table: 'reports', key: ['owner', 'part'], holder: 'lease_id', until: 'lease_until' } as const;
const row = ['ann', 1];

describe.each(['kept', 'deleted'] as const)('where rows are %s', (rowIs) => {
  const leases = leasesOn({ ...place, rowIs });

  test('of many at once one gets it, and another only when it was given back', async () => {
    const claims = Array.from({ length: 10 }, (_, n) =>
      leases.acquire(database, row, { holder: `h${n}`, ms: 60_000 }),
    );
    const granted = await Promise.all(claims);
    expect(granted.filter(Boolean)).toHaveLength(1);
    const holder = `h${granted.indexOf(true)}`;
    expect(await leases.acquire(database, ['ann', 2], { holder: 'x', ms: 60_000 })).toBe(true);
    expect(await leases.release(database, row, 'somebody else')).toBe(false);
    expect(await leases.acquire(database, row, { holder: 'next', ms: 60_000 })).toBe(false);
    expect(await leases.release(database, row, holder)).toBe(true);
    expect(await leases.acquire(database, row, { holder: 'next', ms: 60_000 })).toBe(true);
    const { rowCount } = await database.query('select from reports where part = 1');
    expect(rowCount).toBe(1);
  });

  test('it ends by itself; who was late can neither extend nor release it', async () => {
    expect(await leases.acquire(database, row, { holder: 'slow', ms: 50 })).toBe(true);
    expect(await leases.extend(database, row, { holder: 'slow', ms: 50 })).toBe(true);
    await sleep(80);
    expect(await leases.acquire(database, row, { holder: 'quick', ms: 60_000 })).toBe(true);
    expect(await leases.extend(database, row, { holder: 'slow', ms: 60_000 })).toBe(false);
    expect(await leases.release(database, row, 'slow')).toBe(false);
    expect(await leases.acquire(database, row, { holder: 'third', ms: 60_000 })).toBe(false);
  });
});

test('a condition of the caller decides beside the lease', async () => {
  const leases = leasesOn({ ...place, rowIs: 'kept' });
  await database.query(`insert into reports values ('ann', 1, 'done', null, null)`);
  const where = (note: string) => ({
    sql: 'held.note is distinct from $1 or held.note = $2',
    values: [note, ''],
  });
  expect(await leases.acquire(database, row, { holder: 'a', ms: 1_000, where: where('done') })).toBe(false);
  expect(await leases.acquire(database, row, { holder: 'a', ms: 1_000, where: where('open') })).toBe(true);
});

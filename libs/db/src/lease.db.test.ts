// One holder at a time, whatever runs in parallel; a lease ends by itself; a latecomer changes nothing.
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
    expect(await leases.release(database, row, { holder: 'somebody else' })).toBe(false);
    expect(await leases.acquire(database, row, { holder: 'next', ms: 60_000 })).toBe(false);
    expect(await leases.release(database, row, { holder })).toBe(true);
    expect(await leases.acquire(database, row, { holder: 'next', ms: 60_000 })).toBe(true);
    const { rowCount } = await database.query('select from reports where part = 1');
    expect(rowCount).toBe(1);
  });

  test('it ends by itself; who was late can neither extend nor release it', async () => {
    expect(await leases.acquire(database, row, { holder: 'slow', ms: 60_000 })).toBe(true);
    expect(await leases.extend(database, row, { holder: 'slow', ms: 50 })).toBe(true);
    await expect.poll(() => leases.acquire(database, row, { holder: 'quick', ms: 60_000 })).toBe(true);
    expect(await leases.extend(database, row, { holder: 'slow', ms: 60_000 })).toBe(false);
    expect(await leases.release(database, row, { holder: 'slow' })).toBe(false);
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

test('its holder reads and writes the row with it, and nobody finds it held by others', async () => {
  const leases = leasesOn({ ...place, rowIs: 'given' });
  const claim = { holder: 'a', ms: 60_000, columns: 'note' };
  expect(await leases.acquireRow(database, row, claim)).toBeUndefined();
  await database.query(`insert into reports values ('ann', 1, 'first', null, null)`);
  expect(await leases.find(database, row)).toBeUndefined();
  expect(await leases.acquireRow(database, row, claim)).toEqual({ note: 'first' });
  expect(await leases.find(database, row)).toMatchObject({ holder: 'a' });
  expect(await leases.find(database, row, { leftMs: 61_000 })).toBeUndefined();

  const set = { sql: 'note = held.note || $1 || $2', values: [', ', 'more'] };
  expect(await leases.extend(database, row, { holder: 'late', ms: 1_000, set })).toBe(false);
  expect(await leases.extend(database, row, { holder: 'a', ms: 1_000, set })).toBe(true);
  expect(await leases.releaseRow(database, row, { holder: 'late', set, columns: 'note' })).toBeUndefined();
  const done = await leases.releaseRow(database, row, { holder: 'a', set, columns: 'note, lease_id' });
  expect(done).toEqual({ note: 'first, more, more', lease_id: null });
});

// The lock of the monthly run: one holder at a time, for an hour, and nobody waits for one who died.
import type { Database } from '@libs/db';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acquireLock, releaseLock, renewLock } from './lock-store.ts';
import { LOCK_NAME, LOCK_TTL_MS } from './run.ts';
import { addCustomer, createOwnRig, createRig, never, type OwnRig, PERIOD } from './test/rig.ts';

let database: Database;
let rig: OwnRig;

beforeEach(async () => {
  rig = await createOwnRig();
  ({ database } = rig);
});
afterEach(() => rig.remove());

const run = () => rig.invoices.run(PERIOD, { signal: never });

async function rows<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await database.query<Row>(text, values)).rows;
}

describe('the lock', () => {
  const mine = { name: LOCK_NAME, holder: 'run_mine' };
  const other = { name: LOCK_NAME, holder: 'run_other' };
  const expire = () => database.query(`update job_locks set expires_at = now() - interval '1 second'`);

  test('[TH-7.8] holds for an hour', async () => {
    await acquireLock(database, mine, LOCK_TTL_MS);
    const [held] = await rows<{ minutes: number }>(
      'select extract(epoch from expires_at - now())::float8 / 60 as minutes from job_locks',
    );
    expect(held?.minutes).toBeGreaterThan(59);
    expect(held?.minutes).toBeLessThanOrEqual(60.1);
  });

  test('of twenty that ask at once, one gets it', async () => {
    const got = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        acquireLock(database, { name: LOCK_NAME, holder: `run_${index}` }, LOCK_TTL_MS),
      ),
    );
    expect(got.filter(Boolean)).toHaveLength(1);
  });

  test('[TH-7.8] is released by its holder alone', async () => {
    expect(await acquireLock(database, mine, LOCK_TTL_MS)).toBe(true);
    expect(await acquireLock(database, other, LOCK_TTL_MS)).toBe(false);
    expect(await releaseLock(database, other)).toBe(false);
    expect(await acquireLock(database, other, LOCK_TTL_MS)).toBe(false);
    expect(await releaseLock(database, mine)).toBe(true);
    expect(await acquireLock(database, other, LOCK_TTL_MS)).toBe(true);
  });

  test('is taken over once its time is over, and then the latecomer neither renews nor releases it', async () => {
    await acquireLock(database, mine, LOCK_TTL_MS);
    await expire();
    expect(await acquireLock(database, other, LOCK_TTL_MS)).toBe(true);
    expect(await renewLock(database, mine, LOCK_TTL_MS)).toBe(false);
    expect(await releaseLock(database, mine)).toBe(false);
    expect(await rows('select holder from job_locks')).toEqual([{ holder: 'run_other' }]);
  });

  test('keeps a second run out, also after that run has ended its try', async () => {
    await addCustomer(database);
    await acquireLock(database, other, LOCK_TTL_MS);
    expect(await run()).toEqual({
      kind: 'locked',
      by: { holder: 'run_other', until: expect.any(Date) },
    });
    expect(await rows('select holder from job_locks')).toEqual([{ holder: 'run_other' }]);
    expect(await rows('select 1 from invoices')).toEqual([]);
    await expire();
    expect(await run()).toMatchObject({ kind: 'done', created: 1 });
    expect(await rows('select 1 from job_locks')).toEqual([]);
  });

  test('a run that lost it in the middle writes no more and leaves it to the new holder', async () => {
    for (let count = 0; count < 4; count += 1) await addCustomer(database);
    const usageOf = async () => {
      await database.query(`update job_locks set holder = 'run_other'`);
      return [];
    };
    const slow = await createRig(database, { usageOf, batchMax: 2 });
    expect(await slow.invoices.run(PERIOD, { signal: never })).toEqual({ kind: 'interrupted' });
    expect(await rows('select 1 from invoices')).toHaveLength(2);
    expect(await rows('select holder from job_locks')).toEqual([{ holder: 'run_other' }]);
    await slow.remove();
  });
});

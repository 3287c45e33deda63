// The shared buckets in a real Postgres, with two limiters that know each other only through it.
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  postgresRateStore,
  type RateDecision,
  RateLimits,
  type RateStore,
  rateLimitMigrations,
} from '../index.ts';

let testDatabase: TestDatabase;
let store: RateStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ schema: 'limits', series: [rateLimitMigrations] });
  store = postgresRateStore({
    schema: 'limits',
    query: (text, values) => testDatabase.database.query(text, values),
  });
});
afterAll(() => testDatabase.drop());

const delta = (key: string, used: number) => ({ key, used, ratePerSecond: 10, burst: 20 });

describe('postgresRateStore', () => {
  test('charges, refills with time and caps at the burst', async () => {
    expect((await store.sync('p1', [delta('a', 15)])).levels.get('a')).toBe(5);
    const level = (await store.sync('p1', [delta('a', 5)])).levels.get('a') as number;
    expect(level).toBeGreaterThanOrEqual(0);
    expect(level).toBeLessThan(5);
    await testDatabase.database.query(
      `update limits.rate_limit_buckets set updated_at = now() - interval '1 second'`,
    );
    expect((await store.sync('p1', [delta('a', 0)])).levels.get('a')).toBeCloseTo(level + 10, 0);
    await testDatabase.database.query(
      `update limits.rate_limit_buckets set updated_at = now() - interval '1 hour'`,
    );
    expect((await store.sync('p1', [delta('a', 0)])).levels.get('a')).toBe(20);
    expect((await store.sync('p1', [delta('a', 500)])).levels.get('a')).toBe(-20);
  });

  test('counts the processes that are alive', async () => {
    expect((await store.sync('p1', [])).processes).toBe(1);
    expect((await store.sync('p2', [])).processes).toBe(2);
    await testDatabase.database.query(
      `update limits.rate_limit_processes set seen_at = now() - interval '10 seconds'`,
    );
    expect((await store.sync('p2', [])).processes).toBe(1);
  });

  test('many keys from many processes at once do not lock each other out', async () => {
    const keys = Array.from({ length: 200 }, (_, index) => `k${index}`);
    await Promise.all(
      Array.from({ length: 8 }, async (_, process) => {
        const order = process % 2 === 0 ? keys : keys.toReversed();
        for (let round = 0; round < 5; round++)
          await store.sync(
            `w${process}`,
            order.map((key) => delta(key, 0.1)),
          );
      }),
    );
    const { levels } = await store.sync(
      'w0',
      keys.map((key) => delta(key, 0)),
    );
    expect(levels.size).toBe(200);
    for (const level of levels.values()) expect(level).toBeLessThanOrEqual(20);
  });

  test('forgets buckets that are full again', async () => {
    await store.sync('p1', [delta('old', 1)]);
    await testDatabase.database.query(
      `update limits.rate_limit_buckets set updated_at = now() - interval '2 minutes'`,
    );
    await store.sync('p1', [delta('new', 1)]);
    await store.tidy?.();
    const { rows } = await testDatabase.database.query('select key from limits.rate_limit_buckets');
    expect(rows).toEqual([{ key: 'new' }]);
  });

  test('only plain schema names', () => {
    const query = (text: string, values: unknown[]) => testDatabase.database.query(text, values);
    for (const schema of ['a.b', 'a; drop', '"x"', ''])
      expect(() => postgresRateStore({ query, schema })).toThrow(TypeError);
  });

  test('two limiters together let the burst through, not twice the burst', async () => {
    const limiters = [new RateLimits({ store, processId: 'l1' }), new RateLimits({ store, processId: 'l2' })];
    for (const limiter of limiters) await limiter.start();
    // Both look once more: where the second was long in starting, it took the first for gone.
    for (const limiter of limiters) await limiter.sync();
    // A slow refill, so that the time this test takes adds nothing that matters.
    const takers = limiters.map((limiter) =>
      limiter.limit({ name: 'shared', limit: 6, windowSeconds: 60, burst: 60 }),
    );
    const decisions: Promise<RateDecision>[] = [];
    for (let i = 0; i < 200; i++) decisions.push(Promise.resolve(takers[i % 2]?.take('key') as RateDecision));
    const allowed = (await Promise.all(decisions)).filter((decision) => decision.allowed).length;
    expect(allowed).toBeGreaterThanOrEqual(60);
    expect(allowed).toBeLessThanOrEqual(66);
    for (const limiter of limiters) await limiter.close();
  });
});

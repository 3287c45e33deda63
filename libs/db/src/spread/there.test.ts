import { expect, onTestFinished, test, vi } from 'vitest';
import type { Database } from '../database.ts';
import { findServersThere } from './there.ts';

const refused = () =>
  Object.assign(new Error('connection to the remote node app@10.0.0.2:5432 failed'), { code: '08006' });

/** Tenants are called after their server; each asks as it is told to. */
function cluster() {
  const asked: string[] = [];
  const answers = new Map<string, () => Promise<void>>();
  const db = {
    isSpread: true,
    serverOf: async (tenantId: string) => tenantId.slice(0, 1),
    async settleTenant(tenantId: string) {
      const server = tenantId.slice(0, 1);
      asked.push(server);
      await answers.get(server)?.();
    },
  } as unknown as Database;
  const awayOf = async (...tenantIds: string[]) => [...(await findServersThere(db, tenantIds)).away.keys()];
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return { db, asked, answers, awayOf };
}

test('each server of the tenants is asked once, and every time', async () => {
  const { asked, awayOf } = cluster();
  expect(await awayOf('a1', 'b1', 'a2')).toEqual([]);
  expect(await awayOf('a3')).toEqual([]);
  expect(asked).toEqual(['a', 'b', 'a']);
});

test('one that refuses is away until it answers, and is asked beside the work', async () => {
  const { db, asked, answers, awayOf } = cluster();
  answers.set('a', () => Promise.reject(refused()));
  const { away } = await findServersThere(db, ['a1', 'b1']);
  expect([...away.keys()]).toEqual(['a']);
  let isBack = false;
  void away.get('a')?.back.then(() => {
    isBack = true;
  });
  expect(await awayOf('a2')).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(asked).toEqual(['a', 'b', 'a', 'a']);
  expect(isBack).toBe(false);
  answers.delete('a');
  await vi.advanceTimersByTimeAsync(500);
  expect(isBack).toBe(true);
  expect(await awayOf('a2')).toEqual([]);
});

test('one that says nothing is waited for for a second, and only once', async () => {
  const { asked, answers, awayOf } = cluster();
  const thaw = Promise.withResolvers<void>();
  answers.set('a', () => thaw.promise);
  const first = awayOf('a1', 'b1');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await first).toEqual(['a']);
  expect(await awayOf('a1', 'b1')).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(10_000);
  // Nothing piles up at it.
  expect(asked.filter((server) => server === 'a')).toHaveLength(1);
  thaw.resolve();
  await vi.advanceTimersByTimeAsync(500);
  expect(await awayOf('a1')).toEqual([]);
});

test('what is wrong otherwise is told to whoever asks', async () => {
  const { answers, awayOf } = cluster();
  answers.set('a', () => Promise.reject(new Error('no such column')));
  await expect(awayOf('a1', 'b1')).rejects.toThrow('no such column');
  await expect(awayOf('a1')).rejects.toThrow('no such column');
  expect(await awayOf('b1')).toEqual([]);
});

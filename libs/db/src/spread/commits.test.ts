import { EventEmitter } from 'node:events';
import type pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Database } from '../database.ts';
import { awaitCommits } from './commits.ts';
import { CommitsUnsettled, settleBy, sharedNext } from './settle.ts';

/** A database that says, question by question, which transactions still hold their number. */
function holding(isSpread: boolean, answers: readonly (readonly string[])[]) {
  const asked: unknown[] = [];
  const servers = { away: false, settled: 0 };
  const db = {
    isSpread,
    async query(_text: unknown, values: readonly unknown[]) {
      const rows = (answers[asked.length] ?? []).map((xid) => ({ xid }));
      asked.push(values[0]);
      return { rows, rowCount: rows.length };
    },
    async settleCommits() {
      if (servers.away) throw new CommitsUnsettled('a server is away');
      servers.settled += 1;
    },
  };
  return { db: db as unknown as Database, asked, servers };
}

test('on one server nothing is asked', async () => {
  const { db, asked, servers } = holding(false, [['1']]);
  await awaitCommits(db);
  expect([asked, servers.settled]).toEqual([[], 0]);
});

test('on spread tables those that are under way are waited for, and none that begin later', async () => {
  const { db, asked, servers } = holding(true, [['1', '2'], ['2'], []]);
  await awaitCommits(db);
  expect(asked).toEqual([null, ['1', '2'], ['2']]);
  expect(servers.settled).toBe(1);
});

test('while a server is away nothing is taken for committed', async () => {
  const { db, servers } = holding(true, []);
  servers.away = true;
  await expect(awaitCommits(db)).rejects.toThrow(CommitsUnsettled);
  servers.away = false;
  await awaitCommits(db);
  expect(servers.settled).toBe(1);
});

test('a commit that takes too long is not taken for done', async () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const held = Array.from({ length: 500 }, () => ['7']);
  const { db, asked, servers } = holding(true, held);
  const refused = expect(awaitCommits(db)).rejects.toThrow(/^1 transaction\b/);
  await vi.runAllTimersAsync();
  await refused;
  expect(asked.length).toBeLessThan(500);
  expect([asked.at(-1), servers.settled]).toEqual([['7'], 0]);
});

test('a warning of the server means that not all is settled', async () => {
  const warnings: { severity: string; message: string }[] = [];
  const client = Object.assign(new EventEmitter(), {
    async query() {
      for (const warning of warnings) client.emit('notice', warning);
    },
  });
  const settle = () => settleBy(client as unknown as pg.ClientBase);
  warnings.push({ severity: 'NOTICE', message: 'all is well' });
  await settle();
  warnings.push({ severity: 'WARNING', message: 'cannot connect to worker-2' });
  await expect(settle()).rejects.toThrow(/^cannot connect to worker-2$/);
  expect(client.listenerCount('notice')).toBe(0);
});

test('calls that come while one runs share the next, also where the first fails', async () => {
  const ends: PromiseWithResolvers<void>[] = [];
  const shared = sharedNext(() => {
    const end = Promise.withResolvers<void>();
    ends.push(end);
    return end.promise;
  });
  const first = shared();
  const others = [shared(), shared()];
  expect(ends).toHaveLength(1);
  ends[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.resolve();
  await Promise.all(others);
  void shared();
  expect(ends).toHaveLength(3);
});

import { expect, test } from 'vitest';
import { awaitCommits } from './commits.ts';
import type { Queryable } from './database.ts';

/** A database that says, question by question, which transactions still hold their number. */
function holding(isSpread: boolean, answers: readonly (readonly string[])[]) {
  const asked: unknown[] = [];
  const db = {
    isSpread,
    async query(_text: unknown, values: readonly unknown[]) {
      const rows = (answers[asked.length] ?? []).map((xid) => ({ xid }));
      asked.push(values[0]);
      return { rows, rowCount: rows.length };
    },
  };
  return { db: db as unknown as Queryable, asked };
}

test('on one server nothing is asked', async () => {
  const { db, asked } = holding(false, [['1']]);
  await awaitCommits(db);
  expect(asked).toEqual([]);
});

test('on spread tables those that are under way are waited for, and none that begin later', async () => {
  const { db, asked } = holding(true, [['1', '2'], ['2'], []]);
  await awaitCommits(db);
  expect(asked).toEqual([null, ['1', '2'], ['2']]);
});

import { expect, test } from 'vitest';
import { createGroupWriter } from './group-writer.ts';

function slowWriter(options: { batchMax?: number; waitingMax?: number } = {}) {
  const batches: number[][] = [];
  const writer = createGroupWriter<number, number>({
    ...options,
    async write(items) {
      batches.push([...items]);
      await new Promise((done) => setTimeout(done, 5));
      if (items.includes(13)) throw new Error('no luck');
      return items.map((item) => item * 2);
    },
  });
  return { writer, batches };
}

test('what waits is written together, in order, and each caller gets its own outcome', async () => {
  const { writer, batches } = slowWriter();
  const first = [1, 2, 3].map((item) => writer.add(item));
  await new Promise((done) => setTimeout(done, 2));
  const second = [4, 5].map((item) => writer.add(item));
  expect(await Promise.all([...first, ...second])).toEqual([2, 4, 6, 8, 10]);
  expect(batches).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

test('a batch has a limit, and a failed one harms no other', async () => {
  const { writer, batches } = slowWriter({ batchMax: 2 });
  const outcomes = await Promise.allSettled([1, 13, 3, 4, 5].map((item) => writer.add(item)));
  expect(outcomes.map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
  expect(batches.map(({ length }) => length)).toEqual([2, 2, 1]);
});

test('beyond the limit of waiting, callers are told at once', async () => {
  const { writer } = slowWriter({ waitingMax: 2 });
  const accepted = [writer.add(1), writer.add(2)];
  await expect(writer.add(3)).rejects.toMatchObject({ code: 'overloaded', retryable: true });
  expect(await Promise.all(accepted)).toEqual([2, 4]);
});

test('idle means that nothing waits and nothing runs', async () => {
  const { writer, batches } = slowWriter();
  await writer.idle();
  void writer.add(1);
  await writer.idle();
  expect(batches).toEqual([[1]]);
});

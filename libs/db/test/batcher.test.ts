import { expect, test } from 'vitest';
import { createBatcher, type Outcome } from '../src/batcher.ts';

const refuse = () => new Error('full');

test('what waits together runs together, and a bad item harms no other', async () => {
  const sizes: number[] = [];
  const submit = createBatcher<number, number>({
    async run(items) {
      sizes.push(items.length);
      await new Promise((done) => setTimeout(done, 10));
      return items.map(
        (item): Outcome<number> =>
          item === 3 ? { ok: false, error: new Error('three') } : { ok: true, value: item * 2 },
      );
    },
    batchMax: 100,
    concurrency: 1,
    queueMax: 1_000,
    onOverflow: refuse,
  });
  const first = submit(0);
  await new Promise((done) => setTimeout(done, 2));
  const rest = await Promise.allSettled([1, 2, 3, 4].map((item) => submit(item)));
  expect(await first).toBe(0);
  expect(rest.map((result) => result.status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(sizes).toEqual([1, 4]);
});

test('a batch that fails as a whole fails for each of its items, and the next one runs', async () => {
  let fail = true;
  const submit = createBatcher<number, number>({
    run: async (items) => {
      if (fail) throw new Error('down');
      return items.map((value) => ({ ok: true, value }));
    },
    batchMax: 2,
    concurrency: 1,
    queueMax: 3,
    onOverflow: refuse,
  });
  const results = await Promise.allSettled([1, 2, 3, 4].map((item) => submit(item)));
  expect(results.map((result) => (result.status === 'rejected' ? result.reason.message : 'ok'))).toEqual([
    'down',
    'down',
    'down',
    'full',
  ]);
  fail = false;
  expect(await submit(5)).toBe(5);
});

import { expect, test } from 'vitest';
import { createBatcher, type Outcome } from './batcher.ts';

const refuse = () => new Error('full');

test('what waits together runs together, and a bad item harms no other', async () => {
  const sizes: number[] = [];
  const submit = createBatcher<number, readonly number[], number>({
    prepare: async (items) => items,
    async run(items) {
      sizes.push(items.length);
      await new Promise((done) => setTimeout(done, 10));
      return items.map(
        (item): Outcome<number> =>
          item === 3 ? { ok: false, error: new Error('three') } : { ok: true, value: item * 2 },
      );
    },
    batchMax: 100,
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
  const submit = createBatcher<number, readonly number[], number>({
    prepare: async (items) => items,
    run: async (items) => {
      if (fail) throw new Error('down');
      return items.map((value) => ({ ok: true, value }));
    },
    batchMax: 2,
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

test('many that wait leave in two halves, one after the other, the second before the first is answered', async () => {
  const log: string[] = [];
  const submit = createBatcher<number, readonly number[], number>({
    async prepare(items) {
      log.push(`prepare ${items.length}`);
      return items;
    },
    async run(items) {
      log.push(`run ${items.length}`);
      await new Promise((done) => setTimeout(done, 5));
      return items.map((value) => ({ ok: true, value }));
    },
    batchMax: 100,
    queueMax: 1_000,
    onOverflow: refuse,
  });
  const first = submit(0).then(() => log.push('answered'));
  await Promise.all([first, ...Array.from({ length: 63 }, (_, item) => submit(item + 1))]);
  expect(log).toEqual(['prepare 32', 'run 32', 'prepare 32', 'run 32', 'answered']);
});

test('what cannot be prepared fails for its own items, and the next batch runs', async () => {
  const submit = createBatcher<number, readonly number[], number>({
    async prepare(items) {
      if (items.includes(1)) throw new Error('unprepared');
      return items;
    },
    run: async (items) => items.map((value) => ({ ok: true, value })),
    batchMax: 2,
    queueMax: 10,
    onOverflow: refuse,
  });
  const results = await Promise.allSettled([1, 2, 3].map((item) => submit(item)));
  expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

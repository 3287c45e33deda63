import { expect, test } from 'vitest';
import {
  type BatcherOptions,
  createBatcher,
  isRefusedData,
  type Outcome,
  outcomesOf,
  type Verdict,
} from './batcher.ts';

const refuse = () => new Error('full');

test('what waits together runs together, and a bad item harms no other', async () => {
  const sizes: number[] = [];
  const { add: submit } = createBatcher<number, number>({
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
  const { add: submit } = createBatcher<number, number>({
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
  const { add: submit } = createBatcher<number, number>({
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
  const { add: submit } = createBatcher<number, number>({
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

/** Postgres refuses 13, and a run with 99 finds the database away for the first two tries. */
function trial(options: Partial<BatcherOptions<number, number, readonly number[]>> = {}) {
  const batches: number[][] = [];
  let away = 2;
  const batcher = createBatcher<number, number>({
    async run(items) {
      batches.push([...items]);
      await new Promise((done) => setTimeout(done, 1));
      if (items.includes(13)) throw Object.assign(new Error('refused'), { code: '22021' });
      if (items.includes(99) && away-- > 0) throw new Error('away');
      return outcomesOf(items.map((item) => item * 2));
    },
    batchMax: 8,
    queueMax: 100,
    onOverflow: refuse,
    ...options,
  });
  return { batcher, batches };
}

test('without a preparation all that wait leave at once, and the next when it is back', async () => {
  const { batcher, batches } = trial({ batchMax: 100 });
  const first = Array.from({ length: 40 }, (_, item) => batcher.add(item + 100));
  await new Promise((done) => setImmediate(done));
  expect(batcher.size).toBe(40);
  const second = Array.from({ length: 30 }, (_, item) => batcher.add(item + 200));
  await Promise.all([...first, ...second]);
  expect(batches.map(({ length }) => length)).toEqual([40, 30]);
});

test('what the database refuses is found by halves, and everything beside and behind it is written', async () => {
  const { batcher, batches } = trial();
  const items = [1, 2, 3, 4, 13, 6, 7, 8, 9];
  const results = await Promise.allSettled(items.map((item) => batcher.add(item)));
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 0))).toEqual([
    2, 4, 6, 8, 0, 12, 14, 16, 18,
  ]);
  expect(batches).toEqual([
    [1, 2, 3, 4, 13, 6, 7, 8],
    [1, 2, 3, 4],
    [13, 6, 7, 8],
    [13, 6],
    [13],
    [6],
    [7, 8],
    [9],
  ]);
});

test('what is tried until it succeeds keeps its place; idle means that nothing waits and nothing runs', async () => {
  const tries: number[] = [];
  const { batcher, batches } = trial({
    onFailure(_error, { attempt }): Verdict {
      tries.push(attempt);
      return { retryInMs: 1 };
    },
  });
  await batcher.idle();
  const done: number[] = [];
  void batcher.add(99).then((value) => done.push(value));
  await new Promise((waited) => setImmediate(waited));
  void batcher.add(1).then((value) => done.push(value));
  await batcher.idle();
  expect(done).toEqual([198, 2]);
  expect(tries).toEqual([1, 2]);
  expect(batches).toEqual([[99], [99], [99], [1]]);
  expect(batcher.size).toBe(0);
});

test('a full queue gives up the oldest where that is asked for, and a judge that fails is an error of the items', async () => {
  const { batcher } = trial({
    queueMax: 2,
    overflow: 'oldest',
    onFailure: () => Promise.reject(new Error('no judge')),
  });
  const results = await Promise.allSettled([1, 2, 13].map((item) => batcher.add(item)));
  const reasons = results.map((result) => (result.status === 'rejected' ? result.reason.message : 'ok'));
  expect(reasons).toEqual(['full', 'no judge', 'no judge']);
});

test('where batches may wait for more, the next one leaves when all could be back', async () => {
  const sizes: number[] = [];
  const { add: submit } = createBatcher<number, number>({
    async run(items) {
      sizes.push(items.length);
      await new Promise((done) => setTimeout(done, 5));
      return outcomesOf(items);
    },
    batchMax: 100,
    queueMax: 1_000,
    onOverflow: refuse,
    gatherMs: () => 60_000,
  });
  const client = async (turns: number) => {
    for (let turn = 0; turn < turns; turn += 1) await submit(turn);
  };
  // Without the wait, those that came first and those that came meanwhile would take turns for ever.
  const first = [client(4), client(4)];
  await new Promise((done) => setTimeout(done, 2));
  await Promise.all([...first, client(3), client(3)]);
  expect(sizes).toEqual([2, 4, 4, 4]);
});

test('a batch that has waited long enough leaves with those that are there', async () => {
  const sizes: number[] = [];
  const { add: submit } = createBatcher<number, number>({
    async run(items) {
      sizes.push(items.length);
      return outcomesOf(items);
    },
    batchMax: 100,
    queueMax: 1_000,
    onOverflow: refuse,
    gatherMs: () => 5,
  });
  await Promise.all([submit(1), submit(2)]);
  await submit(3);
  expect(sizes).toEqual([2, 1]);
});

test('a batch that is to be tried again later is not tried before', async () => {
  const { promise: failure, resolve: fail } = Promise.withResolvers<void>();
  const { batcher, batches } = trial({
    onFailure(): Verdict {
      fail();
      return { retryInMs: 300 };
    },
  });
  void batcher.add(99);
  await failure;
  await new Promise((waited) => setImmediate(waited));
  expect(batches).toEqual([[99]]);
  await batcher.idle();
  expect(batches).toEqual([[99], [99], [99]]);
});

test('an item for which a batch has no outcome is an error, and no success', async () => {
  const { add: submit } = createBatcher<number, number>({
    run: async ([first = 0]) => outcomesOf([first]),
    batchMax: 10,
    queueMax: 10,
    onOverflow: refuse,
  });
  const results = await Promise.allSettled([1, 2].map((item) => submit(item)));
  expect(results).toMatchObject([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: { message: 'the batch gave no outcome for an item' } },
  ]);
});

test.each([
  ['22P02', true],
  ['23505', true],
  ['40001', false],
  ['57P01', false],
])('an error %s says of the values themselves that they are refused: %s', (code, expected) => {
  expect(isRefusedData(Object.assign(new Error('no'), { code }))).toBe(expected);
});

test('the next batch is prepared while one is under way, and waits for its end', async () => {
  const log: string[] = [];
  const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const { promise: isPrepared, resolve: prepared } = Promise.withResolvers<void>();
  const { add: submit } = createBatcher<string, string>({
    async prepare(items) {
      log.push(`prepare ${items[0]}`);
      if (items[0] === 'second') setImmediate(prepared);
      return items;
    },
    async run(items) {
      log.push(`run ${items[0]}`);
      begin();
      await mayEnd;
      log.push(`ran ${items[0]}`);
      return outcomesOf(items);
    },
    batchMax: 100,
    queueMax: 1_000,
    onOverflow: refuse,
  });
  const first = submit('first');
  await hasBegun;
  const others = Array.from({ length: 16 }, () => submit('second'));
  await isPrepared;
  end();
  await Promise.all([first, ...others]);
  expect(log.slice(0, 5)).toEqual([
    'prepare first',
    'run first',
    'prepare second',
    'ran first',
    'run second',
  ]);
});

test('a batch that is tried again is prepared anew', async () => {
  let preparations = 0;
  const { add: submit } = createBatcher<number, number, number>({
    async prepare() {
      preparations += 1;
      return preparations;
    },
    async run(preparation) {
      if (preparation === 1) throw new Error('stale');
      return outcomesOf([preparation]);
    },
    batchMax: 10,
    queueMax: 10,
    onOverflow: refuse,
    onFailure: (_error, { attempt }): Verdict => (attempt < 3 ? { retryInMs: 1 } : 'reject'),
  });
  expect(await submit(0)).toBe(2);
});

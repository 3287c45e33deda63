import { expect, test } from 'vitest';
import { createLateBatches, TRIED_AT_ONCE } from './late-batches.ts';

function rig(limits: { sizeMax?: number; closeMsMax?: number } = {}) {
  const state = {
    ...{ isAway: true, hangs: new Set<number>(), tried: 0 },
    ...{ written: [] as number[], givenUp: [] as number[] },
  };
  const late = createLateBatches<number>({
    ...{ sizeMax: 10, pauseMs: 1, closeMsMax: 5_000, ...limits },
    sizeOf: (batch) => batch,
    laneOf: (batch) => (batch % 2 === 0 ? 'even' : 'odd'),
    attempt: async (batch) => {
      state.tried += 1;
      if (state.hangs.has(batch)) await new Promise(() => {});
      if (!state.isAway) state.written.push(batch);
      return !state.isAway;
    },
    giveUp: (batch) => void state.givenUp.push(batch),
  });
  return { state, late };
}

test('no more wait than may, and what was written makes room', async () => {
  const { state, late } = rig();
  expect([7, 4, 3].map((size) => late.put(size))).toEqual([true, false, true]);
  state.isAway = false;
  await expect.poll(() => state.written).toEqual([7, 3]);
  expect(late.has('odd')).toBe(false);
  expect(late.put(10)).toBe(true);
  await late.close();
  expect(state).toMatchObject({ written: [7, 3, 10], givenUp: [] });
});

test('the end waits so long and no longer', async () => {
  const { state, late } = rig({ closeMsMax: 20 });
  late.put(1);
  late.put(2);
  await late.close();
  // Whichever lane failed last is the last.
  expect([state.written, state.givenUp.toSorted()]).toEqual([[], [1, 2]]);
  await late.close();
});

test('a try that does not end keeps its own lane waiting, and no other', async () => {
  const { state, late } = rig();
  state.hangs.add(3);
  late.put(3);
  late.put(1);
  late.put(2);
  state.isAway = false;
  await expect.poll(() => state.written).toEqual([2]);
  expect([late.has('odd'), late.has('even')]).toEqual([true, false]);
});

test('lanes that fail leave room for those that were not tried yet', async () => {
  const written: string[] = [];
  const late = createLateBatches<string>({
    ...{ sizeMax: 1_000, pauseMs: 1, closeMsMax: 1 },
    sizeOf: () => 1,
    laneOf: (batch) => batch,
    attempt: (batch) =>
      batch.startsWith('away') ? new Promise(() => {}) : Promise.resolve(written.push(batch) > 0),
    giveUp: () => {},
  });
  for (let number = 0; number < TRIED_AT_ONCE - 1; number += 1) late.put(`away ${number}`);
  for (const batch of ['one', 'two']) late.put(batch);
  await expect.poll(() => written).toEqual(['one', 'two']);
  await late.close();
});

test('smaller ones in the place of one are tried after the rest of their lane, and need no further room', async () => {
  const tried: number[][] = [];
  const late = createLateBatches<number[]>({
    ...{ sizeMax: 6, pauseMs: 1, closeMsMax: 5_000 },
    sizeOf: (batch) => batch.length,
    laneOf: () => 'one',
    attempt: async (batch) => {
      tried.push(batch);
      return batch.length === 1 || [batch.slice(0, 1), batch.slice(1)];
    },
    giveUp: () => {},
  });
  expect([late.put([1, 2, 3]), late.put([4, 5, 6]), late.put([7])]).toEqual([true, true, false]);
  await late.close();
  expect(tried).toEqual([[1, 2, 3], [4, 5, 6], [1], [2, 3], [4], [5, 6], [2], [3], [5], [6]]);
  expect(late.has('one')).toBe(false);
});

test('one that was given up while it was tried leaves nothing smaller behind', async () => {
  const refused = Promise.withResolvers<void>();
  const [tried, givenUp]: [string[], string[]] = [[], []];
  const late = createLateBatches<string>({
    ...{ sizeMax: 10, pauseMs: 1, closeMsMax: 1 },
    sizeOf: ({ length }) => length,
    laneOf: () => 'one',
    attempt: async (batch) => {
      tried.push(batch);
      await refused.promise;
      return [...batch];
    },
    giveUp: (batch) => void givenUp.push(batch),
  });
  late.put('ab');
  await late.close();
  refused.resolve();
  await new Promise((done) => setImmediate(done));
  expect([tried, givenUp, late.has('one')]).toEqual([['ab'], ['ab'], false]);
});

test('the end does not wait for a try that does not end, and gives it up with the rest', async () => {
  const { state, late } = rig({ closeMsMax: 20 });
  state.hangs.add(1);
  late.put(1);
  late.put(3);
  await expect.poll(() => state.tried).toBe(1);
  await late.close();
  expect(state).toMatchObject({ written: [], givenUp: [1, 3] });
});

import { expect, test } from 'vitest';
import { createLateBatches } from './late-batches.ts';

function rig(limits: { sizeMax?: number; closeMsMax?: number } = {}) {
  const state = { isAway: true, written: [] as number[], givenUp: [] as number[] };
  const late = createLateBatches<number>({
    ...{ sizeMax: 10, pauseMs: 1, closeMsMax: 5_000, ...limits },
    sizeOf: (batch) => batch,
    attempt: async (batch) => {
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
  expect(late.put(10)).toBe(true);
  await late.close();
  expect(state).toMatchObject({ written: [7, 3, 10], givenUp: [] });
});

test('the end waits so long and no longer', async () => {
  const { state, late } = rig({ closeMsMax: 20 });
  late.put(1);
  late.put(2);
  await late.close();
  expect(state).toMatchObject({ written: [], givenUp: [1, 2] });
  await late.close();
});

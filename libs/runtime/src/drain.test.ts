import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Drain } from './drain.ts';

/** A server of which somebody asked at these times whether it is ready, and that leaves at the last of them. */
function leaveAfter(asked: readonly number[], leavesAtMs: number) {
  let nowMs = 0;
  const drain = new Drain(() => nowMs);
  for (nowMs of asked) drain.noteReadiness();
  nowMs = leavesAtMs;
  const state = { drain, hasLeft: false, leaving: drain.leave() };
  void state.leaving.then(() => {
    state.hasLeft = true;
  });
  return state;
}

/** Several times what a server takes that waits for nobody; in steps, so that a machine that stood still makes no difference. */
async function leavesSoon(state: { readonly hasLeft: boolean }): Promise<boolean> {
  for (let steps = 0; steps < 20 && !state.hasLeft; steps += 1) await sleep(10);
  return state.hasLeft;
}

test('a server that is watched waits until who watches has heard that it leaves', async () => {
  const state = leaveAfter([0, 1_000, 2_000], 2_900);
  expect(await leavesSoon(state)).toBe(false);
  state.drain.noteReadiness();
  await state.leaving;
});

test('several who watch, one shortly after the other, are seen as well', async () => {
  const state = leaveAfter([0, 300, 600, 900], 1_000);
  expect(await leavesSoon(state)).toBe(false);
  state.drain.noteReadiness();
  await state.leaving;
});

test('the wait is bounded', { timeout: 30_000 }, () => leaveAfter([0, 1_000], 1_500).leaving);

test.each([
  ['of which nobody asks', [], 0],
  ['of which somebody asked once, when it began', [10], 400],
  ['of which somebody asked twice in a moment', [10, 60], 400],
  ['of which somebody asked long ago', [0, 1_000], 12_000],
  ['of which somebody asks now and then', [0, 60_000, 120_000], 121_000],
] as const)('a server %s waits for nobody', async (_who, asked, leavesAtMs) => {
  expect(await leavesSoon(leaveAfter(asked, leavesAtMs))).toBe(true);
});

// How many batches are worked on at once: as many as make the work faster, found while more waits than is taken.
import { expect, test } from 'vitest';
import { batchesForCores, Overlap } from './overlap.ts';

const ITEMS = 100;

/** Ends batches one after the other, as fast as so many at once would; answers every number that was worked with. */
function work(
  overlap: Overlap,
  clock: { ms: number },
  batches: number,
  itemsPerMs: (atOnce: number) => number,
) {
  const seen: number[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    seen.push(overlap.batches);
    clock.ms += ITEMS / itemsPerMs(overlap.batches);
    overlap.ended(ITEMS);
  }
  return seen;
}

function start(most: number) {
  const clock = { ms: 0 };
  return { clock, overlap: new Overlap({ most, nowMs: () => clock.ms }) };
}

test('while each more makes it faster, there are more at once; beyond that, not', () => {
  const { overlap, clock } = start(8);
  work(overlap, clock, 2_000, (atOnce) => Math.min(atOnce, 5));
  expect(overlap.batches).toBe(5);
});

test('where more at once do not make it faster, one is enough', () => {
  const { overlap, clock } = start(8);
  work(overlap, clock, 4_000, () => 3);
  expect(overlap.batches).toBe(1);
});

test('where more at once make it slower, it goes back; and when that ends, it comes again', () => {
  const { overlap, clock } = start(4);
  work(overlap, clock, 4_000, (atOnce) => 4 / atOnce);
  expect(overlap.batches).toBe(1);
  work(overlap, clock, 40_000, (atOnce) => atOnce);
  expect(overlap.batches).toBe(4);
});

test('a machine that gets faster or slower by itself is not taken for the effect of a trial', () => {
  for (const drift of [0.9998, 1.0002]) {
    const { overlap, clock } = start(8);
    let speed = 10;
    const seen = work(overlap, clock, 4_000, (atOnce) => {
      speed *= drift;
      return speed * Math.min(atOnce, 2);
    });
    expect(overlap.batches).toBe(2);
    expect(Math.max(...seen)).toBe(3);
  }
});

test('without more waiting than is taken nothing is tried, and a trial under way ends', () => {
  const { overlap, clock } = start(8);
  for (let batch = 0; batch < 2_000; batch += 1) {
    work(overlap, clock, 1, (atOnce) => atOnce);
    if (batch % 10 === 0) overlap.ranDry();
    expect(overlap.batches).toBe(2);
  }
  while (overlap.batches === 2) work(overlap, clock, 1, (atOnce) => atOnce);
  overlap.ranDry();
  expect(overlap.batches).toBe(2);
});

test('never more than there may be, nor none', () => {
  const { overlap, clock } = start(3);
  const speeds = [0.1, 5, 1, 9, 2];
  let turn = 0;
  const seen = work(overlap, clock, 20_000, () => {
    turn += 1;
    return speeds[turn % speeds.length] as number;
  });
  expect(Math.min(...seen)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...seen)).toBeLessThanOrEqual(3);
});

test('there may be as many as cores, two at least and four at most', () => {
  expect([1, 2, 4, 64].map((cores) => batchesForCores(cores))).toEqual([2, 2, 4, 4]);
});

import type { EndedBatch } from './batcher.ts';

/** From this size on a batch is not much dearer per item than a larger one. */
const LARGE = 32;
/** Where batches take this many times what the quickest took, who works on the database keeps each other waiting. */
const BUSY_FACTOR = 2;
/** How much the last batch counts in what batches usually take: a single slow one changes nothing. */
const LAST_COUNTS = 0.1;
/** The quickest one is forgotten over some thousand, in case the database or the work has changed: waiting itself makes them alike. */
const FORGETTING = 1.001;
/** Enough for those of the last batch to be back: with 1.5 a batch left with 12 of 16, and four processes took in 7 % less. */
const WAITS_PER_BATCH = 4;
/** On slow machines, too: with 25 ms batches left with 12 of 16 there, and a payment cost four processes a fifth more. */
const WAIT_MS_MAX = 60;

/**
 * How long small batches wait to become larger ones, for work that several processes do on one database. A batch costs
 * the database a millisecond whatever its size, so where their cores are used up, many small batches of each process
 * take them away from all. That is seen by how long batches take; where it is not so, nothing waits.
 */
export function patienceAmongProcesses(areSeveral: () => boolean): (last: EndedBatch) => number {
  let quickestMs = Number.POSITIVE_INFINITY;
  let usualMs = 0;
  return ({ size, tookMs }) => {
    quickestMs = Math.min(tookMs, quickestMs * FORGETTING);
    usualMs += (tookMs - usualMs) * LAST_COUNTS;
    if (size >= LARGE || usualMs < BUSY_FACTOR * quickestMs || !areSeveral()) return 0;
    return Math.min(usualMs * WAITS_PER_BATCH, WAIT_MS_MAX);
  };
}

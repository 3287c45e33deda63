// How a service is given its memory, for whoever starts one from here; the files in `deploy` say the same.

/** How much may be young before Node looks what of it is garbage, in megabytes; its own limit is 128 in all. */
const YOUNG_MB = 8;
/** A batch of Payments' worker lives through some round trips: with less, a tenth of its time went into moving what was about to end. */
const YOUNG_MB_OF_WORKERS = 16;

/** `works`: it does jobs in large batches, as Payments does unless it only takes requests. */
export function memoryFlags({ works }) {
  return [`--max-semi-space-size=${works ? YOUNG_MB_OF_WORKERS : YOUNG_MB}`];
}

/**
 * One arena instead of one for every thread, of which those that compile and collect kept 25 MB that nobody used again. And what
 * is free at its end goes back at once: left to itself the C library learns from large buffers to keep more, 10 MB of Toolhub's.
 */
export const memorySettings = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

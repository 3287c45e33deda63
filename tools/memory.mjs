// How a service is given its memory, for whoever starts one from here; the files in `deploy` say the same.

/**
 * How much may be young before Node looks what of it is garbage, in megabytes, of which it takes powers of two; its own limit is 128 in all. A batch
 * of Payments lives through some round trips: with half of this, what was about to end was moved first, a tenth of the time of its processes.
 */
const YOUNG_MB = { payments: 16, toolhub: 8 };

export function memoryFlags(product) {
  return [`--max-semi-space-size=${YOUNG_MB[product]}`];
}

/**
 * One arena instead of one for every thread, of which those that compile and collect kept 25 MB that nobody used again. And what
 * is free at its end goes back at once: left to itself the C library learns from large buffers to keep more, 10 MB of Toolhub's.
 */
export const memorySettings = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

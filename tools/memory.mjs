// How a service is given its memory, for whoever starts one from here; the files in `deploy` say the same.

/**
 * How much may be young before Node looks what of it is garbage, in megabytes; its own limit is 128 in all. A batch of a worker
 * of Payments lives through some round trips: with 8 a tenth of its processor time went into moving what was about to end.
 */
const youngMb = { payments: 16, toolhub: 8 };

export function memoryFlags(product) {
  return [`--max-semi-space-size=${youngMb[product]}`];
}

/** One arena instead of one for every thread, of which those that compile and collect kept 25 MB that nobody used again. */
export const memorySettings = { MALLOC_ARENA_MAX: '1' };

import { errors } from '../../errors.ts';

/** Of the batches that reserve and settle; as many calls may wait to be counted late. */
export const BATCH_BOUNDS = {
  batchMax: 1_000,
  queueMax: 20_000,
  onOverflow: () => errors.overloaded({ retryAfterSeconds: 1 }),
} as const;

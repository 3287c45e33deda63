import { setTimeout as sleep } from 'node:timers/promises';

/** Batches whose database was away for longer than their callers wait: each is tried again until it is written. */
export interface LateBatches<Batch> {
  /** False where too many calls wait already. */
  put(batch: Batch): boolean;
  /** Waits for the database a little longer, and gives up what is left then. */
  close(): Promise<void>;
}

export interface LateBatchesDependencies<Batch> {
  sizeOf(batch: Batch): number;
  /** Whether that was the end of it: it was written, or never will be. Never rejects. */
  attempt(batch: Batch): Promise<boolean>;
  giveUp(batch: Batch): void;
  /** Of all batches together. */
  sizeMax: number;
  pauseMs: number;
  closeMsMax: number;
}

export function createLateBatches<Batch>(deps: LateBatchesDependencies<Batch>): LateBatches<Batch> {
  const late = new Set<Batch>();
  let size = 0;
  let endsAtMs = Number.POSITIVE_INFINITY;
  let trying: Promise<void> | undefined;

  function remove(batch: Batch): void {
    late.delete(batch);
    size -= deps.sizeOf(batch);
  }

  /** Goes on for as long as the database is away, or until the process ends: what waits has its bound in `sizeMax`. */
  async function tryAll(): Promise<void> {
    while (late.size > 0) {
      await sleep(deps.pauseMs);
      // Where tables are spread, one may wait for a server that the next does not need.
      for (const batch of [...late]) {
        if (performance.now() >= endsAtMs) break;
        if (await deps.attempt(batch)) remove(batch);
      }
      if (performance.now() < endsAtMs) continue;
      for (const batch of [...late]) {
        remove(batch);
        deps.giveUp(batch);
      }
    }
    trying = undefined;
  }

  return {
    put(batch) {
      if (size + deps.sizeOf(batch) > deps.sizeMax) return false;
      late.add(batch);
      size += deps.sizeOf(batch);
      trying ??= tryAll();
      return true;
    },
    async close() {
      endsAtMs = performance.now() + deps.closeMsMax;
      await trying;
    },
  };
}

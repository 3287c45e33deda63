import { setTimeout as sleep } from 'node:timers/promises';

/** Batches whose database was away for longer than their callers wait: each is tried again until it is written. */
export interface LateBatches<Batch> {
  /** False where too many calls wait already, and after the end. */
  put(batch: Batch): boolean;
  /** Whether anything waits in this lane. */
  has(lane: string): boolean;
  /** Waits for the database a little longer, and gives up what is left then. */
  close(): Promise<void>;
}

export interface LateBatchesDependencies<Batch> {
  sizeOf(batch: Batch): number;
  /** Batches of one lane need the same server, and are written one after the other. */
  laneOf(batch: Batch): string;
  /**
   * Whether that was the end of it: it was written, or never will be. Or the smaller ones of its lane that are tried in its
   * place, each of which waits for nobody but the lane. Never rejects.
   */
  attempt(batch: Batch): Promise<boolean | readonly Batch[]>;
  giveUp(batch: Batch): void;
  /** Of all batches together. */
  sizeMax: number;
  pauseMs: number;
  closeMsMax: number;
}

/** Of all lanes; each holds a connection meanwhile. */
export const TRIED_AT_ONCE = 8;
/** Of lanes that have failed, whose server may not answer for long: the rest is for those that were not tried yet. */
const TRIED_AGAIN_AT_ONCE = TRIED_AT_ONCE / 2;

interface Lane<Batch> {
  batches: Set<Batch>;
  hasFailed: boolean;
  /** It is being tried, or pauses after that. */
  isBusy: boolean;
}

/** Goes on for as long as a server is away, or until the process ends: what waits has its bound in `sizeMax`. */
export function createLateBatches<Batch>(deps: LateBatchesDependencies<Batch>): LateBatches<Batch> {
  const lanes = new Map<string, Lane<Batch>>();
  const trying = { first: 0, again: 0 };
  let size = 0;
  let isOver = false;
  let emptied: (() => void) | undefined;

  function remove(key: string, batch: Batch): void {
    const lane = lanes.get(key);
    if (lane?.batches.delete(batch) !== true) return;
    size -= deps.sizeOf(batch);
    if (lane.batches.size > 0) return;
    lanes.delete(key);
    if (lanes.size === 0) emptied?.();
  }

  function tryLanes(): void {
    for (const [key, lane] of lanes) {
      const hasRoom = lane.hasFailed
        ? trying.again < TRIED_AGAIN_AT_ONCE
        : trying.first + trying.again < TRIED_AT_ONCE;
      if (!lane.isBusy && hasRoom) void tryLane(key, lane);
    }
  }

  async function tryLane(key: string, lane: Lane<Batch>): Promise<void> {
    const turn = lane.hasFailed ? 'again' : 'first';
    lane.isBusy = true;
    trying[turn] += 1;
    lane.hasFailed = !(await writeAll(key, lane));
    trying[turn] -= 1;
    if (lane.hasFailed) toTheEnd(key, lane);
    if (!isOver) tryLanes();
    if (lane.hasFailed) await sleep(deps.pauseMs);
    lane.isBusy = false;
    if (!isOver) tryLanes();
  }

  /** Every lane has its turn before this one has it again. */
  function toTheEnd(key: string, lane: Lane<Batch>): void {
    if (lanes.delete(key)) lanes.set(key, lane);
  }

  /** False at the first that could not be written: the others need the same server. */
  async function writeAll(key: string, lane: Lane<Batch>): Promise<boolean> {
    for (const batch of lane.batches) {
      const outcome = !isOver && (await deps.attempt(batch));
      if (outcome === false) return false;
      if (outcome !== true) addInstead(lane, batch, outcome);
      remove(key, batch);
    }
    return true;
  }

  /** They need no further room, and none where the batch was given up meanwhile. */
  function addInstead({ batches }: Lane<Batch>, batch: Batch, smaller: readonly Batch[]): void {
    if (!batches.has(batch)) return;
    for (const one of smaller) {
      batches.add(one);
      size += deps.sizeOf(one);
    }
  }

  function giveUpAll(): void {
    isOver = true;
    for (const [key, { batches }] of [...lanes])
      for (const batch of [...batches]) {
        remove(key, batch);
        deps.giveUp(batch);
      }
  }

  return {
    put(batch) {
      if (isOver || size + deps.sizeOf(batch) > deps.sizeMax) return false;
      const key = deps.laneOf(batch);
      const lane = lanes.get(key) ?? { batches: new Set(), hasFailed: false, isBusy: false };
      lane.batches.add(batch);
      lanes.set(key, lane);
      size += deps.sizeOf(batch);
      tryLanes();
      return true;
    },
    has: (lane) => lanes.has(lane),
    async close() {
      const ending = new AbortController();
      const written = new Promise<void>((done) => {
        emptied = done;
        if (lanes.size === 0) done();
      });
      const limit = sleep(deps.closeMsMax, undefined, { signal: ending.signal }).catch(() => {});
      // Where a server does not answer, a try may last far longer than that.
      await Promise.race([written, limit]);
      ending.abort();
      giveUpAll();
    },
  };
}

/** One outcome per item: a batch never lets one bad item spoil its neighbours. */
export type Outcome<Value> = { ok: true; value: Value } | { ok: false; error: unknown };

export interface BatcherOptions<Item, Prepared, Value> {
  /** Does for the items that leave together what needs no turn in the database; the batch before may be under way. */
  prepare(items: readonly Item[]): Promise<Prepared>;
  /** Handles a batch; the outcomes stand in the order of the items. One batch is here at a time. */
  run(prepared: Prepared): Promise<readonly Outcome<Value>[]>;
  batchMax: number;
  /** More than this many waiting items are refused with `onOverflow`'s error instead of growing without end. */
  queueMax: number;
  onOverflow: () => unknown;
}

interface Waiting<Item, Value> {
  item: Item;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/** Below this, one batch for all that wait is cheaper than two. */
const SPLIT_MIN = 16;

/**
 * Brings together what waits at the same time, so that one statement and one commit serve many callers. Nothing is
 * delayed to fill a batch: it holds what arrived while the one before was under way.
 *
 * One batch is under way at a time, the next one is prepared meanwhile and leaves before the callers of the last one
 * hear of theirs: while the database works, this process answers, reads and prepares. Two under way at once shared one
 * core as often as not, each half as large: 4,600 payments a second instead of 5,600, on 2 cores.
 */
export function createBatcher<Item, Prepared, Value>(
  options: BatcherOptions<Item, Prepared, Value>,
): (item: Item) => Promise<Value> {
  type Batch = readonly Waiting<Item, Value>[];
  let queue: Waiting<Item, Value>[] = [];
  let ready: { batch: Batch; prepared: Prepared } | undefined;
  let isPreparing = false;
  let isRunning = false;
  let isScheduled = false;
  let lastSize = 0;

  function schedule(): void {
    if (isScheduled || isPreparing || ready || (isRunning && !isNextComplete())) return;
    isScheduled = true;
    // Requests that were parsed in this turn of the event loop go together.
    setImmediate(() => {
      isScheduled = false;
      if (!isPreparing && !ready) void prepareNext();
    });
  }

  /** Whether as many wait as left last time: those will not be back before the batch under way is done. */
  function isNextComplete(): boolean {
    return queue.length >= Math.max(lastSize, SPLIT_MIN);
  }

  /**
   * Those that wait, and those of the last batch that will be back soon, are shared out evenly: clients that are
   * answered together come back together, and one batch of them all would leave the database and this process waiting
   * for each other in turns.
   */
  function nextSize(): number {
    const waiting = queue.length;
    const share = waiting < SPLIT_MIN ? waiting : Math.ceil((waiting + lastSize) / 2);
    return Math.min(share, waiting, options.batchMax);
  }

  async function prepareNext(): Promise<void> {
    lastSize = nextSize();
    if (lastSize === 0) return;
    const batch = queue.slice(0, lastSize);
    queue = queue.slice(lastSize);
    isPreparing = true;
    try {
      ready = { batch, prepared: await options.prepare(batch.map((waiting) => waiting.item)) };
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
    isPreparing = false;
    if (!isRunning) startNext();
  }

  function startNext(): void {
    if (isPreparing) return;
    if (!ready) {
      void prepareNext();
      return;
    }
    const { batch, prepared } = ready;
    ready = undefined;
    isRunning = true;
    void run(batch, prepared);
  }

  async function run(batch: Batch, prepared: Prepared): Promise<void> {
    let answer: (waiting: Waiting<Item, Value>, index: number) => void;
    try {
      const outcomes = await options.run(prepared);
      answer = (waiting, index) => settle(waiting, outcomes[index]);
    } catch (error) {
      answer = (waiting) => waiting.reject(error);
    }
    isRunning = false;
    startNext();
    batch.forEach(answer);
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (queue.length >= options.queueMax) {
        reject(options.onOverflow());
        return;
      }
      queue.push({ item, resolve, reject });
      schedule();
    });
}

function settle<Item, Value>(waiting: Waiting<Item, Value>, outcome: Outcome<Value> | undefined): void {
  if (outcome === undefined) waiting.reject(new Error('the batch gave no outcome for an item'));
  else if (outcome.ok) waiting.resolve(outcome.value);
  else waiting.reject(outcome.error);
}

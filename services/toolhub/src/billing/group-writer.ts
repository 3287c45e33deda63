import { errors } from '../errors.ts';

/**
 * Writes what waits together: while one statement is under way, everything that arrives forms the next one. A lone
 * caller waits for nothing but its own statement; a thousand at once share the price of one commit.
 */
export interface GroupWriter<Item, Outcome> {
  add(item: Item): Promise<Outcome>;
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>;
}

export interface GroupWriterOptions<Item, Outcome> {
  /** One outcome for each item, in their order. When it throws, every caller of the batch gets the error. */
  write(items: readonly Item[]): Promise<readonly Outcome[]>;
  batchMax?: number;
  waitingMax?: number;
}

const BATCH_MAX = 1_000;
const WAITING_MAX = 20_000;

interface Waiting<Item, Outcome> {
  item: Item;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

export function createGroupWriter<Item, Outcome>(
  options: GroupWriterOptions<Item, Outcome>,
): GroupWriter<Item, Outcome> {
  const { write, batchMax = BATCH_MAX, waitingMax = WAITING_MAX } = options;
  let queue: Waiting<Item, Outcome>[] = [];
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    // One turn of the event loop, so that all requests that arrived in this one are in the first batch.
    await new Promise((resume) => setImmediate(resume));
    while (queue.length > 0) {
      const batch = queue.length <= batchMax ? queue : queue.slice(0, batchMax);
      queue = queue.length <= batchMax ? [] : queue.slice(batchMax);
      await writeBatch(batch);
    }
    running = undefined;
  }

  async function writeBatch(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await write(batch.map(({ item }) => item));
      for (const [index, waiting] of batch.entries()) waiting.resolve(outcomes[index] as Outcome);
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
  }

  return {
    add(item) {
      if (queue.length >= waitingMax) return Promise.reject(errors.overloaded({ retryAfterSeconds: 1 }));
      return new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        running ??= run();
      });
    },
    async idle() {
      while (running !== undefined) await running;
    },
  };
}

import type { Database } from '../database.ts';
import { type Batcher, type BatcherOptions, createBatcher, type Outcome } from './batcher.ts';

export interface ByServerOptions<Item, Value, Prepared>
  extends Omit<BatcherOptions<Item, Value, Prepared>, 'run'> {
  readonly tenantOf: (item: Item) => string;
  /** One batch of a server is here at a time; where nobody could say which server that is, of none. */
  readonly run: (prepared: Prepared, server: string) => Promise<readonly Outcome<Value>[]>;
}

/** Where there is one server, and of those of which it is not known. */
const NO_NAME = '';

/**
 * Where tables are spread, one batcher for each server of tenants: those of a server that does not answer wait for it, and nobody else with
 * them. On one server it is one batcher.
 */
export function createBatcherByServer<Item, Value, Prepared = readonly Item[]>(
  database: Pick<Database, 'isSpread' | 'serverOf'>,
  { tenantOf, run, ...options }: ByServerOptions<Item, Value, Prepared>,
): Batcher<Item, Value> {
  const createFor = (server: string) =>
    createBatcher<Item, Value, Prepared>({ ...options, run: (prepared) => run(prepared, server) });
  if (database.isSpread !== true) return createFor(NO_NAME);
  const batchers = new Map<string, Batcher<Item, Value>>();

  function batcherOf(server: string): Batcher<Item, Value> {
    const before = batchers.get(server);
    if (before !== undefined) return before;
    const batcher = createFor(server);
    batchers.set(server, batcher);
    return batcher;
  }

  /** What is asked of where items belong: who waits for all of them waits for these, too. */
  const asked = new Set<Promise<string>>();

  async function serverOf(item: Item): Promise<string> {
    // The coordinator may be away; what it is for waits for it or fails by itself.
    const answer = database.serverOf(tenantOf(item)).catch(() => NO_NAME);
    asked.add(answer);
    try {
      return await answer;
    } finally {
      asked.delete(answer);
    }
  }

  return {
    async add(item) {
      const server = await serverOf(item);
      return batcherOf(server).add(item);
    },
    get size() {
      return [...batchers.values()].reduce((sum, { size }) => sum + size, asked.size);
    },
    async idle() {
      while (asked.size > 0 || [...batchers.values()].some(({ size }) => size > 0)) {
        await Promise.allSettled(asked);
        await Promise.all([...batchers.values()].map((batcher) => batcher.idle()));
      }
    },
  };
}

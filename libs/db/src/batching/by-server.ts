import type { Database } from '../database.ts';
import { type Batcher, type BatcherOptions, createBatcher } from './batcher.ts';

export type ByServerOptions<Item, Value, Prepared> = BatcherOptions<Item, Value, Prepared> & {
  readonly tenantOf: (item: Item) => string;
};

/**
 * Where tables are spread, one batcher for each server of tenants: those of a server that does not answer wait for it, and nobody else with
 * them. On one server it is one batcher.
 */
export function createBatcherByServer<Item, Value, Prepared = readonly Item[]>(
  database: Pick<Database, 'isSpread' | 'serverOf'>,
  { tenantOf, ...options }: ByServerOptions<Item, Value, Prepared>,
): Batcher<Item, Value> {
  if (database.isSpread !== true) return createBatcher(options);
  const batchers = new Map<string, Batcher<Item, Value>>();

  function batcherOf(server: string): Batcher<Item, Value> {
    const before = batchers.get(server);
    if (before !== undefined) return before;
    const batcher = createBatcher(options);
    batchers.set(server, batcher);
    return batcher;
  }

  return {
    add: async (item) => batcherOf(await database.serverOf(tenantOf(item))).add(item),
    get size() {
      return [...batchers.values()].reduce((sum, { size }) => sum + size, 0);
    },
    async idle() {
      await Promise.all([...batchers.values()].map((batcher) => batcher.idle()));
    },
  };
}

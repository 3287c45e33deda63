import { expect, test } from 'vitest';
import { createBatcherByServer } from './by-server.ts';

const open = (isSpread: boolean) => {
  const batches: string[][] = [];
  const silent = Promise.withResolvers<void>();
  const batcher = createBatcherByServer<string, string>(
    { isSpread, serverOf: async (tenantId) => tenantId.slice(0, 1) },
    {
      ...{ batchMax: 10, queueMax: 10, onOverflow: () => new Error('full'), tenantOf: (item) => item },
      async run(items) {
        batches.push([...items]);
        if (items.some((item) => item.startsWith('s'))) await silent.promise;
        return items.map((value) => ({ ok: true, value }));
      },
    },
  );
  return { batcher, batches, release: silent.resolve };
};

test('where tables are spread, those of a server that does not answer keep nobody else waiting', async () => {
  const { batcher, batches, release } = open(true);
  const waiting = ['s1', 's2'].map(batcher.add);
  expect(await Promise.all(['a1', 'a2', 'b1'].map(batcher.add))).toEqual(['a1', 'a2', 'b1']);
  expect(batcher.size).toBe(2);
  release();
  expect(await Promise.all(waiting)).toEqual(['s1', 's2']);
  await batcher.idle();
  expect(batches).toEqual([['s1', 's2'], ['a1', 'a2'], ['b1']]);
});

test('one server takes all of them together', async () => {
  const { batcher, batches, release } = open(false);
  release();
  await Promise.all(['s1', 'a1', 'b1'].map(batcher.add));
  expect(batches).toEqual([['s1', 'a1', 'b1']]);
});

test('who waits for all of them waits for those of which it is not known yet where they belong', async () => {
  const { batcher, batches, release } = open(true);
  release();
  const added = batcher.add('a1');
  await batcher.idle();
  expect(batches).toEqual([['a1']]);
  await added;
});

test('while nobody can say where an item belongs, it is written like the others', async () => {
  const servers: string[] = [];
  const batcher = createBatcherByServer<string, string>(
    { isSpread: true, serverOf: () => Promise.reject(new Error('away')) },
    {
      ...{ batchMax: 10, queueMax: 10, onOverflow: () => new Error('full'), tenantOf: (item) => item },
      async run(items, server) {
        servers.push(server);
        return items.map((value) => ({ ok: true, value }));
      },
    },
  );
  expect(await Promise.all(['a1', 'b1'].map(batcher.add))).toEqual(['a1', 'b1']);
  expect(servers).toEqual(['']);
});

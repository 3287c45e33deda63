import { expect, test } from 'vitest';
import { shareReads } from './shared-reads.ts';

function slowSource() {
  let value = 0;
  let reads = 0;
  const share = shareReads<number>();
  return {
    change: () => {
      value += 1;
      return value;
    },
    reads: () => reads,
    read: (key = 'a') =>
      share(key, async () => {
        reads += 1;
        const seen = value;
        await new Promise((done) => setTimeout(done, 5));
        if (seen === 13) throw new Error('no luck');
        return seen;
      }),
  };
}

test('a hundred at once cost two reads', async () => {
  const source = slowSource();
  const results = await Promise.all(Array.from({ length: 100 }, () => source.read()));
  expect(new Set(results)).toEqual(new Set([0]));
  expect(source.reads()).toBe(2);
});

test('nobody gets what was read before they asked', async () => {
  const source = slowSource();
  for (let round = 0; round < 10; round += 1) {
    const before = source.read();
    const changed = source.change();
    const after = source.read();
    expect(await after).toBe(changed);
    expect(await before).toBe(changed - 1);
  }
});

test('keys have nothing to do with each other, and nothing is remembered', async () => {
  const source = slowSource();
  await Promise.all([source.read('a'), source.read('b'), source.read('c')]);
  expect(source.reads()).toBe(3);
  await source.read('a');
  expect(source.reads()).toBe(4);
});

test('a failed read fails those who asked for it, and the next one runs', async () => {
  const source = slowSource();
  for (let n = 0; n < 13; n += 1) source.change();
  const failing = source.read();
  source.change();
  const next = source.read();
  await expect(failing).rejects.toThrow('no luck');
  expect(await next).toBe(14);
});

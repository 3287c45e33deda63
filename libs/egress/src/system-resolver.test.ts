// The system's own lookups: few at once, and none that ended keeps its place.
import { expect, test } from 'vitest';
import { limitLookups, type ResolvedAddress } from './system-resolver.ts';

/** Lookups that end when they are told to, in the order in which they began. */
function trial() {
  const begun: string[] = [];
  const ends: ((failure?: Error) => void)[] = [];
  const look = limitLookups((host) => {
    begun.push(host);
    const { promise, resolve, reject } = Promise.withResolvers<readonly ResolvedAddress[]>();
    ends.push((failure) => (failure ? reject(failure) : resolve([])));
    return promise;
  });
  return { look, begun, end: (failure?: Error) => ends.shift()?.(failure) };
}

test('two are under way at once, and each that ends, well or not, makes room for the next', async () => {
  const { look, begun, end } = trial();
  const results = ['a', 'b', 'c', 'd', 'e'].map((host) => look(host));
  expect(begun).toEqual(['a', 'b']);
  end();
  await results[0];
  await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
  end(new Error('no such name'));
  await expect(results[1]).rejects.toThrow('no such name');
  await expect.poll(() => begun).toEqual(['a', 'b', 'c', 'd']);
  end();
  await expect.poll(() => begun.length).toBe(5);
  end();
  end();
  await Promise.all(results.slice(2));
  void look('f');
  void look('g');
  void look('h');
  expect(begun.slice(5)).toEqual(['f', 'g']);
});

test('who comes when too many wait is refused', async () => {
  const { look } = trial();
  for (let index = 0; index < 102; index += 1) void look(`name ${index}`);
  await expect(look('last')).rejects.toThrow('too many lookups wait: last');
});

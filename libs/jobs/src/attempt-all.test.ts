import { expect, test } from 'vitest';
import { attemptAll } from './index.ts';

const { signal } = new AbortController();
const broken = (message: string) => () => Promise.reject(new Error(message));

test('one that fails keeps no other from being done, and is told of', async () => {
  const done: string[] = [];
  const task = (name: string) => async () => void done.push(name);
  await attemptAll([task('a'), task('b')], { signal });
  await expect(attemptAll([broken('one'), task('c')], { signal })).rejects.toThrow(/^one$/);
  expect(done).toEqual(['a', 'b', 'c']);
});

test('several that fail are told of together, but no more than a few', async () => {
  const failure = await attemptAll(
    Array.from({ length: 12 }, (_, n) => broken(`number ${n}`)),
    { signal },
  ).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: '12 parts of the job failed' });
  expect((failure as AggregateError).errors).toHaveLength(10);
});

test('a database that is away is asked once, and a process that stops goes on with nothing', async () => {
  let later = 0;
  const next = async () => {
    later += 1;
  };
  const away = () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
  await expect(attemptAll([away, next], { signal })).rejects.toThrow('away');
  const stopping = new AbortController();
  const stopped = async () => {
    stopping.abort();
    stopping.signal.throwIfAborted();
  };
  await expect(attemptAll([stopped, next], stopping)).rejects.toThrow();
  expect(later).toBe(0);
});

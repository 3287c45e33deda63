import { expect, test } from 'vitest';
import { createFreshRuns } from './fresh-runs.ts';

/** Runs that end when they are told to, and say how many began before them. */
function controlledRuns() {
  const ends: PromiseWithResolvers<void>[] = [];
  let running = 0;
  return {
    ends,
    mostAtOnce: 0,
    async run(): Promise<number> {
      const end = Promise.withResolvers<void>();
      const number = ends.push(end);
      running += 1;
      this.mostAtOnce = Math.max(this.mostAtOnce, running);
      try {
        await end.promise;
      } finally {
        running -= 1;
      }
      return number;
    },
  };
}

test('who asks during a run gets the next one, together with all others who do', async () => {
  const share = createFreshRuns<number>();
  const runs = controlledRuns();
  const ask = () => share('books', () => runs.run());
  const first = ask();
  const meanwhile = Array.from({ length: 50 }, ask);
  expect(runs.ends).toHaveLength(1);
  runs.ends[0]?.resolve();
  expect(await first).toBe(1);
  const late = ask();
  await expect.poll(() => runs.ends.length).toBe(2);
  const later = ask();
  runs.ends[1]?.resolve();
  expect(new Set(await Promise.all(meanwhile))).toEqual(new Set([2]));
  await expect.poll(() => runs.ends.length).toBe(3);
  runs.ends[2]?.resolve();
  expect([await late, await later]).toContain(3);
  expect(runs.mostAtOnce).toBe(1);
});

test('a run that fails fails for who asked for it, and the next one goes on', async () => {
  const share = createFreshRuns<number>();
  const runs = controlledRuns();
  const ask = () => share('books', () => runs.run());
  const [first, second] = [ask(), ask()];
  runs.ends[0]?.reject(new Error('the database is away'));
  await expect(first).rejects.toThrow('away');
  await expect.poll(() => runs.ends.length).toBe(2);
  runs.ends[1]?.resolve();
  expect(await second).toBe(2);
});

test('others do not wait, and what has ended is forgotten', async () => {
  const share = createFreshRuns<string>();
  const never = share('slow', () => new Promise(() => {}));
  expect(await share('quick', async () => 'done')).toBe('done');
  expect(await share('quick', async () => 'done again')).toBe('done again');
  expect(never).toBeInstanceOf(Promise);
});

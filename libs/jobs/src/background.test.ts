// What was begun is ended, also where a start fails half-way; else a process that cannot start never ends.
import type { Database } from '@libs/db';
import { expect, test } from 'vitest';
import { createBackground } from './index.ts';

function trial({ listens = true } = {}) {
  const log: string[] = [];
  const database = {
    schema: 'public',
    async listen() {
      if (!listens) throw new Error('no free connection');
      log.push('jobs begin');
      return { stop: async () => void log.push('jobs end') };
    },
  } as unknown as Database;
  const part = (name: string, fault?: Error) => ({
    ...{ handlers: [], cron: [] },
    background: {
      async start() {
        log.push(`${name} begins`);
        if (fault) throw fault;
      },
      stop: async () => void log.push(`${name} ends`),
    },
  });
  const create = (parts: ReturnType<typeof part>[]) =>
    createBackground([{ handlers: [], cron: [] }, ...parts], {
      database,
      now: () => new Date(0),
      onError: () => {},
    });
  return { log, part, create };
}

test('all parts begin and end, once', async () => {
  const { log, part, create } = trial();
  const background = create([part('a'), part('b')]);
  await background.stop();
  await background.start();
  expect(log.splice(0)).toEqual(['jobs begin', 'a begins', 'b begins']);
  await background.stop();
  await background.stop();
  expect(log.sort()).toEqual(['a ends', 'b ends', 'jobs end']);
});

test('after a start that fails half-way, what had begun ends, and nothing else', async () => {
  const { log, part, create } = trial();
  const background = create([part('a'), part('b', new Error('no session')), part('c')]);
  await expect(background.start()).rejects.toThrow('no session');
  await background.stop();
  expect(log.sort()).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'jobs begin', 'jobs end']);
});

test('where no job can be taken, nothing else begins', async () => {
  const { log, part, create } = trial({ listens: false });
  const background = create([part('a')]);
  await expect(background.start()).rejects.toThrow('no free connection');
  await background.stop();
  expect(log).toEqual([]);
});

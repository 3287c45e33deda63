// What becomes of results that cannot be written: by whose fault decides, and nobody waits behind another's.
import type { Database } from '@libs/db';
import { expect, test } from 'vitest';
import type { DeliveryResult } from './delivery.ts';
import { Recorder, type RecorderOptions } from './recorder.ts';
import type { ResultStore } from './result-store.ts';

const resultOf = (id: string) => ({ id, tenantId: 't', endpointId: id, kind: 'delivered' }) as DeliveryResult;

/** `refuse` answers the error with which these results are refused, if any. */
function trial(refuse: (ids: readonly string[]) => unknown, isReachable = () => true) {
  const seen = {
    written: [] as string[],
    delayed: [] as string[],
    settled: [] as string[],
    told: [] as string[],
  };
  const store = {
    async recordDelivered(_db, results) {
      const ids = results.map(({ id }) => id);
      const error = await refuse(ids);
      if (error !== undefined) throw error;
      seen.written.push(...ids);
    },
    async delay(refs) {
      seen.delayed.push(...refs.map(({ id }) => id));
    },
    isReachable: async () => isReachable(),
  } as Partial<ResultStore> as ResultStore;
  const recorder = new Recorder({
    ...({ database: {} as Database, abandoning: {}, hooks: {} } as Pick<
      RecorderOptions,
      'database' | 'abandoning' | 'hooks'
    >),
    store,
    servers: { isAwayFor: async () => false },
    now: () => new Date(),
    disableAfterMs: undefined,
    onSettled: (results) => seen.settled.push(...results.map(({ id }) => id)),
    trouble: {
      failed: () => seen.told.push('failed'),
      lasts: () => seen.told.push('lasts'),
      worked: () => seen.told.push('worked'),
    },
  });
  return { recorder, seen };
}

test('a result that is refused is put off by itself; those beside it are written', async () => {
  const { recorder, seen } = trial((ids) => (ids.includes('bad') ? new Error('no') : undefined));
  for (const id of ['a', 'b', 'bad', 'c']) recorder.add(resultOf(id));
  expect(recorder.size).toBe(4);
  await recorder.finish(5_000);
  await expect.poll(() => seen.delayed).toEqual(['bad']);
  expect(seen.written).toEqual(['a', 'b', 'c']);
  await expect.poll(() => seen.settled.toSorted()).toEqual(['a', 'b', 'bad', 'c']);
  expect(recorder.size).toBe(0);
});

test('a server that refuses everything for now is waited for, and nothing is taken apart', async () => {
  let tries = 0;
  const { recorder, seen } = trial((ids) => {
    tries += 1;
    expect(ids).toHaveLength(2);
    return tries < 3 ? Object.assign(new Error('read-only'), { code: '25006' }) : undefined;
  });
  for (const id of ['a', 'b']) recorder.add(resultOf(id));
  await recorder.finish(5_000);
  expect(seen).toEqual({
    written: ['a', 'b'],
    delayed: [],
    settled: ['a', 'b'],
    told: ['lasts', 'lasts', 'worked'],
  });
});

test('a database that does not answer is waited for, whatever the error says', async () => {
  let tries = 0;
  const { recorder, seen } = trial(
    () => {
      tries += 1;
      return tries < 3 ? new Error('no') : undefined;
    },
    () => false,
  );
  for (const id of ['a', 'b']) recorder.add(resultOf(id));
  await recorder.finish(5_000);
  expect(seen).toEqual({
    written: ['a', 'b'],
    delayed: [],
    settled: ['a', 'b'],
    told: ['lasts', 'lasts', 'worked'],
  });
});

test('at the end it waits so long and no longer; what is left is sent again by whoever comes next', async () => {
  const { recorder, seen } = trial(() => Object.assign(new Error('starting up'), { code: '57P03' }));
  recorder.add(resultOf('a'));
  await recorder.finish(150);
  expect(seen).toMatchObject({ written: [], delayed: [], settled: [] });
});

test('a write that is refused when its end was given up puts nothing off: whoever comes next sends it at once', async () => {
  const { promise: refused, resolve: refuse } = Promise.withResolvers<Error>();
  const { recorder, seen } = trial(() => refused);
  recorder.add(resultOf('a'));
  const finished = recorder.finish(1);
  setTimeout(refuse, 20, new Error('no'));
  await finished;
  await new Promise(setImmediate);
  expect(seen).toEqual({ written: [], delayed: [], settled: [], told: ['failed'] });
});

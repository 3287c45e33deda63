// Which running call a notification cancels, in this process and in others.
import type { Database } from '@libs/db';
import { expect, test } from 'vitest';
import { cancellationKey, createCancellations } from './cancellations.ts';

function rig() {
  const published: string[] = [];
  let hear: (message: string | null) => void = () => {};
  const cancellations = createCancellations({
    database: {} as Database,
    changes: {
      publish: async (_db, _topic, message) => void published.push(message),
      on: (_topic, listener) => {
        hear = listener;
      },
    },
    onError: (error) => {
      throw error;
    },
  });
  return { cancellations, published, hear: (message: string | null) => hear(message) };
}

test('the only call of a key is canceled, here or by word of another process', async () => {
  const { cancellations, published, hear } = rig();
  const [first, second] = [new AbortController(), new AbortController()];
  cancellations.track('a', first);
  cancellations.track('b', second);
  await cancellations.cancel('a');
  expect([first.signal.aborted, second.signal.aborted, published]).toEqual([true, false, []]);
  hear(null);
  expect(second.signal.aborted).toBe(false);
  hear('b');
  expect(second.signal.aborted).toBe(true);
});

test('two calls of one key are both left alone, until one is over', async () => {
  const { cancellations, published } = rig();
  const [first, second] = [new AbortController(), new AbortController()];
  const untrack = cancellations.track('a', first);
  cancellations.track('a', second);
  await cancellations.cancel('a');
  expect([first.signal.aborted, second.signal.aborted]).toEqual([false, false]);
  untrack();
  await cancellations.cancel('a');
  expect([first.signal.aborted, second.signal.aborted, published]).toEqual([false, true, []]);
});

test('a call that is over, or runs elsewhere, is looked for in the other processes', async () => {
  const { cancellations, published } = rig();
  const controller = new AbortController();
  cancellations.track('a', controller)();
  await cancellations.cancel('a');
  expect([controller.signal.aborted, published]).toEqual([false, ['a']]);
});

test('who sent a call is part of its key, and so is the id as it was written', () => {
  const sender = { principal: 'cus_1 tok_1', ip: '192.0.2.1', userAgent: 'x', id: 1 };
  const keys = [
    sender,
    { ...sender, principal: 'cus_1 tok_2' },
    { ...sender, ip: '192.0.2.2' },
    { ...sender, userAgent: undefined },
    { ...sender, id: '1' },
  ].map(cancellationKey);
  expect(new Set(keys).size).toBe(keys.length);
  expect(cancellationKey({ ...sender })).toBe(keys[0]);
});

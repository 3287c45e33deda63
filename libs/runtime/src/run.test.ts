// A start that fails half-way closes what it had opened, and reports its own error, whatever becomes of the closing.
import { expect, test } from 'vitest';
import { closingOnFailure } from './index.ts';

test('newest first; one that fails or hangs keeps none from closing', async () => {
  const closed: string[] = [];
  const failed = closingOnFailure(
    async (closers) => {
      closers.unshift({ name: 'first', close: () => closed.push('first') });
      closers.unshift({ name: 'hangs', close: () => new Promise(() => {}) });
      closers.unshift({ name: 'fails', close: () => Promise.reject(new Error('gone')) });
      closers.unshift({ name: 'last', close: () => closed.push('last') });
      throw new Error('no free connection');
    },
    { closeTimeoutMs: 1 },
  );
  await expect(failed).rejects.toThrow('no free connection');
  expect(closed).toEqual(['last', 'first']);
});

test('a start that succeeds closes nothing', async () => {
  const closed: string[] = [];
  await closingOnFailure(async (closers) => {
    closers.unshift({ name: 'first', close: () => closed.push('first') });
  });
  expect(closed).toEqual([]);
});

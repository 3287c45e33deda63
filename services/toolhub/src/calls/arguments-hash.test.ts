import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { canonicalJson, hashArguments } from './arguments-hash.ts';

const sha256 = (args: Record<string, unknown>) => hash('sha256', canonicalJson(args), 'buffer');

test.each([
  ['short ones', { to: ['a'], text: 'b' }],
  ['a long text, with characters of several bytes where slices end', { text: '😀'.repeat(700_000) }],
  [
    'many that are long together',
    { texts: Array.from({ length: 3 }, () => ({ text: 'x'.repeat(500_000) })) },
  ],
])('%s: the hash is that of the whole', async (_name, args) => {
  expect(await hashArguments(args)).toEqual(sha256(args));
});

test('others have their turn while long arguments are hashed', async () => {
  let turns = 0;
  const count = setInterval(() => {
    turns += 1;
  }, 0);
  await hashArguments({ text: 'x'.repeat(16 * 1024 * 1024) });
  clearInterval(count);
  expect(turns).toBeGreaterThan(3);
});

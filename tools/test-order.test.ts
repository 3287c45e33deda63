import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { LONGEST_FIRST } from './test-order.ts';

test('every file that begins first is there', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  expect(LONGEST_FIRST.filter((name) => !existsSync(join(root, name)))).toEqual([]);
});

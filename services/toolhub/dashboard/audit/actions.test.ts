// Every action that the service writes down has words in the log.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { texts } from '../texts.ts';

const source = fileURLToPath(new URL('../../src/', import.meta.url));
/** Of the operator alone: they stand in no customer's log. */
const OPERATORS = /^(?:admin\.|invoices\.|job\.|plan\.edited$)/;

test('every action of the log has words', () => {
  const found = new Set<string>();
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || /\.test\.ts$|(?:^|\/)test\//.test(file)) continue;
    for (const line of readFileSync(source + file, 'utf8').split('\n')) {
      // What is put together from parts cannot be looked up here.
      expect(line).not.toMatch(/\baction: `/);
      const [, rest] = /\baction: (.*)/.exec(line) ?? [];
      for (const [, action = ''] of (rest ?? '').matchAll(/'([a-z_]+(?:\.[a-z_]+)+)'/g)) found.add(action);
    }
  }
  expect(found.size).toBeGreaterThan(30);
  const actions = [...found].filter((action) => !OPERATORS.test(action));
  expect(actions.filter((action) => !(action in texts.audit.actions))).toEqual([]);
});

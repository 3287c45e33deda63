// Every action that the service writes down has words on the page.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FORCED_OUTCOMES } from '../../src/rails/rail.ts';
import { actions } from './actions.ts';

const source = fileURLToPath(new URL('../../src/', import.meta.url));

/** No longer written down; lines of before are kept for a year. */
const PAST = ['quarantine.listed'];

test('every action of the audit log has words', () => {
  const found = new Set<string>([...PAST, ...FORCED_OUTCOMES.map((outcome) => `sandbox.${outcome}`)]);
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('routes.ts')) continue;
    const text = readFileSync(source + file, 'utf8');
    for (const [, action = ''] of text.matchAll(/audit: \{ action: '([a-z_.]+)'/g)) found.add(action);
  }
  expect([...found].sort()).toEqual(Object.keys(actions).sort());
});

// Keeps the list of rules and the tests together: no rule without a test, no test for a rule that is not there.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { requirements } from '../../../services/payments/test/requirements.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

function testFiles(folder: string): string[] {
  // Beside the services, tests that share a server with others may lie in a file of their own.
  const ending = folder.startsWith('tests/') ? '.ts' : '.test.ts';
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending) && !path.includes('node_modules'))
    .map((path) => join(root, folder, path));
}

/** Ids in the titles of tests: `test('[P-3.1] …'`, also several in one title. */
function citedIds(): Set<string> {
  const files = [
    'tests/contract/payments',
    'tests/browser/payments',
    'tests/browser/guides',
    'tests/faults',
    'tests/guides',
    'tests/reference',
    'services/payments',
  ].flatMap((folder) => {
    try {
      return testFiles(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });
  const cited = new Set<string>();
  for (const file of files) {
    for (const [, title = ''] of readFileSync(file, 'utf8').matchAll(
      /\btest(?:\.each\([\s\S]*?\))?\(\s*['"`]([^\n]*)/g,
    )) {
      for (const [, id = ''] of title.matchAll(/\[(P-\d+\.\d+)\]/g)) cited.add(id);
    }
  }
  return cited;
}

test('every rule is cited by a test, and every cited rule exists', () => {
  const ids = requirements.map((requirement) => requirement.id as string);
  const cited = citedIds();
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !cited.has(id))).toEqual([]);
  expect([...cited].filter((id) => !ids.includes(id))).toEqual([]);
});

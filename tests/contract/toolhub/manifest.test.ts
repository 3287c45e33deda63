// Keeps the list of rules and the tests together: no rule without a test or a reason, no test for a rule that is not there.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { requirements } from '../../../services/toolhub/test/requirements.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDERS = ['tests/contract/toolhub', 'tests/browser/toolhub', 'services/toolhub/src'];

/** Ids in titles: `[TH-3.1]`, also several in one title. */
function citedIds(): Set<string> {
  const cited = new Set<string>();
  for (const folder of FOLDERS) {
    for (const path of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      // Beside the services, tests that share a server with others may lie in a file of their own.
      if (!path.endsWith(folder.startsWith('tests/') ? '.ts' : '.test.ts')) continue;
      const text = readFileSync(join(root, folder, path), 'utf8');
      for (const [, titleIds = ''] of text.matchAll(/['"`]((?:\[TH-\d+(?:\.\d+)?\])+)/g)) {
        for (const [, id = ''] of titleIds.matchAll(/\[(TH-\d+\.\d+)\]/g)) cited.add(id);
      }
    }
  }
  return cited;
}

test('every rule is cited by a test or says why not, and every cited rule exists', () => {
  const ids = requirements.map((requirement) => requirement.id as string);
  const cited = citedIds();
  const deferred = requirements.filter((requirement) => requirement.deferred !== undefined);
  expect(new Set(ids).size).toBe(ids.length);
  expect(requirements.filter(({ id, deferred }) => !cited.has(id) && !deferred)).toEqual([]);
  expect([...cited].filter((id) => !ids.includes(id))).toEqual([]);
  // What has a test now is no longer deferred.
  expect(deferred.filter(({ id }) => cited.has(id))).toEqual([]);
});

// How a run of the tests ended: a failed test must not hide that something else broke beside it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readOutcome, reportersInto } from './test-outcome.mjs';

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const passing = `test('passes', () => {});`;
const failing = `test('fails', () => { throw new Error('on purpose'); });`;
/** Passes, and leaves behind what nobody waits for. */
const leaking = `test('leaks', () => { Promise.reject(new Error('nobody waits for this')); });`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-outcome-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function outcomeOf(files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.js`), text);
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^VITEST|^NODE_ENV$/.test(name)),
  );
  const args = [vitest, 'run', '--root', folder, '--globals', '--maxWorkers=1', ...reportersInto(folder)];
  const { status } = spawnSync(process.execPath, args, { cwd: folder, env });
  const { failedFiles, broken } = readOutcome(status, folder);
  return { failed: failedFiles.map((name) => name.replace(/^.*\/|\.test\.js$/g, '')), broken };
}

test.each([
  ['all passes', { one: passing, two: passing }, { failed: [], broken: false }],
  ['a test fails', { one: failing, two: passing }, { failed: ['one'], broken: false }],
  ['a file breaks before its first test', { one: 'nothing.here();' }, { failed: ['one'], broken: false }],
  ['something is unhandled', { one: leaking }, { failed: [], broken: true }],
  [
    'something is unhandled beside a test that fails',
    { one: failing, two: leaking },
    { failed: ['one'], broken: true },
  ],
])('%s', (_title, files, expected) => {
  expect(outcomeOf(files as unknown as Record<string, string>)).toEqual(expected);
});

test('what was skipped is told file by file, for the reader to know what this machine did not prove', () => {
  outcomeOf({
    one: `${passing} describe.runIf(false)('without it', () => { test('a', () => {}); test('b', () => {}); });`,
    two: `test.skipIf(true)('c', () => {});`,
    three: passing,
  });
  const { files } = readOutcome(0, folder);
  const skipped = [...files].map(([name, file]) => [name.replace(/^.*\/|\.test\.js$/g, ''), file.skipped]);
  expect(Object.fromEntries(skipped)).toEqual({
    one: ['without it a', 'without it b'],
    two: ['c'],
    three: [],
  });
});

test.each([[null], [1], [0]])('a run that ended with %s and left no report is broken', (status) => {
  expect(readOutcome(status, folder)).toMatchObject({ failedFiles: [], broken: true });
});

test('a run that was killed is broken, whatever it reported before', () => {
  outcomeOf({ one: failing });
  expect(readOutcome(null, folder)).toMatchObject({ broken: true });
});

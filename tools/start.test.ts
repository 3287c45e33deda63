import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('./start.mjs', import.meta.url));

function type(script: string | undefined, words: string[]) {
  const { npm_lifecycle_event: _script, ...env } = process.env;
  return spawnSync(process.execPath, [program, ...words], {
    env: { ...env, ...(script && { npm_lifecycle_event: script }) },
    encoding: 'utf8',
  });
}

test.each([
  ['payments', ['payments', 'wrong'], 'npm run payments -- spread'],
  ['toolhub', ['toolhub', 'wrong'], 'npm run toolhub -- spread'],
  ['start', ['wrong'], 'npm run payments  one product alone'],
  [undefined, ['wrong'], 'node tools/start.mjs [payments | toolhub]'],
])('a wrong word after %s is answered with what can be typed', (script, words, usage) => {
  const { status, stdout, stderr } = type(script, words);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toContain('There is no “wrong”.');
  expect(stderr).toContain(usage);
});

test.each(['--help', '-h'])('%s says what can be typed, and starts nothing', (word) => {
  const { status, stdout, stderr } = type('payments', ['payments', word]);
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Usage:\n {2}npm run payments {2}/);
});

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const here = fileURLToPath(new URL('.', import.meta.url));

function run(program: string, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(here, program), ...words], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { status, said: stdout + stderr };
}

test('an upgrade from a commit that is not there is no success: nothing was tried', () => {
  const { status, said } = run('operating.mjs', 'upgrade', 'no-such-commit');
  expect(status).toBe(1);
  // A shallow clone has no earlier version at all.
  expect(said).toMatch(/^(There is no commit “no-such-commit” here|The earlier version comes from .*)\.\n$/);
});

test.each([
  ['operating.mjs', ['upgrade', '--help'], 0],
  ['operating.mjs', ['restore', '-h'], 0],
  ['operating.mjs', ['restore', 'payments'], 1],
  ['operating.mjs', ['upgrade', '--from', 'HEAD'], 1],
  ['operating.mjs', [], 1],
  ['rotate.mjs', ['--help'], 0],
] as const)('%s %j tells in one line how it is used, and begins nothing', (program, words, status) => {
  const ended = run(program, ...words);
  expect(ended).toEqual({ status, said: expect.stringMatching(/^Usage: npm run [^\n]+\n$/) });
});

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const here = fileURLToPath(new URL('.', import.meta.url));

function run(program: string, words: readonly string[], env = process.env) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(here, program), ...words], {
    encoding: 'utf8',
    timeout: 20_000,
    env,
  });
  return { status, said: stdout + stderr };
}

test('an upgrade from a commit that is not there is no success: nothing was tried', () => {
  const { status, said } = run('operating.mjs', ['upgrade', 'no-such-commit']);
  expect(status).toBe(1);
  // A shallow clone has no earlier version at all.
  expect(said).toMatch(/^(There is no commit “no-such-commit” here|The earlier version comes from .*)\.\n$/);
});

test('a seed that npm keeps for itself is no run with another one', () => {
  const { status, said } = run('faults.mjs', [], { ...process.env, npm_config_seed: '1' });
  expect([status, said]).toEqual([1, 'Usage: npm run faults [-- --seed=1]\n']);
});

test('a benchmark that is not there is no success', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(here, '..', 'bench', 'run.ts'), 'no-such-one'],
    { encoding: 'utf8', timeout: 60_000 },
  );
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/There is no benchmark no-such-one: there are .+\.\n$/);
});

test.each([
  ['operating.mjs', ['upgrade', '--help'], 0],
  ['operating.mjs', ['restore', '-h'], 0],
  ['operating.mjs', ['restore', 'payments'], 1],
  ['operating.mjs', ['upgrade', '--from', 'HEAD'], 1],
  ['operating.mjs', [], 1],
  ['rotate.mjs', ['--help'], 0],
  ['faults.mjs', ['--help'], 0],
  ['faults.mjs', ['--sed=1'], 1],
  ['faults.mjs', ['--seed=1', 'again'], 1],
] as const)('%s %j tells in one line how it is used, and begins nothing', (program, words, status) => {
  const ended = run(program, words);
  expect(ended).toEqual({ status, said: expect.stringMatching(/^Usage: npm run [^\n]+\n$/) });
});

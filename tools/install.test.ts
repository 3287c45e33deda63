// Installing in a new clone, by an npm that says what it was asked for.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const installer = fileURLToPath(new URL('./install.mjs', import.meta.url));
/** Goes on when the test lets it, and counts: two of it at once would take each other's files away. */
const npm = `#!/bin/sh
set -e
echo "$2" >> asked
[ -e kill ] && rm kill && kill -9 $$
until [ -e go ]; do sleep 0.05; done
mkdir -p node_modules/.bin
touch node_modules/.bin/node
`;

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'install-'));
  mkdirSync(join(clone, 'tools'));
  cpSync(installer, join(clone, 'tools', 'install.mjs'));
  writeFileSync(join(clone, 'package-lock.json'), '{ "packages": {} }');
  mkdirSync(join(clone, 'programs'));
  writeFileSync(join(clone, 'programs', 'npm'), npm, { mode: 0o755 });
});
afterEach(() => rmSync(clone, { recursive: true }));

function install(): ChildProcess {
  const text = "import('./tools/install.mjs').then((it) => it.ensureInstalled({ toRun: true }))";
  const env = { ...process.env, PATH: `${join(clone, 'programs')}:${process.env.PATH}` };
  return spawn(process.execPath, ['-e', text], { cwd: clone, env, stdio: ['ignore', 'pipe', 'inherit'] });
}

const firstWords = (child: ChildProcess) =>
  new Promise<string>((resolve) => child.stdout?.once('data', (words: Buffer) => resolve(String(words))));
const exitCode = (child: ChildProcess) => new Promise((resolve) => child.once('exit', resolve));
const letNpmEnd = () => writeFileSync(join(clone, 'go'), '');
const asked = () => readFileSync(join(clone, 'asked'), 'utf8').trim().split('\n');

test('of two commands in a new clone the second waits for what the first installs', async () => {
  const first = install();
  expect(await firstWords(first)).toMatch(/^Installing dependencies/);
  const second = install();
  const codes = Promise.all([first, second].map(exitCode));
  const words = await firstWords(second);
  letNpmEnd();
  expect(await codes).toEqual([0, 0]);
  expect(words).toMatch(/^Another command is installing: waiting for it/);
  expect(asked()).toEqual(['--omit=dev']);
  expect(existsSync(join(clone, '.installing'))).toBe(false);
});

test.each(['npm', 'command'])(
  'what a killed %s left half installed is removed before the next one installs',
  async (killed) => {
    const half = join(clone, 'node_modules', 'half');
    mkdirSync(half, { recursive: true });
    if (killed === 'npm') {
      writeFileSync(join(clone, 'kill'), '');
      expect(await exitCode(install())).toBe(1);
    } else {
      const { pid } = spawnSync(process.execPath, ['-e', '']);
      writeFileSync(join(clone, '.installing'), String(pid));
    }
    letNpmEnd();
    expect(await exitCode(install())).toBe(0);
    expect(existsSync(half)).toBe(false);
    expect(asked().at(-1)).toBe('--omit=dev');
    expect(existsSync(join(clone, '.installing'))).toBe(false);
  },
);

test('an npm that refuses leaves what is there', async () => {
  const there = join(clone, 'node_modules', 'there');
  mkdirSync(there, { recursive: true });
  writeFileSync(join(clone, 'programs', 'npm'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  for (const _ of [1, 2]) expect(await exitCode(install())).toBe(1);
  expect(existsSync(there)).toBe(true);
});

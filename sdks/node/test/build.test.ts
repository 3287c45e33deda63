// What `npm pack` does in a clone in which only what the services need is installed.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const here = join('sdks', 'node');

/** An npm that installs from the packages that this repository has, and says what it was asked for. */
function writeNpm(folder: string): void {
  const found = ['typescript', '@typescript', '@types', '.bin'];
  const lines = found.map((name) => `ln -s '${join(root, 'node_modules', name)}' node_modules/${name}`);
  const text = ['#!/bin/sh', 'set -e', 'mkdir node_modules', ...lines, 'echo "$@" > asked'].join('\n');
  mkdirSync(folder);
  writeFileSync(join(folder, 'npm'), text, { mode: 0o755 });
}

function cloneOf(clone: string, files: readonly string[]): void {
  for (const file of files)
    cpSync(join(root, file), join(clone, file), { recursive: true, filter: isSource });
}

const isSource = (path: string) => !/\/(node_modules|dist|test)$|\.tgz$/.test(path);

function build(clone: string): void {
  const env = { ...process.env, PATH: `${join(clone, 'programs')}:${process.env.PATH}` };
  execFileSync(process.execPath, ['build.mjs'], { cwd: join(clone, here), env, stdio: 'pipe' });
}

test('the package is built in a new clone: what building needs is installed before', () => {
  const clone = mkdtempSync(join(tmpdir(), 'sdk-clone-'));
  try {
    cloneOf(clone, [here, 'tools/install.mjs']);
    writeFileSync(join(clone, 'package-lock.json'), '{ "packages": {} }');
    writeNpm(join(clone, 'programs'));
    build(clone);
    expect(readFileSync(join(clone, 'asked'), 'utf8')).toMatch(/^install --include=dev --no-dry-run /);
    for (const made of ['esm/index.js', 'esm/index.d.ts', 'esm/cli/main.js', 'cjs/index.js'])
      expect(existsSync(join(clone, here, 'dist', made)), made).toBe(true);
  } finally {
    rmSync(clone, { recursive: true });
  }
});

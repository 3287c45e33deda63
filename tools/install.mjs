// Plain JavaScript that Node 20 can run: it is what runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
/** Node 24, which the npm package `node` brings. */
export const node = join(root, 'node_modules', '.bin', 'node');

const stamp = join(root, 'node_modules', '.installed');
const NODE_MAJOR_MIN = 20;

function wanted() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex');
}

/** A workspace that needs another version than the root has a folder of its own, which the root's stamp says nothing about. */
function workspacesAreInstalled() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, { optional }]) => /^(libs|services|sdks)\/.*\/node_modules\//.test(path) && !optional)
    .every(([path]) => existsSync(join(root, path)));
}

/** Installs the dependencies when they are missing or belong to another lock file; does nothing otherwise. */
export function ensureInstalled() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < NODE_MAJOR_MIN)
    fail(`Node ${NODE_MAJOR_MIN} or newer is needed to begin; this is ${process.version}.`);
  const current = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (current === wanted() && existsSync(node) && workspacesAreInstalled()) return;
  // Not `npm ci`: it refuses a lock file where an optional package for another platform is not to be had.
  console.log('Installing dependencies (once per lock file) …');
  const { status } = spawnSync(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  if (status !== 0) fail('npm install did not succeed: see its message above.');
  if (!existsSync(node))
    fail('Node 24 was not installed: the npm package "node" has no build for this machine.');
  writeFileSync(stamp, wanted());
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}

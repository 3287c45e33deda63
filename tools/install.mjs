// Plain JavaScript that Node 20 can run: it is what runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
/** Node 24, which the npm package `node` brings. */
export const node = join(root, 'node_modules', '.bin', 'node');

const stamp = join(root, 'node_modules', '.installed');
/** Holds the number of the process that installs. Not within `node_modules`, whose absence says that the clone is new. */
const turn = join(root, '.installing');
const TURN_PAUSE_MS = 200;
const NODE_MAJOR_MIN = 20;

function wanted() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex');
}

/** A workspace that needs another version than the root has a folder of its own, which the root's stamp says nothing about. */
function workspacesAreInstalled(toRun) {
  return Object.entries(readLock())
    .filter(([path, { optional, dev }]) => isWorkspaces(path) && !optional && !(toRun && dev))
    .every(([path]) => existsSync(join(root, path)));
}

function readLock() {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
}

function isWorkspaces(path) {
  return /^(libs|services|sdks)\/.*\/node_modules\//.test(path);
}

/** What is installed: all, or what the products need to run, which a newcomer has a third sooner. */
function isInstalled(toRun) {
  const current = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  const isEnough = current === wanted() || (toRun && current === `${wanted()} to run`);
  return isEnough && existsSync(node) && workspacesAreInstalled(toRun);
}

/**
 * Installs the dependencies when they are missing or belong to another lock file; does nothing otherwise. In a new clone,
 * who only runs the products does without what tests and checks need; only what a killed installation left is ever removed.
 */
export function ensureInstalled({ toRun = false } = {}) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < NODE_MAJOR_MIN)
    fail(`Node ${NODE_MAJOR_MIN} or newer is needed to begin; this is ${process.version}.`);
  if (isInstalled(toRun)) return;
  takeTurn();
  // Whoever had the turn before may have installed what is wanted here.
  if (!isInstalled(toRun)) install(toRun);
  leaveTurn();
}

/** Two installations at once take each other's files away: of commands in two terminals, the second waits. */
function takeTurn() {
  let isAnnounced = false;
  while (!isTurnOurs()) {
    const holder = readTurn();
    if (holder !== undefined && !isAlive(holder)) clearAway();
    else {
      if (!isAnnounced)
        console.log(`Another command is installing: waiting for it (if none is, delete ${turn}) …`);
      isAnnounced = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TURN_PAUSE_MS);
    }
  }
  process.once('exit', leaveTurn);
}

function isTurnOurs() {
  try {
    writeFileSync(turn, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    return fail(`The dependencies cannot be installed: ${turn} cannot be written (${error.code}).`);
  }
}

/** Who had the turn was killed. A package of which npm had written a half looks like a whole one to the next npm. */
function clearAway() {
  console.log('The installation before this one was broken off: removing what it left …');
  const folders = Object.keys(readLock()).filter((path) => isWorkspaces(path));
  for (const path of ['node_modules', ...folders]) rmSync(join(root, path), { recursive: true, force: true });
  rmSync(turn, { force: true });
}

function leaveTurn() {
  if (readTurn() === process.pid) rmSync(turn, { force: true });
}

/** The process whose turn it is; undefined where it has just ended, or has not yet written its number. */
function readTurn() {
  try {
    return Number(readFileSync(turn, 'utf8')) || undefined;
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be asked, and is there.
    return error.code === 'EPERM';
  }
}

function install(toRun) {
  const omitsTools = toRun && !existsSync(join(root, 'node_modules'));
  // Not `npm ci`: it refuses a lock file where an optional package for another platform is not to be had.
  console.log('Installing dependencies (once per lock file) …');
  const { status, signal } = spawnSync(
    'npm',
    [
      'install',
      omitsTools ? '--omit=dev' : '--include=dev',
      // What was said to an npm that runs this (`npm pack --dry-run`) reaches this one, too.
      '--no-dry-run',
      '--no-save',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  // The next command is to see that this one was broken off.
  if (signal !== null) process.off('exit', leaveTurn);
  if (status !== 0) fail('npm install did not succeed: see its message above.');
  if (!existsSync(node))
    fail('Node 24 was not installed: the npm package "node" has no build for this machine.');
  writeFileSync(stamp, omitsTools ? `${wanted()} to run` : wanted());
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}

import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { programOf } from './program.ts';

/** What `login` and `listen` keep. Only the owner may read it. */
export interface Kept {
  api_key?: string;
  base_url?: string;
  /** Signs what `listen` forwards. */
  listen_secret?: string;
  /** The last event that each listener has passed on. */
  listen_positions?: Record<string, string>;
}

export class SettingsFileError extends Error {
  override readonly name = 'SettingsFileError';
}

const POSITIONS_MAX = 100;
const LOCK_MS_MAX = 5_000;
const LOCK_PAUSE_MS = 5;

type Environment = Readonly<Record<string, string | undefined>>;

export function settingsPath(env: Environment): string {
  if (env.PAYMENTS_CONFIG) return env.PAYMENTS_CONFIG;
  const base = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config');
  return join(base, 'payments', 'config.json');
}

export function readKept(env: Environment): Kept {
  const path = settingsPath(env);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    throw new SettingsFileError(`${path} cannot be read: ${codeOf(error)}`);
  }
  const kept = parseKept(text);
  if (kept !== undefined) return kept;
  throw new SettingsFileError(
    `${path} is not JSON of this program: mend it, or delete it and run \`${programOf(env)} login\` again`,
  );
}

function parseKept(text: string): Kept | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

export function writeKept(env: Environment, changed: Kept): void {
  changeKept(env, (kept) => ({ ...kept, ...changed }));
}

/**
 * Commands run beside each other, as a listener and who asks for its secret: each changes what the one before has left. Written
 * beside and renamed, so that a crash leaves the old one; never open to others, not even for a moment.
 */
function changeKept(env: Environment, change: (kept: Kept) => Kept): Kept {
  const path = settingsPath(env);
  const lock = `${path}.lock`;
  let isOurs = false;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    takeLock(lock);
    isOurs = true;
    const kept = change(readKept(env));
    const beside = `${path}.${randomBytes(4).toString('hex')}`;
    writeFileSync(beside, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(beside, path);
    return kept;
  } catch (error) {
    if (error instanceof SettingsFileError) throw error;
    throw new SettingsFileError(`${path} cannot be written: ${codeOf(error)}`);
  } finally {
    if (isOurs) leaveLock(lock);
  }
}

function takeLock(lock: string): void {
  while (true) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const madeMs = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    // Whoever made it was killed: it is held for the time of one write.
    if (Math.abs(Date.now() - madeMs) > LOCK_MS_MAX) leaveLock(lock);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_PAUSE_MS);
  }
}

function leaveLock(lock: string): void {
  try {
    rmdirSync(lock);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** A line for the user where others may read the key. */
export function warningAboutFile(env: Environment): string | undefined {
  const path = settingsPath(env);
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if (process.platform === 'win32' || (mode & 0o077) === 0) return undefined;
  return `${path} can be read by others: chmod 600 ${path}`;
}

/** The secret of this machine's listeners, made at the first use. */
export function listenSecret(env: Environment): string {
  const known = readKept(env).listen_secret;
  if (known !== undefined) return known;
  const made = `whsec_${randomBytes(32).toString('base64')}`;
  const kept = changeKept(env, (before) => ({ ...before, listen_secret: before.listen_secret ?? made }));
  return kept.listen_secret as string;
}

/** A listener is its key, its server and where it forwards to; the key itself is not written down a second time. */
export function listenerName(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

export function readPosition(env: Environment, listener: string): string | undefined {
  return readKept(env).listen_positions?.[listener];
}

export function writePosition(env: Environment, listener: string, eventId: string): void {
  changeKept(env, (kept) => {
    const { [listener]: _old, ...others } = kept.listen_positions ?? {};
    const newest = Object.entries(others).slice(-(POSITIONS_MAX - 1));
    return { ...kept, listen_positions: { ...Object.fromEntries(newest), [listener]: eventId } };
  });
}

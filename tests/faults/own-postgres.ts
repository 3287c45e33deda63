import { execFile } from 'node:child_process';
import { chmod, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type EmbeddedServer, startEmbedded } from '@libs/db';

/** A database server that the tests may hurt: nobody else uses it. */
export interface OwnPostgres {
  url: string;
  /** Ends at once, without tidying up; what was committed is found again when it comes back. */
  crash(): Promise<void>;
  comeBack(): Promise<void>;
  /** Null where this machine lets nobody make a small disk. */
  disk: { fill(): Promise<void>; empty(): Promise<void> } | null;
  stop(): Promise<void>;
}

/** Commits wait for the log as they do in earnest; a lost process, other than a lost machine, loses no written file. */
const SETTINGS = {
  ...{ fsync: 'off', full_page_writes: 'off', shared_buffers: '32MB' },
  ...{ max_wal_size: '64MB', min_wal_size: '32MB' },
};
const DISK_MEGABYTES = 500;
const CHUNK = Buffer.alloc(1024 * 1024);
const POLL_MS = 50;

const run = promisify(execFile);

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'own-postgres-'));
  const isSmallDisk = await mountSmallDisk(dataDir);
  await chmod(dataDir, 0o755);
  const servers: EmbeddedServer[] = [];
  const start = async () => {
    const user = `faults-${servers.length}`;
    servers.push(await startEmbedded({ dataDir, user, settings: SETTINGS }));
  };
  await start();
  const filler = join(dataDir, 'filler');
  return {
    url: servers[0]?.url ?? '',
    async crash() {
      const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
      const pid = Number((await readFile(pidFile, 'utf8')).split('\n')[0]);
      process.kill(pid, 'SIGQUIT');
      while (isRunning(pid)) await sleep(POLL_MS);
    },
    comeBack: start,
    disk: isSmallDisk ? { fill: () => fill(filler), empty: () => rm(filler, { force: true }) } : null,
    async stop() {
      for (const server of servers) await server.stop();
      if (isSmallDisk) await run('umount', [dataDir]);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function mountSmallDisk(folder: string): Promise<boolean> {
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MEGABYTES}m`, 'tmpfs', folder]);
    return true;
  } catch {
    return false; // Not everybody may mount.
  }
}

/** Until nothing more fits. */
async function fill(path: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (let megabyte = 0; megabyte < DISK_MEGABYTES; megabyte += 1) await file.write(CHUNK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    await file.close();
  }
}

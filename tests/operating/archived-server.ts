// A server that archives as the guides say, is destroyed, and comes back from its base backup and its archive.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, type EmbeddedServer, openDatabase, startEmbedded } from '@libs/db';
import { expect } from 'vitest';

const ARCHIVED_WITHIN_MS = 20_000;

export interface ArchivedServer {
  url: string;
  database: Database;
  /** For what the service itself keeps beside its database. */
  dataDir: string;
  /** A base backup of a server that goes on working. */
  takeBaseBackup(): Promise<void>;
  /** The end: what is in the archive is all that is left. */
  destroy(): Promise<void>;
  /** Once more after a try that was promoted, from the same base backup: by the timeline that holds the target. */
  restoreTo(target: Date, timeline?: string): Promise<{ url: string; database: Database }>;
  /** All WAL of this server up to now is in the archive. */
  archiveEverything(database: Database): Promise<void>;
  /** Whatever failed, nothing runs on and nothing stays behind. */
  remove(): Promise<void>;
}

/** `guide` prints the settings, which are taken from there but for the place of the archive. */
export async function startArchivedServer(guide: string): Promise<ArchivedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'restore-'));
  const inFolder = (name: string) => join(folder, name);
  // The server may run as somebody else, who archives into this folder.
  await chmod(folder, 0o755);
  await mkdir(inFolder('archive'));
  await chmod(inFolder('archive'), 0o777);
  const running = new Map<EmbeddedServer, Database>();

  async function start(options: Parameters<typeof startEmbedded>[0]) {
    const server = await startEmbedded(options);
    const database = await openDatabase({ url: server.url, schema: 'public', connectionsMax: 2 });
    running.set(server, database);
    return { server, database };
  }

  async function stop(server: EmbeddedServer): Promise<void> {
    await running.get(server)?.close();
    running.delete(server);
    await server.stop();
  }

  function printedValue(name: string): string {
    const text = readFileSync(new URL(`../../${guide}`, import.meta.url), 'utf8');
    const [, command = ''] = new RegExp(`\\| \`${name}\` +\\| \`([^\`]+)\``).exec(text) ?? [];
    return command.replaceAll('/archive/', `${inFolder('archive')}/`);
  }

  /** The server changes these files, so they belong to whom the others do. */
  async function writeAsServer(cluster: string, name: string, text: string): Promise<void> {
    const path = inFolder(`${cluster}/${name}`);
    await writeFile(path, text);
    const { uid, gid } = await stat(inFolder(`${cluster}/PG_VERSION`));
    await chown(path, uid, gid);
  }

  async function archiveEverything(database: Database): Promise<void> {
    const { rows } = await database.query<{ file: string }>(
      'select pg_walfile_name(pg_switch_wal()) as file',
    );
    const deadlineMs = Date.now() + ARCHIVED_WITHIN_MS;
    while (!(await readdir(inFolder('archive'))).includes(rows[0]?.file ?? '')) {
      if (Date.now() > deadlineMs) throw new Error(`${rows[0]?.file} was not archived in time`);
      await sleep(50);
    }
  }

  const archiving = { archive_mode: 'on', archive_command: printedValue('archive_command') };
  const live = await start({ dataDir: inFolder('live'), user: 'live', settings: archiving });
  let tries = 0;

  return {
    url: live.server.url,
    database: live.database,
    dataDir: inFolder('data'),
    // As `pg_basebackup` takes it: the files between two calls, and a label.
    async takeBaseBackup() {
      await live.database.session(async (session) => {
        await session.query(`select pg_backup_start('restore test', true)`);
        // Files that go away while they are copied are in the WAL; then cp ends with 1 and has copied the others.
        const { status } = spawnSync('cp', ['-a', inFolder('live/postgres'), inFolder('base')]);
        expect(status).toBeLessThanOrEqual(1);
        const { rows } = await session.query<{ label: string }>(
          'select labelfile as label from pg_backup_stop(true)',
        );
        await writeAsServer('base', 'backup_label', rows[0]?.label ?? '');
      });
      for (const name of ['postmaster.pid', 'postmaster.opts'])
        await rm(inFolder(`base/${name}`), { force: true });
      // What the server itself still had is lost with it: everything comes from the archive.
      for (const name of await readdir(inFolder('base/pg_wal')))
        if (name !== 'archive_status') await rm(inFolder(`base/pg_wal/${name}`), { recursive: true });
    },
    async destroy() {
      await archiveEverything(live.database);
      await stop(live.server);
      await rm(inFolder('live/postgres'), { recursive: true });
    },
    async restoreTo(target, timeline = printedValue('recovery_target_timeline')) {
      tries += 1;
      const name = `restored-${tries}`;
      await mkdir(inFolder(name));
      spawnSync('cp', ['-a', inFolder('base'), inFolder(`${name}/postgres`)]);
      await copyFile(inFolder('live/postgres.json'), inFolder(`${name}/postgres.json`));
      await writeAsServer(`${name}/postgres`, 'recovery.signal', '');
      const { server, database } = await start({
        dataDir: inFolder(name),
        user: name,
        settings: {
          ...archiving,
          restore_command: printedValue('restore_command'),
          recovery_target_time: target.toISOString().replace('T', ' ').replace('Z', '+00'),
          recovery_target_timeline: timeline,
          recovery_target_action: printedValue('recovery_target_action'),
        },
      });
      await expect
        .poll(async () => (await database.query('select pg_is_in_recovery() as recovering')).rows)
        .toEqual([{ recovering: false }]);
      return { url: server.url, database };
    },
    archiveEverything,
    async remove() {
      for (const server of [...running.keys()]) await stop(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// The database is destroyed and restored to a second before: the books agree, and nothing is missing that was answered
// before that second. `npm run restore` does it with more load.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase, startEmbedded } from '@libs/db';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoggedService, startLogged } from '../logs/process.ts';
import { callPayments, fateOf, startLoad } from './load.ts';

const LOAD_MS = Number(process.env.RESTORE_LOAD_MS ?? 1_500);
const CLIENTS = 4;
const PAUSE_MS = process.env.RESTORE_LOAD_MS === undefined ? 25 : 0;
const ENCRYPTION_KEY = Buffer.alloc(32, 5).toString('base64');
const ARCHIVED_WITHIN_MS = 20_000;

let folder: string;
const inFolder = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'restore-'));
  // The server may run as somebody else, who archives into this folder.
  await chmod(folder, 0o755);
  await mkdir(inFolder('archive'));
  await chmod(inFolder('archive'), 0o777);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function startPayments(databaseUrl: string): Promise<LoggedService> {
  return startLogged('payments', {
    PAYMENTS_DATABASE_URL: databaseUrl,
    PAYMENTS_ENCRYPTION_KEY: ENCRYPTION_KEY,
    PAYMENTS_RATE_TEST: '0',
    PAYMENTS_SANDBOX_RTP_MS: '10',
    PAYMENTS_LOG_LEVEL: 'error',
    NODE_ENV: 'development',
    DATA_DIR: inFolder('data'),
  });
}

/** As the guide on backups prints it, but for the place of the archive. */
function printedCommand(name: string): string {
  const guide = readFileSync(new URL('../../services/payments/docs/backups.md', import.meta.url), 'utf8');
  const [, command = ''] = new RegExp(`\\| \`${name}\` +\\| \`([^\`]+)\``).exec(guide) ?? [];
  return command.replaceAll('/archive/', `${inFolder('archive')}/`);
}

const openServer = (url: string) => openDatabase({ url, schema: 'public', connectionsMax: 2 });

/** The server changes these files, so they belong to whom the others do. */
async function writeAsServer(cluster: string, name: string, text: string): Promise<void> {
  const path = inFolder(`${cluster}/${name}`);
  await writeFile(path, text);
  const { uid, gid } = await stat(inFolder(`${cluster}/PG_VERSION`));
  await chown(path, uid, gid);
}

/** A base backup of a server that goes on working, as `pg_basebackup` takes it: the files between two calls, and a label. */
async function takeBaseBackup(database: Database): Promise<void> {
  await database.session(async (session) => {
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
}

/** All WAL up to now is in the archive. */
async function archiveEverything(database: Database): Promise<void> {
  const { rows } = await database.query<{ file: string }>('select pg_walfile_name(pg_switch_wal()) as file');
  const deadlineMs = Date.now() + ARCHIVED_WITHIN_MS;
  while (!(await readdir(inFolder('archive'))).includes(rows[0]?.file ?? '')) {
    if (Date.now() > deadlineMs) throw new Error(`${rows[0]?.file} was not archived in time`);
    await sleep(50);
  }
}

async function restoreTo(target: Date): Promise<{ url: string; stop(): Promise<void> }> {
  await mkdir(inFolder('restored'));
  spawnSync('cp', ['-a', inFolder('base'), inFolder('restored/postgres')]);
  await copyFile(inFolder('live/postgres.json'), inFolder('restored/postgres.json'));
  await writeAsServer('restored/postgres', 'recovery.signal', '');
  const server = await startEmbedded({
    dataDir: inFolder('restored'),
    user: 'restored',
    settings: {
      restore_command: printedCommand('restore_command'),
      recovery_target_time: target.toISOString().replace('T', ' ').replace('Z', '+00'),
      recovery_target_action: 'promote',
    },
  });
  const database = await openServer(server.url);
  await expect
    .poll(async () => (await database.query('select pg_is_in_recovery() as recovering')).rows)
    .toEqual([{ recovering: false }]);
  await database.close();
  return server;
}

test('destroyed, and restored to a second before', { timeout: 180_000 }, async () => {
  const live = await startEmbedded({
    dataDir: inFolder('live'),
    user: 'live',
    settings: {
      archive_mode: 'on',
      archive_command: printedCommand('archive_command'),
    },
  });
  const database = await openServer(live.url);
  const payments = await startPayments(live.url);
  const load = startLoad({ servers: () => [payments.url], clients: CLIENTS, pauseMs: PAUSE_MS });
  await sleep(LOAD_MS / 2);
  await takeBaseBackup(database);
  await sleep(LOAD_MS / 2);
  const target = new Date();
  await sleep(1_000);
  await load.stop();
  await archiveEverything(database);
  // The end: processes and disk are gone.
  await payments.kill();
  await database.close();
  await live.stop();
  await rm(inFolder('live/postgres'), { recursive: true });

  const before = load.promised.filter(({ answeredAtMs }) => answeredAtMs < target.getTime());
  const after = load.promised.filter(({ answeredAtMs }) => answeredAtMs > target.getTime() + 200);
  expect(load.failures).toEqual([]);
  expect(before.length).toBeGreaterThan(10);
  expect(after.length).toBeGreaterThan(0);

  const restored = await restoreTo(target);
  const again = await startPayments(restored.url);
  expect(await callPayments(again.url, 'GET', '/v1/ledger/check')).toMatchObject({
    status: 200,
    body: { ok: true },
  });
  const books = await openServer(restored.url);
  expect((await fateOf(books, before)).present).toBe(before.length);
  // It really went back: what came later is not there.
  expect((await fateOf(books, after)).present).toBe(0);
  // What was under way goes on.
  await expect
    .poll(async () => (await fateOf(books, before)).completed, { timeout: 60_000, interval: 250 })
    .toBe(before.length);
  await books.close();
  expect(await callPayments(again.url, 'GET', '/v1/ledger/check')).toMatchObject({ body: { ok: true } });
  await again.stop();
  await restored.stop();
  console.log(
    `restore: ${before.length} payments answered before the target are there, ${after.length} of the second after it are not, the books agree`,
  );
});

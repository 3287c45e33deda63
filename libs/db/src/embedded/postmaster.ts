import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DataFolderError } from './data-folder-error.ts';
import { isAlive } from './processes.ts';
import { openPassage, serverIdentity } from './unprivileged.ts';

/** What the next process needs in order to join or restart the server. */
export interface ServerRecord {
  port: number;
  password: string;
}

const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 60_000;
const REPLY_TIMEOUT_MS = 2_000;
const POLL_MS = 20;
const LOG_LINES_IN_ERROR = 3;

export function urlOf({ port, password }: ServerRecord): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

/** Which process runs on the cluster, or did, and at which port. */
async function readPostmaster(cluster: string): Promise<{ pid: number; port: number } | undefined> {
  try {
    const [pid, , , port] = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n').map(Number);
    return pid ? { pid, port: port || 0 } : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The server that runs on the cluster, as soon as it answers: it may be slow, recover from a crash or have no connection to
 * spare, and another cannot be started beside it. Numbers of processes and ports are used again: who is taken for it and
 * does not answer in time leaves it to Postgres to say what it finds.
 */
export async function findRunning(cluster: string, record: ServerRecord): Promise<ServerRecord | undefined> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const postmaster = await readPostmaster(cluster);
    if (postmaster === undefined) return undefined;
    const running = { ...record, port: postmaster.port || record.port };
    const reply = await ask(running);
    if (reply === 'answers') return running;
    if (reply === 'nobody there' || !isAlive({ pid: postmaster.pid, startedAt: null })) return undefined;
    await sleep(POLL_MS);
  }
  return undefined;
}

export async function launch(
  postgres: string,
  paths: { cluster: string; log: string },
  { record, settings }: { record: ServerRecord; settings: Readonly<Record<string, string>> },
): Promise<void> {
  const passage = await openPassage([paths.cluster]);
  const args = ['-D', `${passage.paths[0]}`, '-c', `port=${record.port}`];
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  const log = await open(paths.log, 'a');
  const before = (await log.stat()).size;
  // A session of its own: Ctrl-C in the terminal reaches the services, which stop the server when they are done.
  const child = spawn(postgres, args, {
    stdio: ['ignore', log.fd, log.fd, ...passage.fds],
    detached: true,
    ...serverIdentity(),
  });
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  child.once('error', () => {
    ended = true;
  });
  child.unref();
  await log.close();
  await passage.close();
  const deadline = Date.now() + START_TIMEOUT_MS;
  while ((await ask(record)) !== 'answers') {
    if (ended || Date.now() > deadline) {
      const text = (await readFile(paths.log)).subarray(before).toString();
      throw new DataFolderError(`the embedded Postgres in ${paths.cluster} did not start: ${oneLine(text)}`);
    }
    await sleep(POLL_MS);
  }
}

export async function stopServer(cluster: string): Promise<void> {
  const postmaster = await readPostmaster(cluster);
  if (postmaster === undefined) return;
  const { pid } = postmaster;
  const signal = (name: NodeJS.Signals | 0) => {
    try {
      return process.kill(pid, name);
    } catch {
      return false; // The process is gone, which is what we want.
    }
  };
  signal('SIGINT'); // Fast shutdown: sessions are rolled back, everything committed is on disk.
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (existsSync(join(cluster, 'postmaster.pid')) && signal(0)) {
    if (Date.now() > deadline)
      throw new DataFolderError(`the embedded Postgres (process ${pid}) does not stop`);
    await sleep(POLL_MS);
  }
}

export function oneLine(text: string): string {
  const lines = text.split('\n').filter((line) => /error|fatal|panic|could not|no space/i.test(line));
  const chosen = lines.length > 0 ? lines : text.split('\n').filter((line) => line.trim() !== '');
  return chosen.slice(0, LOG_LINES_IN_ERROR).join(' · ') || 'it said nothing';
}

type Reply = 'answers' | 'does not answer' | 'nobody there';

async function ask(record: ServerRecord): Promise<Reply> {
  const client = new pg.Client({
    connectionString: urlOf(record),
    connectionTimeoutMillis: REPLY_TIMEOUT_MS,
    query_timeout: REPLY_TIMEOUT_MS,
  });
  client.on('error', () => {}); // The outcome of connect() below is the answer; a later cut is not news.
  try {
    await client.connect();
    await client.query('select 1');
    return 'answers';
  } catch (error) {
    // Not up yet, or another server took the port: the caller decides.
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'nobody there' : 'does not answer';
  } finally {
    await client.end().catch(() => {});
  }
}

export async function freePort(preferred: number): Promise<number> {
  for (const port of [preferred, 0]) {
    const server = createServer();
    const outcome = await new Promise<number | undefined>((done) => {
      server.once('error', () => done(undefined));
      server.listen(port, '127.0.0.1', () => done((server.address() as { port: number }).port));
    });
    if (outcome !== undefined) {
      await new Promise((closed) => server.close(closed));
      return outcome;
    }
  }
  throw new DataFolderError('no free port on 127.0.0.1 for the embedded Postgres');
}

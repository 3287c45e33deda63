import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@libs/runtime/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmbedded } from './embedded.ts';

const script = fileURLToPath(new URL('../../test/embedded-user.ts', import.meta.url));
const children: ChildProcess[] = [];
let dataDir: string;

async function useServer(user: string, folder = dataDir) {
  const child = fork(script, [folder, user]);
  children.push(child);
  const [answer] = (await once(child, 'message')) as [{ url?: string; error?: string }];
  return { child, ...answer };
}

async function leave(child: ChildProcess): Promise<void> {
  child.send('stop');
  await once(child, 'exit');
}

async function query(url: string | undefined, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('embedded Postgres', () => {
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'embedded-'));
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  });

  test('two products share one server, a second process of the same name is refused, the last one stops it', async () => {
    const [first, second] = await Promise.all([useServer('payments'), useServer('toolhub')]);
    expect(first.url).toBe(second.url);
    await query(first.url, 'create table kept (n int)');
    await query(first.url, 'insert into kept values (42)');

    const third = await useServer('payments');
    expect(third.error).toMatch(/in use by payments \(process \d+\): stop that one, or set DATA_DIR/);

    await leave(first.child);
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 42 }]);
    await leave(second.child);
    await expect(query(second.url, 'select 1')).rejects.toThrow();
  });

  test('a folder left by a killed process starts again with its data', async () => {
    const killed = await useServer('payments');
    killed.child.kill('SIGKILL');
    await once(killed.child, 'exit');
    const next = await useServer('payments');
    expect(await query(next.url, 'select n from kept')).toEqual([{ n: 42 }]);
    await leave(next.child);
  });

  /** A line for each connection to the port whose client has given up while nobody took it (CLOSE_WAIT). */
  async function givenUpAt(port: number): Promise<number> {
    const place = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    const lines = (await readFile('/proc/net/tcp', 'utf8'))
      .split('\n')
      .map((line) => line.trim().split(/\s+/));
    return lines.filter(([, local, , state]) => local === place && state === '08').length;
  }

  test.runIf(platform() === 'linux')('a server that does not answer for a while is waited for', async () => {
    const first = await useServer('payments');
    const pid = Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
    process.kill(pid, 'SIGSTOP');
    let joining: ReturnType<typeof useServer>;
    try {
      joining = useServer('toolhub');
      const port = Number(new URL(first.url as string).port);
      const isRefused = joining.then(({ error }) => error !== undefined);
      await Promise.race([isRefused, until('it was asked in vain', async () => (await givenUpAt(port)) > 0)]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const second = await joining;
    expect(second.error).toBeUndefined();
    expect(second.url).toBe(first.url);
    await leave(first.child);
    await leave(second.child);
  });

  test('a server that runs is found, whatever port was noted', async () => {
    const first = await useServer('payments');
    const path = join(dataDir, 'postgres.json');
    const record = JSON.parse(await readFile(path, 'utf8')) as { port: number };
    await writeFile(path, JSON.stringify({ ...record, port: 1 }));
    const second = await useServer('toolhub');
    expect(second.error).toBeUndefined();
    expect(second.url).toBe(first.url);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(record);
    await leave(first.child);
    await leave(second.child);
  });

  test('a start that fails leaves the port that was noted', async () => {
    const path = join(dataDir, 'postgres.json');
    const before = await readFile(path, 'utf8');
    const { port } = JSON.parse(before) as { port: number };
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    const settings = join(dataDir, 'postgres', 'postgresql.auto.conf');
    const kept = await readFile(settings);
    await appendFile(settings, 'no_such_setting = 1\n');
    const refused = await useServer('payments');
    other.close();
    await writeFile(settings, kept);
    expect(refused.error).toMatch(/did not start: .*contains errors/);
    expect(await readFile(path, 'utf8')).toBe(before);
    const next = await useServer('payments');
    expect(next.error).toBeUndefined();
    await leave(next.child);
  });

  test('a data folder that is a file is named in one line', async () => {
    const file = join(dataDir, 'a-file');
    await writeFile(file, '');
    await expect(startEmbedded({ dataDir: file, user: 'payments' })).rejects.toThrow(
      /the data folder .*a-file is not a folder/,
    );
  });

  test('a place that cannot hold a folder is named in one line', async () => {
    const place = join(dataDir, 'n'.repeat(300));
    await expect(startEmbedded({ dataDir: place, user: 'payments' })).rejects.toThrow(
      /the data folder .*nnn cannot be used \(ENAMETOOLONG\)/,
    );
  });

  test.runIf(platform() === 'linux')('a place that takes no folder is named at once', async () => {
    await expect(startEmbedded({ dataDir: '/proc/data', user: 'payments' })).rejects.toThrow(
      'the data folder /proc/data cannot be made: its place takes no folder (ENOENT)',
    );
  });
});

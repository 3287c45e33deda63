import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
});

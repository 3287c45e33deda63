// One process at a time starts or stops the server of a folder, whatever those before it left there.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withFolderLock } from './processes.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'folder-lock-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const endedPid = () => spawnSync(process.execPath, ['-e', '']).pid;

test.each([
  ['of a process that is gone', () => JSON.stringify({ pid: endedPid(), startedAt: '1' })],
  ['that lost its text with the power', () => ''],
  ['of which half was written', () => '{"pid":'],
])('a lock %s is taken away', async (_what, text) => {
  await writeFile(join(folder, 'lock'), text());
  expect(await withFolderLock(folder, async () => 'done')).toBe('done');
  expect(await readdir(folder)).toEqual([]);
});

test('who waits in a process has the lock when another of the same process has left it', async () => {
  const order: string[] = [];
  const hold = (name: string) => async () => {
    order.push(`${name} begins`);
    await sleep(1);
    order.push(`${name} ends`);
  };
  await Promise.all(['one', 'two', 'three'].map((name) => withFolderLock(folder, hold(name))));
  const names = order.map((line) => line.split(' ')[0]);
  expect([names[0], names[2], names[4]]).toEqual([names[1], names[3], names[5]]);
  expect(await readdir(folder)).toEqual([]);
});

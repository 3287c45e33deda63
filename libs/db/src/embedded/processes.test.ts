// One process at a time starts or stops the server of a folder, whatever those before it left there.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
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

test('who died while taking a lock away keeps nobody from it', async () => {
  const pid = endedPid();
  await writeFile(join(folder, 'lock'), JSON.stringify({ pid, startedAt: '1' }));
  for (const startedAt of ['1', 'null']) await writeFile(join(folder, `takeover.${pid}.${startedAt}.1`), '');
  expect(await withFolderLock(folder, async () => 'done')).toBe('done');
  expect(await readdir(folder)).toEqual([]);
});

test('of all that wait for an abandoned lock, one at a time has it', async () => {
  const abandoned = JSON.stringify({ pid: endedPid(), startedAt: '1' });
  let holders = 0;
  let mostAtOnce = 0;
  const hold = async () => {
    holders += 1;
    mostAtOnce = Math.max(mostAtOnce, holders);
    for (let turns = 0; turns < 5; turns += 1) await turn();
    holders -= 1;
  };
  for (let round = 0; round < 3; round += 1) {
    await writeFile(join(folder, 'lock'), abandoned);
    const waiters: Promise<void>[] = [];
    for (let waiter = 0; waiter < 20; waiter += 1) {
      waiters.push(withFolderLock(folder, hold));
      for (let turns = 0; turns < 2; turns += 1) await turn();
    }
    await Promise.all(waiters);
  }
  expect(mostAtOnce).toBe(1);
  expect(await readdir(folder)).toEqual([]);
});

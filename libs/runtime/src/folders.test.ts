import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolder } from './folders.ts';

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'folders-'));
});
afterEach(() => rm(place, { recursive: true, force: true }));

test('a folder is made with those above it, by several at once, and one that is there is left', async () => {
  // Often, since each finds the others at another step.
  for (let round = 0; round < 200; round += 1) {
    const path = join(place, String(round), 'two', 'three');
    await Promise.all([makeFolder(path), makeFolder(join(path, 'four')), makeFolder(path)]);
    await makeFolder(path);
    expect((await stat(join(path, 'four'))).isDirectory()).toBe(true);
  }
});

test('a file in its place or above it, and a link to nothing, are told', async () => {
  const file = join(place, 'file');
  await writeFile(file, '');
  await symlink(join(place, 'nothing'), join(place, 'link'));
  await expect(makeFolder(file)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(file, 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(makeFolder(join(place, 'link', 'below'))).rejects.toMatchObject({ code: 'EEXIST' });
});

test.runIf(platform() === 'linux')('a place that takes no folder is told at once', async () => {
  await expect(makeFolder('/proc/no-such-place/below')).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(makeFolder('/proc/self/no-such-place')).rejects.toMatchObject({ code: 'ENOENT' });
});

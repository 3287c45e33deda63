// The command by which the guides archive WAL, as Postgres runs it: again after a crash, and over what a crash left.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const guide = fileURLToPath(new URL('../../services/payments/docs/backups.md', import.meta.url));
const [, printed = ''] = /\| `archive_command` +\| `([^`]+)`/.exec(readFileSync(guide, 'utf8')) ?? [];
const SEGMENT = '000000010000000000000001';

let folder: string;
const inFolder = (name: string) => join(folder, name);
const archived = () => readFileSync(inFolder(`archive/${SEGMENT}`), 'utf8');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'archiving-'));
  for (const name of ['archive', 'pg_wal', 'bin']) mkdirSync(inFolder(name));
  // Notes what it is to write to the disk, and what the archive holds at that moment.
  const noting = `#!/bin/sh\necho "$(basename "$1"), with $(ls '${inFolder('archive')}')" >> '${inFolder('synced')}'\n`;
  writeFileSync(inFolder('bin/sync'), noting, { mode: 0o755 });
  writeFileSync(inFolder('synced'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function archive(content: string): { status: number | null; synced: string[] } {
  writeFileSync(inFolder(`pg_wal/${SEGMENT}`), content);
  writeFileSync(inFolder('synced'), '');
  const command = printed
    .replaceAll('/archive/', `${inFolder('archive')}/`)
    .replaceAll('%p', `pg_wal/${SEGMENT}`)
    .replaceAll('%f', SEGMENT);
  const env = { ...process.env, PATH: `${inFolder('bin')}:${process.env.PATH}` };
  const { status } = spawnSync('sh', ['-c', command], { cwd: folder, env });
  return { status, synced: readFileSync(inFolder('synced'), 'utf8').split('\n').filter(Boolean) };
}

test('a segment has its name in the archive only when all of it is on the disk, and counts once the name is, too', () => {
  expect(archive('one')).toEqual({
    status: 0,
    synced: [`${SEGMENT}.part, with ${SEGMENT}.part`, `archive, with ${SEGMENT}`],
  });
  expect(archived()).toBe('one');
});

test('a segment that was archived right before a crash is archived again, and archiving goes on', () => {
  archive('one');
  expect(archive('one')).toEqual({ status: 0, synced: [`archive, with ${SEGMENT}`] });
  expect(readdirSync(inFolder('archive'))).toEqual([SEGMENT]);
});

test('another segment of that name is refused, and what was archived stays', () => {
  archive('one');
  expect(archive('two').status).not.toBe(0);
  expect(archived()).toBe('one');
});

test('half a copy that a crash left is made anew', () => {
  writeFileSync(inFolder(`archive/${SEGMENT}.part`), 'on');
  expect(archive('one').status).toBe(0);
  expect(readdirSync(inFolder('archive'))).toEqual([SEGMENT]);
  expect(archived()).toBe('one');
});

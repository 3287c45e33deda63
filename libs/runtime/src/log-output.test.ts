// A log on a disk that is full, which here is a file that may not grow beyond a block or two.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const program = fileURLToPath(new URL('../test/logging-process.ts', import.meta.url));

let folder: string;
let file: string;
let child: ChildProcess;
let told: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'log-output-'));
  file = join(folder, 'log');
  const output = openSync(file, 'a');
  child = spawn('sh', ['-c', 'ulimit -f 2 && exec "$0" "$1"', process.execPath, program], {
    stdio: ['ignore', output, 'pipe'],
  });
  closeSync(output);
  told = '';
  child.stderr?.on('data', (chunk) => {
    told += chunk;
  });
});
afterEach(async () => {
  child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const lineNumbers = (text: string) => [...text.matchAll(/"line":(\d+)/g)].map(([, line]) => Number(line));

test('what cannot be written waits until it can, and is told of beside the log', async () => {
  await expect.poll(() => told).toContain('the log cannot be written');
  const full = (await stat(file)).size;
  let text = '';
  const takeAll = async () => {
    const there = await readFile(file, 'utf8');
    // Only while nothing can be added, or it would go with what was read.
    if (there.length === full) {
      text += there;
      await truncate(file);
    }
    return lineNumbers(there.length === full ? text : text + there);
  };
  await expect.poll(takeAll).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect(child.exitCode).toBeNull();
});

test('a process whose log cannot be written ends when it is told to', async () => {
  await expect.poll(() => told).toContain('the log cannot be written');
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

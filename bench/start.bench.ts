import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './environment.ts';
import { acceptLoad } from './payments/accept-load.ts';
import { type Benchmark, median, type Result } from './result.ts';

const ROUNDS = 3;
const START_MS_MAX = 180_000;
const STOP_MS_MAX = 60_000;
const LOOK_EVERY_MS = 20;
const root = fileURLToPath(new URL('..', import.meta.url));

/** Seconds from `npm start` to the first payment that is accepted; then it is stopped again. */
async function start(folder: string, dataDir: string): Promise<number> {
  const [payments, toolhub] = [await freePort(), await freePort()];
  const startedAt = performance.now();
  const child = spawn('npm', ['start'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      ...{ DATA_DIR: dataDir, PAYMENTS_PORT: String(payments), TOOLHUB_PORT: String(toolhub) },
    },
  });
  const exited = once(child, 'exit');
  const { headers, body, path } = acceptLoad('');
  while (!(await isAccepted(`http://127.0.0.1:${payments}${path}`, headers, body))) {
    if (performance.now() - startedAt > START_MS_MAX || child.exitCode !== null)
      throw new Error('it did not start');
    await sleep(LOOK_EVERY_MS);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  child.kill('SIGTERM');
  await exited;
  // npm is gone before what it started: the next start would find the data folder in use.
  const deadline = performance.now() + STOP_MS_MAX;
  const server = join(dataDir, 'postgres', 'postmaster.pid');
  while (existsSync(server) || (await isListening(payments, toolhub))) {
    if (performance.now() > deadline) throw new Error('it did not stop');
    await sleep(LOOK_EVERY_MS);
  }
  return seconds;
}

async function isAccepted(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<boolean> {
  try {
    const keyed = { ...headers, 'idempotency-key': randomUUID() };
    return (await fetch(url, { method: 'POST', headers: keyed, body })).status === 202;
  } catch {
    return false; // It does not listen yet.
  }
}

async function isListening(...ports: readonly number[]): Promise<boolean> {
  const asked = await Promise.allSettled(ports.map((port) => fetch(`http://127.0.0.1:${port}/livez`)));
  return asked.some(({ status }) => status === 'fulfilled');
}

/** A clone as a newcomer has it, on a machine whose npm has the packages. */
async function startCold(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-clone-'));
  try {
    execFileSync('git', ['clone', '-q', '--depth', '1', `file://${root}`, folder]);
    return await start(folder, join(folder, '.data'));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** S1: how soon it can be used. */
export const benchmark: Benchmark = {
  name: 'start',
  async run() {
    const dataDir = await mkdtemp(join(tmpdir(), 'bench-start-'));
    try {
      await start(root, dataDir);
      const warm: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) warm.push(await start(root, dataDir));
      const result = (what: string, ours: number, value: number): Result => ({
        ...{ id: 'S1', what, ours, other: null, unit: 's', bar: { kind: 'at most', value } },
      });
      return [
        result('npm start to the first 202, warm', median(warm), 3),
        result('the same in a fresh clone, packages cached', await startCold(), 45),
      ];
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

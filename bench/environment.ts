import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEmbedded } from '@libs/db';
import { memoryFlags, memorySettings } from '../tools/memory.mjs';

export interface BenchDatabase {
  url: string;
  /** The process above all of the server's. */
  pid: number;
  stop(): Promise<void>;
}

/** A real server with durable commits, in a folder of its own. */
export async function startDatabase(settings: Readonly<Record<string, string>> = {}): Promise<BenchDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
  const server = await startEmbedded({ dataDir, user: 'bench', settings });
  const [pid] = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
  return {
    url: server.url,
    pid: Number(pid),
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** For whoever fills tables: a statement over millions of rows takes minutes, and its connection would be given up before. */
export const fillTimeouts = { statementMs: 3 * 3_600_000 };

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

export interface RunningService {
  url: string;
  pid: number;
  residentMb(): Promise<number>;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 120_000;

/** As `npm start` does: what Node compiled before is not compiled again. */
export const compiledBefore = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)),
};

/** A product as an operator runs it: its own process, from source, against the given database. */
export async function startService(
  product: 'payments' | 'toolhub',
  env: Readonly<Record<string, string>>,
): Promise<RunningService> {
  const port = await freePort();
  const main = fileURLToPath(new URL(`../services/${product}/src/main.ts`, import.meta.url));
  const prefix = product.toUpperCase();
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-service-'));
  const child = spawn(process.execPath, [...memoryFlags(product), main], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...memorySettings,
      ...compiledBefore,
      ...process.env,
      ...{ DATA_DIR: dataDir, [`${prefix}_PORT`]: String(port) },
      ...env,
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await isReady(url))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${product} did not start`);
    await sleep(50);
  }
  return {
    url,
    pid: child.pid as number,
    residentMb: () => residentMb(child.pid as number),
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export async function residentMb(pid: number): Promise<number> {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false; // It does not listen yet.
  }
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Load {
  url: string;
  path: string;
  connections: number;
  seconds: number;
  warmupSeconds: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Sent anew with each request, or the same each time, or not at all. */
  idempotencyKey: 'fresh' | 'fixed' | 'none';
  expectStatus: number;
}

export interface LoadReport {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  unexpected: number;
}

/** Sends requests from a process of its own, so that the measured one has its event loop to itself. */
export async function sendLoad(load: Load): Promise<LoadReport> {
  const child = fork(fileURLToPath(new URL('./load-process.ts', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.send(load);
  const [report] = (await once(child, 'message')) as [LoadReport];
  await once(child, 'exit');
  return report;
}

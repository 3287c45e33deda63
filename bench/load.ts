import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Load, LoadReport } from './load-types.ts';
import { WRK, wrk } from './wrk.ts';

export type { Load, LoadReport };

/** From Debian's `wrk`, which costs the least, or where it is not there from a process of our own. */
const hasWrk = existsSync(WRK);

export const loadMaker = hasWrk ? 'wrk' : 'a Node process, because wrk is not here';

async function send(load: Load, seconds: number): Promise<LoadReport> {
  return hasWrk ? wrk(load, seconds) : ownProcess({ ...load, seconds });
}

/** Sends requests from a process of its own, so that the measured one has its event loop to itself. */
export async function sendLoad(load: Load): Promise<LoadReport> {
  await warmUp(load);
  return measured(load);
}

export async function warmUp(load: Load): Promise<void> {
  if (load.warmupSeconds > 0) await send(load, load.warmupSeconds);
}

/** Without the warm-up, for who measures what the load costs. */
export async function measured(load: Load): Promise<LoadReport> {
  const report = await send(load, load.seconds);
  if (report.unexpected > 0)
    throw new Error(`${load.path} did not answer ${load.expectStatus} ${report.unexpected} times`);
  return report;
}

async function ownProcess(load: Load): Promise<LoadReport> {
  const child = fork(fileURLToPath(new URL('./load-process.ts', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.send(load);
  const [report] = (await once(child, 'message')) as [LoadReport];
  await once(child, 'exit');
  return report;
}

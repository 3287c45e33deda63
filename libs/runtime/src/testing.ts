import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

const PAUSE_MS = 25;
const ASKS_MAX = 40;

/**
 * For what a contract promises "within a second": asks until the answer holds, as often as fits into a second of a machine
 * with a free processor. On a busy one, where whatever is asked about works more slowly as well, that takes longer; a
 * promise that is kept by luck would fail, and one that is kept in time would not.
 */
export async function withinASecond<Answer>(
  ask: () => Promise<Answer> | Answer,
  holds: (answer: Answer) => void,
): Promise<void> {
  for (let asks = 1; ; asks += 1) {
    const answer = await ask();
    try {
      holds(answer);
      return;
    } catch (error) {
      if (asks >= ASKS_MAX) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

const WAIT_MS_MAX = 30_000;

/** For hooks, where `expect.poll` is not to be had: waits until something is so, and says what it waited for in vain. */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const giveUpAtMs = performance.now() + WAIT_MS_MAX;
  while (!(await holds())) {
    if (performance.now() > giveUpAtMs) throw new Error(`waited in vain until ${what}`);
    await sleep(PAUSE_MS);
  }
}

/** The work of this process so far, which other processes cannot stretch as they do the time that passes. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const TURNS_TRIED = 3;

/**
 * The longest turn of the event loop while something is done, in time of the processor that this thread alone spends: at the
 * best of some tries, since garbage of others is collected in any turn, and what holds up the process does it every time.
 */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < TURNS_TRIED; tried += 1) best = Math.min(best, await longestTurnOnceMs(work));
  return best;
}

async function longestTurnOnceMs(work: () => Promise<unknown>): Promise<number> {
  const threadMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let isOver = false;
  let longest = 0;
  let before = threadMs();
  const endTurn = () => {
    const now = threadMs();
    longest = Math.max(longest, now - before);
    before = now;
  };
  const done = work().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    endTurn();
    await turn();
  }
  endTurn();
  await done;
  return longest;
}

/** For processes that are to tell which packages they load: what to add to their environment, and the names so far. */
export function watchPackages(folder: string): { env: Record<string, string>; loaded(): Promise<string[]> } {
  const list = join(folder, 'loaded-packages');
  const writer = new URL('../test/loaded-packages.ts', import.meta.url).href;
  return {
    env: { NODE_OPTIONS: `--import=${writer}`, LOADED_PACKAGES: list },
    loaded: async () => (await readFile(list, 'utf8')).trimEnd().split('\n'),
  };
}

/** Below those that Linux gives to outgoing connections, of which tests have thousands: one of them took such a port. */
const PORTS = { from: 20_000, below: 32_000 };
const PORTS_TRIED_MAX = 50;

/** Nobody listens there now. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS_TRIED_MAX; tries += 1) {
    const port = randomInt(PORTS.from, PORTS.below);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${PORTS_TRIED_MAX} ports is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}

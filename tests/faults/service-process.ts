import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@libs/runtime/testing';

/** The real program in a process of its own, which can be killed, stopped, continued, and whose clock can jump. */
export interface ServiceProcess {
  url: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** As an operator ends it: it finishes what it has begun. */
  drain(): Promise<void>;
  /** It stands still, with all that it holds, and knows nothing of it. */
  freeze(): void;
  thaw(): void;
  setClock(offsetMs: number): void;
}

const main = fileURLToPath(new URL('../../services/payments/src/main.ts', import.meta.url));
const clock = new URL('./jumping-clock.ts', import.meta.url).href;
const START_MS_MAX = 120_000;
const POLL_MS = 50;

export async function createServiceProcess(env: Record<string, string>): Promise<ServiceProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;

  async function isReady(): Promise<boolean> {
    try {
      return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok;
    } catch {
      return false; // It does not listen yet.
    }
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const ending = child;
    child = undefined;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const exit = once(ending, 'exit');
    ending.kill(signal);
    await exit;
  }

  return {
    url,
    async start() {
      const started = spawn(process.execPath, ['--import', clock, main], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        env: { ...process.env, ...env, PAYMENTS_PORT: String(port) },
      });
      child = started;
      const end = performance.now() + START_MS_MAX;
      while (!(await isReady())) {
        if (started.exitCode !== null) throw new Error(`the service ended with ${started.exitCode}`);
        if (performance.now() > end) throw new Error('the service does not become ready');
        await sleep(POLL_MS);
      }
    },
    kill: () => end('SIGKILL'),
    drain: () => end('SIGTERM'),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    setClock: (offsetMs) => void child?.send({ offsetMs }),
  };
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Arrival } from './receiver-process.ts';

const WAIT_MS_MAX = 30_000;

export interface Receiver {
  url: string;
  host: string;
  /** What arrived since the last call; with a number, once there are as many, or after half a minute an error. */
  takeArrivals(count?: number): Promise<Arrival[]>;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const child = fork(fileURLToPath(new URL('./receiver-process.ts', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    host: `127.0.0.1:${port}`,
    async takeArrivals(count = 0) {
      child.send(count);
      const signal = AbortSignal.timeout(WAIT_MS_MAX);
      const [arrivals] = (await once(child, 'message', { signal })) as [Arrival[]];
      return arrivals;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

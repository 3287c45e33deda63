// Requests as careful clients send them, and what each of them was told.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Promised {
  id: string;
  key: string;
  answeredAtMs: number;
}

export interface Load {
  promised: readonly Promised[];
  /** What was refused or not answered. */
  failures: readonly string[];
  stop(): Promise<void>;
}

/** One request; gives the id that the service has for it, and throws what else came. */
export type Send = (url: string, key: string) => Promise<string>;

export interface LoadOptions {
  send: Send;
  /** Asked before every request; they are used in turn. */
  servers: () => readonly string[];
  clients: number;
  /** Between two requests of one client. Everything that is sent has to be completed, too, before a test ends. */
  pauseMs: number;
}

/** Each client sends one request after the other. */
export function startLoad({ send, servers, clients, pauseMs }: LoadOptions): Load {
  const promised: Promised[] = [];
  const failures: string[] = [];
  let isStopped = false;
  let turn = 0;

  async function sendNext(): Promise<void> {
    const urls = servers();
    turn += 1;
    const key = randomUUID();
    try {
      const id = await send(urls[turn % urls.length] as string, key);
      promised.push({ id, key, answeredAtMs: Date.now() });
    } catch (error) {
      failures.push(String((error as Error).cause ?? error));
    }
  }

  const running = Array.from({ length: clients }, async () => {
    while (!isStopped) {
      await sendNext();
      await sleep(pauseMs);
    }
  });
  return {
    promised,
    failures,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

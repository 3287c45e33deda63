import type { Socket } from 'node:net';
import pg from 'pg';
import { type ConnectionOptions, directOptions } from './connection.ts';

export interface Subscription {
  /** Gives up the connection at once, though it looks alive, and listens on a new one. */
  restart(): void;
  stop(): Promise<void>;
}

export interface ListenOptions {
  /** Messages sent while the connection was down are lost: this is the moment to re-read what they announced. */
  onReconnect?: () => void;
}

const RECONNECT_DELAY_MS = 250;
const RECONNECT_DELAY_MS_MAX = 5_000;

/** A connection of its own that listens on one channel and comes back by itself when it is cut. */
export async function subscribe(
  options: ConnectionOptions & { onError?: (error: Error) => void },
  channel: string,
  onMessage: (payload: string) => void,
  { onReconnect }: ListenOptions,
): Promise<Subscription> {
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const next = new pg.Client(directOptions(options));
    next.on('notification', (message) => onMessage(message.payload ?? ''));
    next.on('error', (error) => {
      options.onError?.(error);
    });
    next.on('end', () => {
      if (client === next && !stopped) reconnect(RECONNECT_DELAY_MS);
    });
    await next.connect();
    await next.query(`listen ${channel}`);
    client = next;
  }

  /** Without waiting for the other side, which may be gone without a word. */
  function cut(listening: pg.Client | undefined): void {
    (listening as unknown as { connection: { stream: Socket } } | undefined)?.connection.stream.destroy();
  }

  function reconnect(delayMs: number): void {
    client = undefined;
    timer = setTimeout(() => {
      connect().then(
        () => (stopped ? client?.end() : onReconnect?.()),
        (error: Error) => {
          options.onError?.(error);
          if (!stopped) reconnect(Math.min(delayMs * 2, RECONNECT_DELAY_MS_MAX));
        },
      );
    }, delayMs);
  }

  await connect();
  return {
    restart: () => cut(client),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end();
    },
  };
}

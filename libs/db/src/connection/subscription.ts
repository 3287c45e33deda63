import type { Outage } from '@libs/runtime';
import pg from 'pg';
import { type ConnectionOptions, directOptions, timeoutsOf } from './connection.ts';
import { cut } from './silence.ts';

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

/** A connection of its own that listens on one channel and comes back by itself when it is cut; the outage lasts until then. */
export async function subscribe(
  options: ConnectionOptions & { outage: Outage },
  channel: string,
  onMessage: (payload: string) => void,
  { onReconnect }: ListenOptions,
): Promise<Subscription> {
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  const self = {};
  const { statementMs, silenceMs } = timeoutsOf(options);

  function noteFailure(error: unknown): void {
    if (!stopped) options.outage.failed(error, self);
  }

  async function connect(): Promise<void> {
    const next = new pg.Client({ ...directOptions(options), query_timeout: statementMs + silenceMs });
    next.on('notification', (message) => onMessage(message.payload ?? ''));
    next.on('error', noteFailure);
    next.on('end', () => {
      if (client === next && !stopped) reconnect(RECONNECT_DELAY_MS);
    });
    try {
      await next.connect();
      await next.query(`listen ${channel}`);
    } catch (error) {
      // A server that takes connections and refuses to listen, as one that follows another does, must not gather them.
      cut(next);
      throw error;
    }
    client = next;
    options.outage.worked(self);
  }

  function reconnect(delayMs: number): void {
    client = undefined;
    timer = setTimeout(() => {
      connect().then(
        () => (stopped ? client?.end() : onReconnect?.()),
        (error: Error) => {
          noteFailure(error);
          if (!stopped) reconnect(Math.min(delayMs * 2, RECONNECT_DELAY_MS_MAX));
        },
      );
    }, delayMs);
  }

  async function stop(): Promise<void> {
    stopped = true;
    options.outage.left(self);
    clearTimeout(timer);
    const last = client;
    client = undefined;
    await last?.end();
  }

  try {
    await connect();
  } catch (error) {
    // Who could not begin to listen is told by this error, and tries no more.
    await stop();
    throw error;
  }
  return {
    restart: () => cut(client),
    stop,
  };
}

import type { Database, Queryable, Subscription } from '@libs/db';
import { notify } from './store.ts';

/*
 * Tells the caches of all processes what changed. A message can only be trusted to arrive while the connection that
 * listens is alive, and a connection that is cut off without a word looks alive for minutes. So each process sends a
 * beat to itself through the database; as long as its own beats come back, other messages do too.
 */
const BEAT_MS = 250;
const SILENCE_MS_MAX = 700;

/** A key by its id, or the test mode of an organisation by the organisation's. */
export type Topic = 'key' | 'sandbox';

/** `null` means: anything may have changed, forget everything. */
export type InvalidationHandler = (id: string | null) => void;

export interface Invalidations {
  /** Tells every process, when the transaction commits, that the object with this id changed. */
  publish(tx: Queryable, topic: Topic, id: string): Promise<void>;
  on(topic: Topic, handler: InvalidationHandler): void;
  /** False while messages may get lost: a cache must not be trusted then. */
  isLive(): boolean;
  close(): Promise<void>;
}

export interface InvalidationDependencies {
  database: Database;
  /** Distinguishes this process from all others. */
  processId: string;
  nowMs: () => number;
  onError: (error: unknown) => void;
}

export async function createInvalidations(options: InvalidationDependencies): Promise<Invalidations> {
  const { database, nowMs } = options;
  const channel = `${database.schema}_changes`;
  const ownBeat = `beat ${options.processId}`;
  const handlers = new Map<string, InvalidationHandler[]>();
  let lastBeatMs = Number.NEGATIVE_INFINITY;
  let beating = false;

  function receive(message: string): void {
    if (message.startsWith('beat ')) {
      if (message === ownBeat) lastBeatMs = nowMs();
      return;
    }
    const space = message.indexOf(' ');
    const id = message.slice(space + 1);
    for (const handler of handlers.get(message.slice(0, space)) ?? []) handler(id);
  }

  function forgetEverything(): void {
    for (const handler of [...handlers.values()].flat()) handler(null);
  }

  async function beat(): Promise<void> {
    if (beating) return;
    beating = true;
    try {
      await notify(database, channel, ownBeat);
    } catch (error) {
      options.onError(error);
    } finally {
      beating = false;
    }
  }

  const subscription: Subscription = await database.listen(channel, receive, {
    onReconnect: forgetEverything,
  });
  await beat();
  const timer = setInterval(() => void beat(), BEAT_MS);
  timer.unref();

  return {
    publish: (tx, topic, id) => notify(tx, channel, `${topic} ${id}`),
    on(topic, handler) {
      handlers.set(topic, [...(handlers.get(topic) ?? []), handler]);
    },
    isLive: () => nowMs() - lastBeatMs <= SILENCE_MS_MAX,
    async close() {
      clearInterval(timer);
      await subscription.stop();
    },
  };
}

import { randomUUID } from 'node:crypto';
import type { Outage } from '@libs/runtime';
import type { Database, Queryable } from './database.ts';

/*
 * Tells the caches of all processes what changed. A message can only be trusted to arrive while the connection that
 * listens is alive, and a connection that is cut off without a word looks alive for minutes. So each process sends a
 * beat to itself through the database; as long as its own beats come back, other messages do too. When they stay away,
 * everything is forgotten, again with every beat, until a new connection listens: nothing old is believed for longer
 * than a second.
 */
const BEAT_MS = 250;
const SILENCE_MS_MAX = 700;
/** One silent look may be this process's own fault, when it was busy for long; several in a row are not. */
const SILENT_LOOKS_MAX = 3;
const RESTART_MS = 2_000;
/** What Postgres takes in one notification, less the topic. */
const MESSAGE_BYTES_MAX = 7_000;

/** `null` means: anything may have changed, forget everything (or read it again). */
export type ChangeHandler = (message: string | null) => void;

/** One word of lower-case letters and underscores. */
type Topic = string;

export interface Changes {
  /** Tells every process, this one too, once the transaction has committed, and nobody when it has not. */
  publish(tx: Queryable, topic: Topic, message: string): Promise<void>;
  on(topic: Topic, handler: ChangeHandler): void;
  /** False while messages may get lost. */
  isLive(): boolean;
  close(): Promise<void>;
}

export interface ChangesOptions {
  database: Database;
  nowMs?: () => number;
  /** Told of a handler that throws. */
  onError: (error: unknown) => void;
  /** Lasts while messages cannot be sent, or do not come back. */
  outage: Outage;
}

/** One connection for all topics of a service in this process. */
export async function openChanges(options: ChangesOptions): Promise<Changes> {
  const { database, outage, nowMs = () => performance.now() } = options;
  const channel = `${database.schema}_changes`;
  const ownBeat = `beat ${randomUUID()}`;
  const handlers = new Map<Topic, ChangeHandler[]>();
  let lastBeatMs = nowMs();
  let silentLooks = 0;
  let lastRestartMs = Number.NEGATIVE_INFINITY;
  let beating = false;

  function tell(topic: Topic, message: string): void {
    for (const handler of handlers.get(topic) ?? []) run(handler, message);
  }

  function forgetEverything(): void {
    for (const handler of [...handlers.values()].flat()) run(handler, null);
  }

  /** One handler that throws must not keep the others from hearing. */
  function run(handler: ChangeHandler, message: string | null): void {
    try {
      handler(message);
    } catch (error) {
      options.onError(error);
    }
  }

  function receive(text: string): void {
    if (text === ownBeat) {
      lastBeatMs = nowMs();
      outage.worked();
    } else if (!text.startsWith('beat ')) {
      const space = text.indexOf(' ');
      tell(text.slice(0, space), text.slice(space + 1));
    }
  }

  const subscription = await database.listen(channel, receive, { onReconnect: forgetEverything });
  const isLive = () => nowMs() - lastBeatMs <= SILENCE_MS_MAX;

  async function beat(): Promise<void> {
    if (isLive()) silentLooks = 0;
    else {
      forgetEverything();
      silentLooks += 1;
      if (silentLooks >= SILENT_LOOKS_MAX && nowMs() - lastRestartMs >= RESTART_MS) {
        lastRestartMs = nowMs();
        outage.failed(new Error('the messages of this process to itself do not come back'));
        subscription.restart();
      }
    }
    // A beat that hangs must not keep the next look from happening, but one at a time is enough.
    if (beating) return;
    beating = true;
    try {
      await notify(database, channel, ownBeat);
    } catch (error) {
      outage.failed(error);
    } finally {
      beating = false;
    }
  }

  await beat();
  const timer = setInterval(() => void beat(), BEAT_MS).unref();

  return {
    async publish(tx, topic, message) {
      if (Buffer.byteLength(message) > MESSAGE_BYTES_MAX)
        throw new RangeError(`a change of more than ${MESSAGE_BYTES_MAX} bytes: publish its id`);
      await notify(tx, channel, `${topic} ${message}`);
    },
    on(topic, handler) {
      if (!/^[a-z_]+$/.test(topic) || topic === 'beat') throw new TypeError(`"${topic}" is not a topic`);
      handlers.set(topic, [...(handlers.get(topic) ?? []), handler]);
    },
    isLive,
    async close() {
      clearInterval(timer);
      await subscription.stop();
    },
  };
}

async function notify(tx: Queryable, channel: string, message: string): Promise<void> {
  await tx.query({ name: 'changes.notify', text: 'select pg_notify($1, $2)' }, [channel, message]);
}

import type { Socket } from 'node:net';
import type pg from 'pg';
import type { Timeouts } from './connection.ts';

/** So often a statement is looked at within the time that it may go unanswered beyond its limit. */
const LOOKS_PER_SILENCE = 2;

/** A connection of the driver as it is within: the statement that it waits for, and its socket. */
interface Inside {
  readonly _activeQuery: object | null;
  readonly connection: { readonly stream: Socket };
}

interface Waiting {
  statement: object | null;
  looks: number;
}

/** Cuts connections whose server does not even say that a statement took too long. */
export interface SilenceWatch {
  /** Watches every connection that the pool makes. */
  over(pool: pg.Pool): void;
  /** Until the connection is given back, its statements have the time of a report. */
  allowReport(client: pg.PoolClient): void;
  stop(): void;
}

/** Without waiting for the other side, which may be gone without a word: whoever waits for an answer gets an error. */
export function cut(client: pg.ClientBase | undefined): void {
  (client as unknown as Inside | undefined)?.connection.stream.destroy();
}

/**
 * A machine that vanishes while something is on the way to it is asked for by the system for a quarter of an hour, and
 * never whether it is there. One timer looks at all connections, so that a statement costs nothing. It counts its looks
 * and not the time: after a process was stopped for a while, the answers are there to be read.
 */
export function watchSilence({
  statementMs,
  reportMs,
  silenceMs,
}: Pick<Timeouts, 'statementMs' | 'reportMs' | 'silenceMs'>): SilenceWatch {
  const waiting = new Map<pg.PoolClient, Waiting>();
  const reporting = new WeakSet<pg.PoolClient>();
  const lookMs = silenceMs / LOOKS_PER_SILENCE;
  // Zero is no limit to Postgres. The look that sees a statement first may come right after its begin.
  const looksMax = (limitMs: number) =>
    limitMs === 0 ? Number.POSITIVE_INFINITY : 1 + Math.ceil((limitMs + silenceMs) / lookMs);
  const [statementLooksMax, reportLooksMax] = [looksMax(statementMs), looksMax(reportMs)];

  function look(): void {
    for (const [client, last] of waiting) {
      const { _activeQuery: statement } = client as unknown as Inside;
      last.looks = statement !== null && statement === last.statement ? last.looks + 1 : 1;
      last.statement = statement;
      const max = reporting.has(client) ? reportLooksMax : statementLooksMax;
      if (statement !== null && last.looks > max) cut(client);
    }
  }
  const timer = setInterval(look, lookMs).unref();

  return {
    over(pool) {
      pool.on('connect', (client) => void waiting.set(client, { statement: null, looks: 0 }));
      pool.on('release', (_error, client) => void reporting.delete(client));
      pool.on('remove', (client) => void waiting.delete(client));
    },
    allowReport: (client) => void reporting.add(client),
    stop: () => clearInterval(timer),
  };
}

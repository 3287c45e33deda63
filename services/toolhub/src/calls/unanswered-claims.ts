import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@libs/db';
import { type Claim, deleteIntents } from './store.ts';

/**
 * Claims of which nobody here knows whether they are stored, since the connection broke: no call runs under them, and whoever
 * comes with the same key would wait for one until this process ends.
 */
export interface UnansweredClaims {
  /** Sees to it that the key is free, soon. */
  free(claim: Claim): void;
  /** Tries each a last time. */
  close(): Promise<void>;
}

export interface UnansweredClaimsDependencies {
  database: Database;
  onError: (error: unknown) => void;
}

/** Far more than statements are under way at once: what waited for a connection was never sent. */
const CLAIMS_MAX = 1_000;
/** A statement may still be at work after its connection broke, for as long as the database lets it. */
const WRITTEN_LATE_MS = 60_000;
const CLOSE_MS_MAX = 3_000;
const PAUSE_MS = 50;
const PAUSE_MS_MAX = 5_000;
/** Later than that the key is free by itself: 24 hours. */
const ATTEMPTS_MAX = 20_000;

export function createUnansweredClaims({
  database,
  onError,
}: UnansweredClaimsDependencies): UnansweredClaims {
  const freeing = new Set<Promise<void>>();
  const closing = new AbortController();

  async function freeLater(claim: Claim): Promise<void> {
    const surelyWrittenMs = performance.now() + WRITTEN_LATE_MS;
    let pauseMs = PAUSE_MS;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const [askedMs, isLast] = [performance.now(), closing.signal.aborted];
      const freed = await deleteIntents(database, [claim]).catch(() => undefined);
      const isOver = freed === 1 || (freed === 0 && askedMs >= surelyWrittenMs);
      if (isOver || isLast) return;
      const { signal } = closing;
      await pause(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
    }
  }

  return {
    free(claim) {
      if (freeing.size >= CLAIMS_MAX) {
        onError(new Error('too many claims without an answer wait to be freed'));
        return;
      }
      const work = freeLater(claim).finally(() => freeing.delete(work));
      freeing.add(work);
    },
    async close() {
      closing.abort();
      // A database that hangs must not keep the meter from counting: what is left is taken for calls that were cut off.
      const limit = new AbortController();
      const isOver = pause(CLOSE_MS_MAX, undefined, { signal: limit.signal }).catch(() => {});
      await Promise.race([Promise.all(freeing), isOver]);
      limit.abort();
    },
  };
}

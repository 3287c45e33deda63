import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@libs/db';
import { hashToken, type NewId } from '@libs/seal';
import { errors } from '../../errors.ts';
import {
  countAttempts,
  deleteAttempt,
  deleteAttemptsBefore,
  insertAttempt,
  lockAccount,
  markFailed,
} from './login-attempts-store.ts';

const FAILED_LOGINS_MAX = 10;
const FAILED_LOGINS_WINDOW_MS = 15 * 60_000;
/** A try whose process died stops counting after this. */
const PENDING_MS = 30_000;
const TURN_WAIT_MS = 50;
const TURN_WAITS_MAX = 200;

export interface LoginLimit {
  /**
   * Checks a password under the account's limit: ten failures within fifteen minutes, and then none is even looked at.
   * A try takes its place before it is checked, so that parallel guesses cannot pass the limit together; while the
   * places are taken by tries under way, further ones wait for their outcome.
   */
  attempt<T extends { ok: boolean }>(emailKey: string, check: () => Promise<T>): Promise<T>;
  purge(): Promise<void>;
}

export function createLoginLimit(deps: { database: Database; newId: NewId; now: () => Date }): LoginLimit {
  const { database, newId, now } = deps;

  async function takePlace(accountKey: Buffer): Promise<string> {
    for (let waits = 0; waits < TURN_WAITS_MAX; waits += 1) {
      const id = await database.transaction((tx) => tryPlace(tx, accountKey));
      if (id !== undefined) return id;
      await sleep(TURN_WAIT_MS);
    }
    throw errors.busy({ retryAfterSeconds: 1 });
  }

  async function tryPlace(
    tx: Parameters<typeof lockAccount>[0],
    accountKey: Buffer,
  ): Promise<string | undefined> {
    await lockAccount(tx, accountKey);
    const at = now();
    const counts = await countAttempts(tx, accountKey, {
      failed: new Date(at.getTime() - FAILED_LOGINS_WINDOW_MS),
      pending: new Date(at.getTime() - PENDING_MS),
      failedMax: FAILED_LOGINS_MAX,
    });
    if (counts.failed >= FAILED_LOGINS_MAX) throw tooMany(at, counts.oldestCounted ?? at);
    if (counts.failed + counts.pending >= FAILED_LOGINS_MAX) return undefined;
    const id = newId('try');
    await insertAttempt(tx, { accountKey, id, at });
    return id;
  }

  function tooMany(at: Date, oldest: Date) {
    const seconds = Math.ceil((oldest.getTime() + FAILED_LOGINS_WINDOW_MS - at.getTime()) / 1000);
    return errors.too_many_logins({
      retryAfterSeconds: seconds,
      headers: {
        'ratelimit-policy': `"logins";q=${FAILED_LOGINS_MAX};w=${FAILED_LOGINS_WINDOW_MS / 1000}`,
        ratelimit: `"logins";r=0;t=${seconds}`,
      },
    });
  }

  return {
    async attempt(emailKey, check) {
      const accountKey = hashToken(emailKey);
      const id = await takePlace(accountKey);
      // When the check itself fails nothing was learned about the password, so nothing is counted.
      const outcome = await check().catch(async (error: unknown) => {
        await deleteAttempt(database, accountKey, id);
        throw error;
      });
      if (outcome.ok) await deleteAttempt(database, accountKey, id);
      else await markFailed(database, accountKey, id);
      return outcome;
    },
    purge: () => deleteAttemptsBefore(database, new Date(now().getTime() - FAILED_LOGINS_WINDOW_MS)),
  };
}

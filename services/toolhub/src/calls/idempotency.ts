import { setTimeout as pause } from 'node:timers/promises';
import type { Database, Queryable } from '@libs/db';
import { everyMinutes } from '@libs/jobs';
import type { NewId } from '@libs/seal';
import type { Holder } from '../billing/meter/holder.ts';
import type { Alongside } from '../billing/meter/settlement.ts';
import { type ArgumentsMarks, isMarkOf } from './arguments-mark.ts';
import { KEY_WAIT_MS } from './call-times.ts';
import {
  type Claim,
  deleteExpiredCalls,
  deleteIntents,
  findCall,
  findUnexpired,
  insertIntent,
  type KeyedCall,
  storeResults,
} from './store.ts';
import { createUnansweredClaims } from './unanswered-claims.ts';

export interface ClaimedKey {
  kind: 'claimed';
  /** No other call that the key stands for, before or after, has the same. */
  expiresAt: Date;
  /**
   * What is written when the call is over: its result, for every later call with this key, or null, which frees the
   * key because the call certainly did nothing. It commits with the call's unit, so that no kill can part them.
   */
  ending(resultJson: string | null): Alongside;
  /** Frees the key of a call that never ran. */
  release(): Promise<void>;
}

export type KeyClaim =
  | ClaimedKey
  | { kind: 'replay'; resultJson: string }
  | { kind: 'other_arguments' }
  /** The first call was cut off: whether it was carried out, nobody knows. */
  | { kind: 'unknown' }
  /** The first call still runs after all the time that we wait. */
  | { kind: 'running' }
  /** The first call did nothing, and this one may not run. */
  | { kind: 'freed' }
  /** The caller gave up while it waited for the first call. */
  | { kind: 'canceled' };

export interface ClaimingCall extends KeyedCall {
  args: Record<string, unknown>;
  /** False for one that may only get what came of an earlier call. */
  mayRun?: boolean;
  signal: AbortSignal;
}

export interface Idempotency {
  claim(call: ClaimingCall): Promise<KeyClaim>;
  readonly jobs: {
    handlers: readonly { name: string; handle(): Promise<void> }[];
    cron: readonly { name: string; schedule: (after: Date) => Date }[];
  };
  /** Before the holder's: what is freed then is not taken for a call that was cut off. */
  close(): Promise<void>;
}

export interface IdempotencyDependencies {
  database: Database;
  holder: Holder;
  marks: ArgumentsMarks;
  newId: NewId;
  onError: (error: unknown) => void;
  waitMs?: number;
}

const KEEP_MS = 24 * 60 * 60 * 1000;
const LOOK_MS = 20;
const LOOK_MS_MAX = 500;
const FORGET_MINUTES = 10;
const FORGET_BATCH = 5_000;
const FORGET_BATCHES_MAX = 200;

/** Whether the key stands for a call still, whatever became of it. */
export function hasBegun(database: Database, call: KeyedCall): Promise<boolean> {
  return findUnexpired(database, call);
}

/**
 * A key is claimed by the row that records the intent, before anything is sent; the result is stored after. Any
 * process that meets the key later finds the result, a call that still runs, or a call that died on the way, and in
 * none of these cases sends anything.
 */
export function createIdempotency(deps: IdempotencyDependencies): Idempotency {
  const { database, marks, newId, waitMs = KEY_WAIT_MS } = deps;
  const unanswered = createUnansweredClaims(deps);

  async function claim(call: ClaimingCall): Promise<KeyClaim> {
    const { args, mayRun = true, signal, ...keyed } = call;
    const mark = await marks.of(args, ['call', keyed.customerId, keyed.tool, keyed.key]);
    const deadline = performance.now() + waitMs;
    for (let lookMs = LOOK_MS; ; lookMs = Math.min(lookMs * 2, LOOK_MS_MAX)) {
      const mine = mayRun ? await take(keyed, mark.kept) : undefined;
      if (mine !== undefined) return mine;
      const stored = await findCall(database, keyed);
      // Freed in between, by a first call that did nothing: ours may be the first now.
      if (stored === null && mayRun) continue;
      if (stored === null) return { kind: 'freed' };
      if (!isMarkOf(mark, stored.argumentsHash)) return { kind: 'other_arguments' };
      if (stored.result !== null) return { kind: 'replay', resultJson: stored.result };
      if (!stored.holderAlive) return { kind: 'unknown' };
      if (performance.now() >= deadline) return { kind: 'running' };
      const isCanceled = await pause(lookMs, false, { signal }).catch(() => true);
      if (isCanceled) return { kind: 'canceled' };
    }
  }

  async function take(keyed: KeyedCall, argumentsHash: Buffer): Promise<ClaimedKey | undefined> {
    const mine = { ...keyed, holder: await deps.holder.current(), claim: newId('clm') };
    const expiresAt = await insert(mine, argumentsHash);
    return expiresAt && claimed(mine, expiresAt);
  }

  async function insert(claim: Claim, argumentsHash: Buffer): Promise<Date | undefined> {
    try {
      return await insertIntent(database, { ...claim, argumentsHash, keepMs: KEEP_MS });
    } catch (error) {
      unanswered.free(claim);
      throw error;
    }
  }

  /** The call itself is over when these run: a failure here must not hide its result. */
  function claimed(claim: Claim, expiresAt: Date): ClaimedKey {
    return {
      kind: 'claimed',
      expiresAt,
      ending: (resultJson) => ({ item: { ...claim, resultJson } as never, write: endKeys }),
      async release() {
        try {
          await deleteIntents(database, [claim]);
        } catch (error) {
          unanswered.free(claim);
          deps.onError(error);
        }
      },
    };
  }

  async function forgetExpired(): Promise<void> {
    for (let batch = 0; batch < FORGET_BATCHES_MAX; batch += 1) {
      if ((await deleteExpiredCalls(database, FORGET_BATCH)) < FORGET_BATCH) return;
    }
  }

  return {
    claim,
    jobs: {
      handlers: [{ name: 'mcp.forget_keys', handle: forgetExpired }],
      cron: [{ name: 'mcp.forget_keys', schedule: everyMinutes(FORGET_MINUTES) }],
    },
    close: unanswered.close,
  };
}

interface KeyEnding extends Claim {
  resultJson: string | null;
}

async function endKeys(tx: Queryable, endings: readonly KeyEnding[]): Promise<void> {
  const done = endings.flatMap(({ resultJson, ...claim }) =>
    resultJson === null ? [] : { ...claim, result: resultJson },
  );
  const freed = endings.filter(({ resultJson }) => resultJson === null);
  if (done.length > 0) await storeResults(tx, done);
  if (freed.length > 0) await deleteIntents(tx, freed);
}

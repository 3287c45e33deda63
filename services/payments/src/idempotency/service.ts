import type { Database, Transaction } from '@libs/db';
import { sealedColumn } from '@libs/rotation';
import type { Sealer } from '@libs/seal';
import { errors } from '../errors.ts';
import type { ByMode, Mode } from '../tenant.ts';
import { contextOf, openAnswer, sealAnswer } from './kept-answer.ts';
import { fingerprintOf } from './key.ts';
import { createPlainFingerprints } from './plain-fingerprints.ts';
import { deleteKeysBefore, findResponse, insertResponse, type KeyPlace, lockPlace } from './store.ts';

export const KEY_RETENTION_DAYS = 30;
const WAITING_MAX = 10_000;

export interface KeptResponse {
  readonly status: number;
  /** JSON, made once: a replay is the same bytes. */
  readonly body: string;
}

export interface IdempotentRequest {
  readonly tenantId: string;
  readonly mode: Mode;
  readonly path: string;
  /** Null where the caller sent none: then the work is simply done. */
  readonly key: string | null;
  readonly body: unknown;
  /** Lets the work be done or throws, outside of its transaction; whoever is answered as before is not asked. */
  readonly before: (() => Promise<void>) | null;
}

export interface Idempotency {
  /**
   * Does the work once per key: its effects and its answer commit together, and every repeat gets that answer.
   * Work that throws leaves nothing behind, so the key is free again.
   */
  once(
    request: IdempotentRequest,
    work: (tx: Transaction) => Promise<KeptResponse>,
  ): Promise<KeptResponse & { replayed: boolean }>;
  /** Forgets a bounded number of keys that are older than promised; answers how many. */
  sweep(limit: number): Promise<number>;
  /** Seals what an earlier version left in the clear of bodies with account numbers; answers how many places it looked at. */
  sealFingerprints(limit: number): Promise<number>;
}

export interface IdempotencyDependencies {
  /** Work is done in the connections of its own mode; the operator's counts as live. */
  databases: ByMode<Database>;
  sealer: Sealer;
  now: () => Date;
}

/** For every POST but the one that creates payments, which is written in batches and has its own way. */
export function createIdempotency({ databases, sealer, now }: IdempotencyDependencies): Idempotency {
  const tails = new Map<string, Promise<unknown>>();

  /** Within a process repeats wait here, without a connection; the lock in the database is for other processes. */
  async function inTurn<T>(place: KeyPlace, work: () => Promise<T>): Promise<T> {
    const slot = JSON.stringify([place.tenantId, place.path, place.key]);
    if (tails.size >= WAITING_MAX) throw errors.overloaded({ retryAfterSeconds: 1 });
    const turn = (tails.get(slot) ?? Promise.resolve()).then(work, work);
    tails.set(slot, turn);
    try {
      return await turn;
    } finally {
      if (tails.get(slot) === turn) tails.delete(slot);
    }
  }

  return {
    async once(request, work) {
      const { tenantId, path, key, before } = request;
      const database = databases[request.mode];
      if (key === null) {
        await before?.();
        return { ...(await database.transaction(work)), replayed: false };
      }
      const place = { tenantId, path, key };
      const fingerprint = fingerprintOf(request.body);
      return inTurn(place, async () => {
        if (before !== null && (await findResponse(database, place)) === undefined) await before();
        return database.transaction(async (tx) => {
          await lockPlace(tx, place);
          const stored = await findResponse(tx, place);
          if (stored !== undefined) {
            const first = openAnswer(sealer, place, stored);
            if (!first.fingerprint.equals(fingerprint)) throw errors.idempotency_key_reused();
            return { status: stored.status, body: first.body, replayed: true };
          }
          const answer = await work(tx);
          await insertResponse(tx, place, {
            ...sealAnswer(sealer, place, { fingerprint, body: answer.body }),
            status: answer.status,
            createdAt: now(),
          });
          return { ...answer, replayed: false };
        });
      });
    },

    sweep: (limit) =>
      deleteKeysBefore(databases.live, new Date(now().getTime() - KEY_RETENTION_DAYS * 86_400_000), limit),

    sealFingerprints: createPlainFingerprints({ database: databases.live, sealer, now }),
  };
}

export const sealedAnswers = sealedColumn({
  table: 'idempotency_keys',
  column: 'response_sealed',
  key: { tenant_id: 'text', path: 'text', key: 'text' },
  contextOf: (row) => contextOf({ tenantId: row.tenant_id, path: row.path, key: row.key }),
});

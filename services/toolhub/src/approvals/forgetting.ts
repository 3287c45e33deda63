import type { Database } from '@libs/db';
import type { AuditService } from '../audit/service.ts';
import { deleteOld, noteExpired } from './store.ts';

export interface ForgettingDependencies {
  database: Database;
  audit: Pick<AuditService, 'recordIn'>;
  now: () => Date;
  /** How long one is known after it expired. */
  keepMs: number;
}

const FORGET_BATCH = 1_000;
const FORGET_BATCHES_MAX = 100;

/** Removes calls whose time is long over, and before that tells of those that nobody decided on. */
export function createForgetting({
  database,
  audit,
  now,
  keepMs,
}: ForgettingDependencies): () => Promise<void> {
  /** The log says what became of a call that nobody decided on; that it does is marked in the same transaction. */
  function noteSomeLapsed(): Promise<number> {
    return database.transaction(async (tx) => {
      const lapsed = await noteExpired(tx, { now: now(), limit: FORGET_BATCH });
      await audit.recordIn(
        tx,
        lapsed.map(({ customerId, id }) => ({
          ...{ customerId, actor: { type: 'system' as const, id: 'approvals' }, action: 'approval.expired' },
          ...{ target: id, outcome: 'refused' as const, ip: null, requestId: null },
        })),
      );
      return lapsed.length;
    });
  }

  async function noteLapsed(): Promise<void> {
    for (let batch = 0; batch < FORGET_BATCHES_MAX; batch += 1)
      if ((await noteSomeLapsed()) < FORGET_BATCH) return;
  }

  async function forget(): Promise<void> {
    await noteLapsed();
    const before = new Date(now().getTime() - keepMs);
    for (let batch = 0; batch < FORGET_BATCHES_MAX; batch += 1) {
      if ((await deleteOld(database, { before, limit: FORGET_BATCH })) < FORGET_BATCH) return;
    }
  }

  return forget;
}

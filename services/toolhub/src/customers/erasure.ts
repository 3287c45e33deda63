import type { Database, Queryable } from '@libs/db';
import { enqueueJobs, type Handler, type Job } from '@libs/jobs';
import { deleteAccess, deleteAccount, deleteGrants, deleteRowsOf, listTokenIds } from './erasure-store.ts';
import type { Revocations } from './revocations.ts';

export interface ErasureDependencies {
  database: Database;
  revocations: Pick<Revocations, 'transaction' | 'announce'>;
  /** In the same transaction: what platforms hold for the customer alone, such as a phone number. */
  forgetPlatforms(tx: Queryable, customerId: string): Promise<void>;
  /** In the same transaction, and before anything goes: what the account owes is put on paper. */
  settleAccount(tx: Queryable, customerId: string): Promise<void>;
  now: () => Date;
}

/** The end of an account: from its commit on nobody can get in, and what is left is removed piece by piece. */
export interface Erasure {
  erase(customerId: string): Promise<void>;
  /**
   * The owner of an address has come to an account that somebody opened with it: whatever that one left to get in by, to
   * listen with or to be used goes in the caller's transaction.
   */
  reclaim(tx: Queryable, customerId: string): Promise<void>;
  readonly handlers: readonly Handler[];
}

const JOB = 'customers.erase';
const ROWS_AT_ONCE = 5_000;
/** A call that was under way writes its usage and its audit entry when it ends, at the latest when the sweep has given up its holder. */
const LATE_WRITERS_MS = 20 * 60_000;

export function createErasure(deps: ErasureDependencies): Erasure {
  const { database } = deps;

  async function removeRest(customerId: string, signal: AbortSignal): Promise<void> {
    for (let removed = ROWS_AT_ONCE; removed > 0 && !signal.aborted; )
      removed = await deleteRowsOf(database, customerId, ROWS_AT_ONCE);
    signal.throwIfAborted();
  }

  return {
    async erase(customerId) {
      await deps.revocations.transaction(async (tx, revoke) => {
        await deps.settleAccount(tx, customerId);
        for (const tokenId of await listTokenIds(tx, customerId)) await revoke({ tokenId });
        await deps.forgetPlatforms(tx, customerId);
        await deleteAccount(tx, customerId);
        const job = { name: JOB, payload: { customerId } };
        const late = { ...job, runAt: new Date(deps.now().getTime() + LATE_WRITERS_MS) };
        await enqueueJobs(tx, database.schema, [job, late]);
      });
    },

    async reclaim(tx, customerId) {
      await deleteGrants(tx, customerId);
      for (const tokenId of await listTokenIds(tx, customerId)) {
        await deps.revocations.announce(tx, { tokenId });
      }
      await deps.forgetPlatforms(tx, customerId);
      await deleteAccess(tx, customerId);
    },

    handlers: [
      {
        name: JOB,
        batchMax: 1,
        handle: async (jobs, { signal }) => {
          for (const { payload } of jobs as readonly Job<{ customerId: string }>[])
            await removeRest(payload.customerId, signal);
        },
      },
    ],
  };
}

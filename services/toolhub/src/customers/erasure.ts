import type { Database, Queryable } from '@libs/db';
import { completeJobs, enqueueJobs, type Handler, type Job, type NewJob } from '@libs/jobs';
import { NAME_CHARACTERS_MAX } from './customer.ts';
import {
  deleteAccess,
  deleteAccount,
  deleteCredentials,
  deleteGrants,
  deleteRowsOf,
  listTokenIds,
} from './erasure-store.ts';
import type { Revocations } from './revocations.ts';
import { findCustomer, lockCustomer, renameCustomer } from './store.ts';

export interface ErasureDependencies<Open> {
  database: Database;
  revocations: Pick<Revocations, 'transaction' | 'announce'>;
  /** In the same transaction: what platforms hold for the customer alone, such as a phone number. */
  forgetPlatforms(tx: Queryable, customerId: string): Promise<void>;
  /** In the same transaction: what was ordered, what it costs, and what was to stand on invoices. */
  forgetOrders(tx: Queryable, customerId: string): Promise<void>;
  accounts: {
    /** In the same transaction, and before anything goes: what the account owes is put on paper, or given back for later: a job keeps it. */
    settle(tx: Queryable, customerId: string): Promise<Open | null>;
    /** False where it waits still for what the account did last. */
    settleLate(tx: Queryable, open: Open, how: { waits: boolean }): Promise<boolean>;
  };
  now: () => Date;
}

/** The end of an account: from its commit on nobody can get in, and what is left is removed piece by piece. */
export interface Erasure {
  /** `holdProof`, in its transaction, throws where whoever asked for it is no longer known to be the owner. */
  erase(customerId: string, holdProof: (tx: Queryable) => Promise<void>): Promise<void>;
  /**
   * The owner of an address has come to an account that somebody opened with it: whatever that one left to get in by, to
   * listen with, to be used, to be paid or to be read goes in the caller's transaction.
   */
  reclaim(tx: Queryable, customerId: string): Promise<void>;
  readonly handlers: readonly Handler[];
}

const JOB = 'customers.erase';
const SETTLE_JOB = 'customers.settle';
/** Calls end within a minute, and those of a process that died when the sweep gives up its holder. */
const CALLS_WAIT_MS = 2_000;
const ROWS_AT_ONCE = 5_000;
/** A call that was under way writes its usage and its audit entry when it ends, at the latest when the sweep has given up its holder. */
const LATE_WRITERS_MS = 20 * 60_000;

interface SettlePayload<Open> {
  customerId: string;
  open: Open;
  /** Whatever is not counted by then never will be. */
  waitsUntilMs: number;
}

/** It stands on invoices, so it is no longer one that somebody chose; the owner has given none yet. */
async function forgetName(tx: Queryable, customerId: string): Promise<void> {
  const customer = await findCustomer(tx, customerId);
  if (customer !== undefined)
    await renameCustomer(tx, customerId, customer.email.slice(0, NAME_CHARACTERS_MAX));
}

const customersOf = (jobs: readonly Job[]) =>
  (jobs as readonly Job<{ customerId: string }>[]).map(({ payload }) => [payload.customerId]);

export function createErasure<Open>(deps: ErasureDependencies<Open>): Erasure {
  const { database } = deps;
  const inMs = (ms: number) => new Date(deps.now().getTime() + ms);

  async function removeRest(customerId: string, signal: AbortSignal): Promise<void> {
    for (let removed = ROWS_AT_ONCE; removed > 0 && !signal.aborted; )
      removed = await deleteRowsOf(database, customerId, ROWS_AT_ONCE);
    signal.throwIfAborted();
  }

  function eraseJobs(customerId: string): NewJob[] {
    const job = { name: JOB, payload: { customerId } };
    return [job, { ...job, runAt: inMs(LATE_WRITERS_MS) }];
  }

  function settleJob(payload: SettlePayload<Open>): NewJob {
    return { name: SETTLE_JOB, payload, runAt: inMs(CALLS_WAIT_MS) };
  }

  /** What its last calls cost is known when they have ended; what they are counted in goes after that. */
  async function settleLate(job: Job<SettlePayload<Open>>): Promise<void> {
    const { customerId, open, waitsUntilMs } = job.payload;
    const waits = deps.now().getTime() < waitsUntilMs;
    await database.transaction(async (tx) => {
      const isDone = await deps.accounts.settleLate(tx, open, { waits });
      const next = isDone ? eraseJobs(customerId) : [settleJob(job.payload)];
      await enqueueJobs(tx, database.schema, next);
      await completeJobs(tx, [job]);
    });
  }

  return {
    async erase(customerId, holdProof) {
      await deps.revocations.transaction(async (tx, revoke) => {
        const open = await deps.accounts.settle(tx, customerId);
        // Before the credentials, as whoever connects a platform locks them. Where another has closed it, that one has planted what
        // follows, and may wait for the calls that a job of this one would erase.
        if (!(await lockCustomer(tx, customerId))) return;
        await holdProof(tx);
        for (const tokenId of await listTokenIds(tx, customerId)) await revoke({ tokenId });
        await deleteCredentials(tx, customerId);
        await deps.forgetPlatforms(tx, customerId);
        await deleteAccount(tx, customerId);
        const waitsUntilMs = inMs(LATE_WRITERS_MS).getTime();
        const jobs = open === null ? eraseJobs(customerId) : [settleJob({ customerId, open, waitsUntilMs })];
        await enqueueJobs(tx, database.schema, jobs);
      });
    },

    async reclaim(tx, customerId) {
      await deleteGrants(tx, customerId);
      for (const tokenId of await listTokenIds(tx, customerId)) {
        await deps.revocations.announce(tx, { tokenId });
      }
      await deleteCredentials(tx, customerId);
      await deps.forgetPlatforms(tx, customerId);
      await deleteAccess(tx, customerId);
      await deps.forgetOrders(tx, customerId);
      await forgetName(tx, customerId);
    },

    handlers: [
      {
        name: JOB,
        batchMax: 1,
        tenantsOf: customersOf,
        handle: async (jobs, { signal }) => {
          for (const { payload } of jobs as readonly Job<{ customerId: string }>[])
            await removeRest(payload.customerId, signal);
        },
      },
      {
        name: SETTLE_JOB,
        batchMax: 1,
        // It alone knows what the account owes, and nothing is erased before it: it is tried until it succeeds.
        attemptsMax: Number.MAX_SAFE_INTEGER,
        tenantsOf: customersOf,
        handle: async (jobs) => {
          for (const job of jobs as readonly Job<SettlePayload<Open>>[]) await settleLate(job);
        },
      },
    ],
  };
}

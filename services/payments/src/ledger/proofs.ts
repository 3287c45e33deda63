import type { Database } from '@libs/db';
import { type CronEntry, enqueueJobs, everyMinutes, type Handler, type Job } from '@libs/jobs';
import type { Tenant } from '../tenant.ts';
import {
  type CheckRow,
  countTransfers,
  findOldProofs,
  findProof,
  keepProof,
  type Proof,
  runChecks,
} from './report-store.ts';

/** Smaller books are proved anew at every question: the answer is about this moment, and takes a few seconds at most. */
const LARGE_TRANSFERS = 100_000;
/** The proof of large books stands for this many times as long as it took, so that asking all the time costs little. */
const STANDS_TIMES = 60;
/** Whoever asks after that has the last one, and a new one is made meanwhile; one that is older than this is no answer. */
const OLD_MS = 24 * 60 * 60_000;
/** So that nobody has to wait for one, they are renewed before they are old. */
const RENEWED_MS = OLD_MS / 2;
const RENEWED_PER_RUN_MAX = 1_000;

const PROVE_JOB = 'ledger.prove';
const RENEW_JOB = 'ledger.renew_proofs';
/** Two million transfers take some twenty seconds. */
const PROVE_LEASE_MS = 5 * 60_000;

/** Proves the books from the entries alone: sums, balances, and that each payment's entries fit its state. */
export async function checkLedger(database: Database, { id }: Tenant, now: Date) {
  const last = await findProof(database, id);
  if (last === undefined || !isRight(last) || ageMsOf(last, now) >= OLD_MS)
    return proofToApi(await prove(database, id, now));
  if (ageMsOf(last, now) >= STANDS_TIMES * last.tookMs) await askForProofs(database, [id]);
  return proofToApi(last);
}

function askForProofs(database: Database, tenantIds: readonly string[]): Promise<void> {
  const jobs = tenantIds.map((id) => ({ name: PROVE_JOB, key: id, payload: { tenant_id: id } }));
  return enqueueJobs(database, database.schema, jobs);
}

async function prove(database: Database, tenantId: string, now: Date, signal?: AbortSignal): Promise<Proof> {
  const startedMs = performance.now();
  const found = await database.transaction(
    async (tx) => ({
      transfers: await countTransfers(tx, tenantId),
      rows: await runChecks(tx, tenantId, signal),
    }),
    { isolation: 'repeatable read', readOnly: true, report: true },
  );
  const proof = { ...found, checkedAt: now, tookMs: performance.now() - startedMs };
  if (found.transfers >= LARGE_TRANSFERS) await keepProof(database, tenantId, proof);
  return proof;
}

/** One that found something wrong is made anew at every question. */
const isRight = ({ rows, transfers }: Proof) =>
  transfers >= LARGE_TRANSFERS && rows.every((row: CheckRow) => row.wrong === 0);

const ageMsOf = ({ checkedAt }: Proof, now: Date) => Math.abs(now.getTime() - checkedAt.getTime());

function proofToApi({ rows, checkedAt }: Proof) {
  const checks = rows.map(({ name, wrong, example }) => ({
    name,
    ok: wrong === 0,
    detail: wrong === 0 ? 'Nothing is wrong.' : `${wrong} wrong, for example ${example}.`,
  }));
  return {
    object: 'ledger_check' as const,
    ok: checks.every((check) => check.ok),
    checks,
    checked_at: checkedAt.toISOString(),
  };
}

export interface LedgerProofs {
  handlers: readonly Handler[];
  cron: CronEntry;
}

/** The work behind `checkLedger`: proofs of large books that somebody asked for, or that grow old. */
export function createLedgerProofs(deps: { database: Database; now: () => Date }): LedgerProofs {
  const { database, now } = deps;
  return {
    handlers: [
      {
        name: PROVE_JOB,
        batchMax: 1,
        leaseMs: PROVE_LEASE_MS,
        tenantsOf: (jobs) =>
          (jobs as readonly Job<{ tenant_id: string }>[]).map(({ payload }) => [payload.tenant_id]),
        async handle(jobs, { signal }) {
          for (const { payload } of jobs as readonly Job<{ tenant_id: string }>[])
            await prove(database, payload.tenant_id, now(), signal);
        },
      },
      {
        name: RENEW_JOB,
        batchMax: 1,
        async handle() {
          const before = new Date(now().getTime() - RENEWED_MS);
          await askForProofs(database, await findOldProofs(database, before, RENEWED_PER_RUN_MAX));
        },
      },
    ],
    cron: { name: RENEW_JOB, schedule: everyMinutes(60) },
  };
}

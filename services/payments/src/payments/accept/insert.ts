import { type Queryable, withinTransaction } from '@libs/db';
import { enqueueJobs } from '@libs/jobs';
import { writeEvents } from '../../events/service.ts';
import { jobNameFor } from '../../job-lanes.ts';
import { writeTransfers } from '../../ledger/service.ts';
import { SCHEMA } from '../../migrations.ts';
import { SUBMIT_JOB } from '../submit-job.ts';
import { type Acceptance, type Claims, compareKeys, type Versions } from './acceptance.ts';
import { claimKeysApart, insertPaymentsApart, lockVersion } from './spread-store.ts';
import { insertAccepted, type Keys } from './store.ts';

/** Accepts payments by one statement, where tables lie on one server. */
export function insertAcceptances(
  db: Queryable,
  acceptances: readonly Acceptance[],
  { versions, keys = 'unknown' }: { versions: Versions; keys?: Keys },
): Promise<Claims> {
  return db.isSpread
    ? withinTransaction(db, (tx) => insertApart(tx, acceptances, versions))
    : insertAccepted(db, acceptances, { versions, keys });
}

/**
 * The same as the one statement, for tables that are spread over servers: each tenant by statements of its own, in one
 * order whoever writes, and all of them in one transaction.
 */
async function insertApart(
  tx: Queryable,
  acceptances: readonly Acceptance[],
  versions: Versions,
): Promise<Claims> {
  const stale = new Set<string>();
  for (const [tenantId, version] of [...versions].sort(([a], [b]) => (a < b ? -1 : 1)))
    if ((await lockVersion(tx, tenantId)) !== version) stale.add(tenantId);
  const fresh = acceptances.filter(({ payment }) => !stale.has(payment.tenantId)).toSorted(compareKeys);
  const claimed = await claimKeysApart(tx, fresh);
  const accepted = fresh.filter(({ event }) => claimed.has(event.id));
  if (accepted.length > 0) await insertAll(tx, accepted);
  return { claimed, stale };
}

async function insertAll(tx: Queryable, accepted: readonly Acceptance[]): Promise<void> {
  await insertPaymentsApart(tx, accepted);
  await writeEvents(
    tx,
    accepted.map(({ event }) => event),
  );
  await writeTransfers(
    tx,
    accepted.map(({ hold }) => hold),
  );
  const payments = accepted.map(({ payment }) => payment);
  const byJob = Map.groupBy(payments, ({ mode }) => jobNameFor(SUBMIT_JOB, mode));
  await enqueueJobs(
    tx,
    SCHEMA,
    [...byJob].map(([name, some]) => ({ name, payload: some.map(({ tenantId, id }) => [tenantId, id]) })),
  );
}

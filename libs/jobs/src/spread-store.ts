import { type Database, textArray } from '@libs/db';
import type { Job } from './store.ts';

// SQL of claims where tables are spread: jobs are looked at, then those are taken whose servers are there.

/** One that is due, and nobody's. */
export interface DueJob extends Job {
  /** The row as it was seen: what a later one is about may not be seen everywhere yet. */
  readonly version: string;
}

export async function readDue(db: Database, options: { name: string; limit: number }): Promise<DueJob[]> {
  const { rows } = await db.query<DueJob>({ name: 'jobs.due', text: DUE }, [options.name, options.limit]);
  return rows;
}

const DUE = `
select id, name, payload, key, attempts + 1 as attempt, traceparent, xmin::text as version
from jobs where name = $1 and failed_at is null and ready_at <= statement_timestamp()
order by ready_at, id limit $2`;

/** Takes those of them on lease that are still as they were seen; `claimJobs` says what a lease is. */
export async function claimDue(db: Database, jobs: readonly DueJob[], leaseMs: number): Promise<Job[]> {
  const { rows } = await db.query<Job>({ name: 'jobs.claim_due', text: CLAIM_DUE }, [
    ...seenColumns(jobs),
    leaseMs,
  ]);
  return rows.sort((a, b) => a.id - b.id);
}

/** So long nobody looks at them, and no try of theirs is used up. */
export async function putOff(db: Database, jobs: readonly DueJob[], waitMs: number): Promise<void> {
  await db.query({ name: 'jobs.put_off', text: PUT_OFF }, [...seenColumns(jobs), waitMs]);
}

function seenColumns(jobs: readonly DueJob[]) {
  return [jobs.map((job) => job.id), textArray(jobs.map((job) => job.version))];
}

const SEEN = `
  select id from jobs where id = any($1::bigint[]) and failed_at is null and ready_at <= statement_timestamp()
    and xmin::text = ($2::text[])[array_position($1::bigint[], id)]
  for update skip locked`;

const CLAIM_DUE = `
update jobs set attempts = attempts + 1, ready_at = statement_timestamp() + $3 * interval '1 millisecond'
where id in (${SEEN}
)
returning id, name, payload, key, attempts as attempt, traceparent`;

const PUT_OFF = `
update jobs set ready_at = statement_timestamp() + $3 * interval '1 millisecond'
where id in (${SEEN}
)`;

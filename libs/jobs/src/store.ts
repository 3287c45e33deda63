import { isTransaction, jsonbArray, type Queryable, textArray } from '@libs/db';

export interface NewJob {
  name: string;
  payload: unknown;
  /** The earliest moment it may run; now when absent. */
  runAt?: Date;
  /** While a job of this name and key waits for its first try, another is not added: the earlier time is kept. Once tried in vain, they are one again. */
  key?: string;
}

export interface Job<Payload = unknown> {
  id: number;
  name: string;
  payload: Payload;
  key: string | null;
  /** Which try this is, from 1; with the id it proves that the lease is still ours. */
  attempt: number;
  /** Whose request it follows from, where somebody said so; of several things, whose for each (see `trace.ts`). */
  traceparent?: string | null;
}

/** One channel per schema, so that two services on one database do not wake each other. */
export function wakeChannel(schema: string): string {
  return `${schema}_jobs`;
}

/** Adds jobs in the caller's transaction, all in one statement, and wakes the workers when it commits. */
export async function enqueueJobs(tx: Queryable, schema: string, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const unique = mergeSameKeys(jobs);
  const columns = [
    textArray(unique.map((job) => job.name)),
    jsonbArray(unique.map((job) => JSON.stringify(job.payload))),
    textArray(unique.map((job) => job.key ?? null)),
    unique.map((job) => job.runAt ?? null),
  ];
  if (!tx.isSpread) {
    await tx.query({ name: 'jobs.enqueue', text: ENQUEUE }, [...columns, wakeChannel(schema)]);
    return;
  }
  // Part of a statement over tables that are spread may run on any server; those who listen are at the first.
  await tx.query({ name: 'jobs.add', text: ADD }, columns);
  for (const name of new Set(unique.map((job) => job.name)))
    await tx.query({ name: 'jobs.wake', text: 'select pg_notify($1, $2)' }, [wakeChannel(schema), name]);
}

/**
 * The same for a statement that writes its jobs together with everything else: two of its common table expressions, for
 * `rows` of name, payload and what it carries of traces. Its select has to count `woken`, or nobody is. Rejected: a function of the
 * database for it, which took a twelfth of Postgres's work for a small batch of payments.
 */
export function enqueueWithin(rows: string): string {
  return `queued as (
  insert into jobs (name, payload, ready_at, traceparent)
  select name, payload, now(), traceparent from (${rows}) as new (name, payload, traceparent) returning name
), woken as materialized (
  select pg_notify(current_schema() || '_jobs', name)::text from queued
)`;
}

/** One statement may touch a waiting row once only, so equal keys are brought together before it. */
function mergeSameKeys(jobs: readonly NewJob[]): NewJob[] {
  const kept = new Map<string, NewJob>();
  const merged: NewJob[] = [];
  for (const job of jobs) {
    const slot = `${job.name}\n${job.key}`;
    const earlier = job.key === undefined ? undefined : kept.get(slot);
    if (!earlier) {
      const copy = { ...job };
      kept.set(slot, copy);
      merged.push(copy);
    } else if (job.runAt === undefined) delete earlier.runAt;
    else if (earlier.runAt !== undefined && job.runAt < earlier.runAt) earlier.runAt = job.runAt;
  }
  return merged;
}

const ADD = `
  insert into jobs (name, payload, key, ready_at)
  select name, payload, key, coalesce(run_at, now())
  from unnest($1::text[], $2::jsonb[], $3::text[], $4::timestamptz[]) as new (name, payload, key, run_at)
  on conflict (name, key) where key is not null and attempts = 0
  do update set ready_at = least(jobs.ready_at, excluded.ready_at), payload = excluded.payload
  returning name`;
const ENQUEUE = `
with added as (${ADD}
)
select pg_notify($5, name)::text from (select distinct name from added) as names`;

/**
 * Takes due jobs on lease: until the lease runs out nobody else takes them, and a process that dies gives them back
 * by doing nothing. `skip locked` lets workers of all processes claim side by side. Where tables are spread, `claimNext` looks first.
 */
export async function claimJobs(
  db: Queryable,
  options: { name: string; limit: number; leaseMs: number },
): Promise<Job[]> {
  const { rows } = await db.query<Job>({ name: 'jobs.claim', text: CLAIM }, [
    options.name,
    options.limit,
    options.leaseMs,
  ]);
  return rows.sort((a, b) => a.id - b.id);
}

const CLAIM = `
update jobs set attempts = attempts + 1, ready_at = statement_timestamp() + $3 * interval '1 millisecond'
where id in (
  select id from jobs where name = $1 and failed_at is null and ready_at <= statement_timestamp()
  order by ready_at, id limit $2 for update skip locked
)
returning id, name, payload, key, attempts as attempt, traceparent`;

/**
 * Marks jobs done. Called inside the transaction that holds their effect, it makes the effect happen once: a worker
 * that lost its lease to another finds its rows changed, and its transaction must not commit.
 */
export async function completeJobs(tx: Queryable, jobs: readonly Job[]): Promise<void> {
  const { rowCount } = await tx.query({ name: 'jobs.complete', text: COMPLETE }, [
    jobs.map((job) => job.id),
    jobs.map((job) => job.attempt),
  ]);
  if (rowCount !== jobs.length)
    throw new LeaseLost(`${jobs.length - rowCount} of ${jobs.length} jobs were taken over`);
  if (isTransaction(tx))
    tx.afterCommit(() => {
      for (const job of jobs) completed.add(job);
    });
}

const completed = new WeakSet<Job>();

/** Whether a transaction that marked this job done is known to have committed: nobody need do it again. */
export function isCompleted(job: Job): boolean {
  return completed.has(job);
}

const COMPLETE = `
delete from jobs where id = any($1::bigint[]) and attempts = ($2::int[])[array_position($1::bigint[], id)]`;

/** Another worker has these jobs now; whatever this one did must not be committed. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export async function extendLeases(db: Queryable, jobs: readonly Job[], leaseMs: number): Promise<void> {
  await db.query(
    `update jobs set ready_at = statement_timestamp() + $3 * interval '1 millisecond'
     where id = any($1::bigint[]) and attempts = ($2::int[])[array_position($1::bigint[], id)]`,
    [jobs.map((job) => job.id), jobs.map((job) => job.attempt), leaseMs],
  );
}

export async function failJob(
  db: Queryable,
  job: Job,
  outcome: { error: string; retryInMs: number | null; leaseMs: number },
): Promise<void> {
  const { error, retryInMs, leaseMs } = outcome;
  if (job.key !== null && retryInMs !== null) {
    await db.query({ name: 'jobs.retry', text: RETRY }, [job.id, job.attempt, error, retryInMs, leaseMs]);
    return;
  }
  await db.query(
    `update jobs set last_error = $3, ready_at = statement_timestamp() + $4::float8 * interval '1 millisecond',
       failed_at = ${retryInMs === null ? 'statement_timestamp()' : 'null'}
     where id = $1 and attempts = $2`,
    [job.id, job.attempt, error, retryInMs ?? 0],
  );
}

/**
 * A key stands for one thing to be done, so that of all that wait for another try the newest one stays, with the earliest time:
 * otherwise each that is added while the first ones wait would be tried beside them. One that is due later than a lease from now
 * is under way nowhere; one that is due earlier may be, and is left until its next try. What another statement holds is passed over:
 * two that fail at once would wait for each other.
 */
const RETRY = `
with own as (
  select id, name, key, statement_timestamp() + $4::float8 * interval '1 millisecond' as ready_at,
    statement_timestamp() + $5::float8 * interval '1 millisecond' as leased_until
  from jobs where id = $1 and attempts = $2 for update
), added as (
  select other.id, other.ready_at from jobs other, own
  where other.name = own.name and other.key = own.key and other.attempts = 0
  for update of other skip locked
), put_off as (
  select other.id, other.ready_at from jobs other, own
  where other.name = own.name and other.key = own.key and other.attempts > 0 and other.failed_at is null
    and other.id <> own.id and other.ready_at > own.leased_until
  for update of other skip locked
), waiting as (
  select * from added union all select * from put_off union all select id, ready_at from own
), newest as (
  select max(id) as id, min(ready_at) as ready_at from waiting
), removed as (
  delete from jobs where id in (select id from waiting) and id <> (select id from newest)
)
update jobs set ready_at = newest.ready_at, last_error = $3 from newest where jobs.id = newest.id`;

/** The time by which jobs are due. */
export async function readTime(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>('select statement_timestamp() as now');
  return rows[0]?.now as Date;
}

/** How long until the next of these jobs is due; null when none waits. */
export async function nextDueInMs(db: Queryable, name: string): Promise<number | null> {
  const { rows } = await db.query<{ wait: number | null }>(
    {
      name: 'jobs.next',
      text: `select extract(epoch from min(ready_at) - statement_timestamp())::float8 * 1000 as wait
             from jobs where name = $1 and failed_at is null`,
    },
    [name],
  );
  return rows[0]?.wait ?? null;
}

/** What waits of one kind of job. */
export interface QueueState {
  name: string;
  /** Due now; counted no further than the limit. */
  due: number;
  /** How long the one that waits longest has been due. */
  oldestDueSeconds: number;
  /** Given up, until somebody looks at them. */
  failed: number;
}

/** By the index, a bounded number of rows for each name: it may be asked while millions wait. */
export async function readQueues(
  db: Queryable,
  names: readonly string[],
  limit: number,
): Promise<QueueState[]> {
  const { rows } = await db.query<QueueState>({ name: 'jobs.queues', text: QUEUES }, [
    textArray([...names]),
    limit,
  ]);
  return rows;
}

const QUEUES = `
select wanted.name,
  (select count(*)::int from (select 1 from jobs due where due.name = wanted.name and due.failed_at is null
    and due.ready_at <= now() limit $2) as counted) as due,
  coalesce((select extract(epoch from now() - oldest.ready_at)::float8 from jobs oldest
    where oldest.name = wanted.name and oldest.failed_at is null and oldest.ready_at <= now()
    order by oldest.ready_at limit 1), 0) as "oldestDueSeconds",
  (select count(*)::int from (select 1 from jobs gone where gone.name = wanted.name and gone.failed_at is not null
    limit $2) as counted) as failed
from unnest($1::text[]) as wanted (name)`;

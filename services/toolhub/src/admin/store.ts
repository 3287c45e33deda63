import type { Queryable } from '@libs/db';
import type { AdminCustomer, FailedJob, JobSummary } from './overview.ts';

interface CustomerRow {
  id: string;
  email: string;
  name: string;
  plan: string;
  created_at: Date;
  suspended_at: Date | null;
  reason: string | null;
}

const SELECT = `select c.id, c.email, c.name, c.plan, c.created_at, s.suspended_at, s.reason
  from customers c left join suspended_customers s on s.customer_id = c.id`;

function fromRow(row: CustomerRow): AdminCustomer {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    plan: row.plan,
    createdAt: row.created_at,
    suspendedAt: row.suspended_at,
    suspensionReason: row.reason,
  };
}

/** Newest first; `before` is the id of the last one that was shown. */
export async function listCustomers(
  db: Queryable,
  query: { before: string | undefined; limit: number },
): Promise<AdminCustomer[]> {
  const { rows } = await db.query<CustomerRow>(
    `${SELECT} where ($1::text is null or c.id < $1) order by c.id desc limit $2`,
    [query.before ?? null, query.limit],
  );
  return rows.map(fromRow);
}

/** By the address as it is compared everywhere: without case, and in either spelling of its domain. */
export async function findCustomerByEmail(
  db: Queryable,
  emailKeys: readonly string[],
): Promise<AdminCustomer | undefined> {
  const { rows } = await db.query<CustomerRow>(
    `${SELECT} join customer_emails e on e.customer_id = c.id where e.email_key = any($1)
     order by array_position($1, e.email_key) limit 1`,
    [emailKeys],
  );
  return rows[0] && fromRow(rows[0]);
}

export async function findListedCustomer(db: Queryable, id: string): Promise<AdminCustomer | undefined> {
  const { rows } = await db.query<CustomerRow>(`${SELECT} where c.id = $1`, [id]);
  return rows[0] && fromRow(rows[0]);
}

/** One line for each name that has jobs, those that failed for good included. */
export async function summarizeJobs(db: Queryable): Promise<JobSummary[]> {
  const { rows } = await db.query<{
    name: string;
    due: number;
    scheduled: number;
    failed: number;
    attempts_max: number;
    next_run_at: Date | null;
    last_error: string | null;
  }>(
    `select name,
       count(*) filter (where failed_at is null and (ready_at <= now() or attempts > 0)) as due,
       count(*) filter (where failed_at is null and ready_at > now() and attempts = 0) as scheduled,
       count(*) filter (where failed_at is not null) as failed,
       max(attempts) as attempts_max,
       min(ready_at) filter (where failed_at is null) as next_run_at,
       (array_agg(last_error order by coalesce(failed_at, ready_at) desc) filter (where last_error is not null))[1]
         as last_error
     from jobs group by name order by name`,
  );
  return rows.map((row) => ({
    name: row.name,
    due: row.due,
    scheduled: row.scheduled,
    failed: row.failed,
    attemptsMax: row.attempts_max,
    nextRunAt: row.next_run_at,
    lastError: row.last_error,
  }));
}

/** Lets a job that was given up begin anew; false where there is none. */
export async function retryJob(tx: Queryable, id: number): Promise<boolean> {
  const { rows } = await tx.query<{ name: string }>(
    `with failed as (delete from jobs where id = $1 and failed_at is not null returning name, payload, key)
     insert into jobs (name, payload, key, ready_at) select name, payload, key, now() from failed
     on conflict (name, key) where key is not null and attempts = 0 do update set ready_at = excluded.ready_at
     returning name`,
    [id],
  );
  for (const { name } of rows) await tx.query(`select pg_notify(current_schema() || '_jobs', $1)`, [name]);
  return rows.length === 1;
}

/** Newest first. */
export async function listFailedJobs(
  db: Queryable,
  query: { before: number | undefined; limit: number },
): Promise<FailedJob[]> {
  const { rows } = await db.query<{
    id: number;
    name: string;
    attempts: number;
    failed_at: Date;
    last_error: string | null;
  }>(
    `select id, name, attempts, failed_at, last_error from jobs
     where failed_at is not null and ($1::bigint is null or id < $1) order by id desc limit $2`,
    [query.before ?? null, query.limit],
  );
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    attempts: row.attempts,
    failedAt: row.failed_at,
    lastError: row.last_error,
  }));
}

import {
  type Database,
  groupByTenant,
  type Queryable,
  textArray,
  timestamptzArray,
  withinTransaction,
} from '@libs/db';
import { type DeliveryResult, type EndpointRef, laneKey } from './delivery.ts';
import { endpointColumns } from './lane-store.ts';

// SQL of the results: from the queue to the log, retries, failures.

/** Manual retries may go on for ever; the log of one delivery may not. */
const ATTEMPTS_KEPT_MAX = 50;

/** The list of one that the log of a delivery grows by. */
function attemptsOf({ attempt }: DeliveryResult): string | null {
  return attempt && JSON.stringify([attempt]);
}

export type ResultStore = ReturnType<typeof createResultStore>;

/*
 * A result counts only where the number of tries is still the one that the try began with. So of two processes that
 * sent the same row, because one was taken for dead, the first to write wins and the other changes nothing.
 */
export function createResultStore(database: Database, schema: string) {
  // Nearly all are delivered by their first try, whose list of one is taken as it comes.
  const attempt = `coalesce(done.attempt::jsonb, '[]')`;
  const attempts = `case when jsonb_array_length(q.attempts) = 0 then ${attempt}
    when jsonb_array_length(q.attempts) < ${ATTEMPTS_KEPT_MAX} then q.attempts || ${attempt}
    else (q.attempts - 0) || ${attempt} end`;

  // Not prepared: a plan that was made while the queue was empty would read it whole when it is long.
  const taken = `taken as (
  delete from ${schema}.queue q
  using unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::timestamptz[],
    $8::timestamptz[]) as done (tenant_id, id, tries, status, attempt, url, finished_at, expires_at)
  where q.tenant_id = done.tenant_id and q.id = done.id and q.tries = done.tries
  returning q.tenant_id, q.id, q.endpoint_id, q.event_id, q.event_type, q.created_at, q.tries + 1,
    ${attempts}, done.status, coalesce(done.url, q.url), done.finished_at, done.expires_at
)
insert into ${schema}.deliveries (tenant_id, id, endpoint_id, event_id, event_type, created_at, tries, attempts, status,
  url, finished_at, expires_at)
select * from taken`;
  const recordAlone = `with ${taken} returning id`;
  const recordFinished = `with healthy as (
  delete from ${schema}.failing_endpoints f using unnest($9::text[], $10::text[]) as e (tenant_id, endpoint_id)
  where f.tenant_id = e.tenant_id and f.endpoint_id = e.endpoint_id
), ${taken}`;

  /** Where tables are spread, a delete that joins would go to every server: it names its tenant instead. */
  async function recordApart(
    tx: Queryable,
    columns: readonly unknown[],
    healthy: readonly EndpointRef[],
  ): Promise<string[]> {
    const { rows } = await tx.query<{ id: string }>(recordAlone, [...columns]);
    for (const [tenantId, ofTenant] of groupByTenant(healthy))
      await tx.query(
        {
          name: `${schema}.failing.healthy`,
          text: `delete from ${schema}.failing_endpoints where tenant_id = $1 and endpoint_id = any($2::text[])`,
        },
        [tenantId, ofTenant.map(({ endpointId }) => endpointId)],
      );
    return rows.map((row) => row.id);
  }

  /** From the queue to the log, in one statement where tables lie on one server; endpoints that answered well are healthy again. */
  async function record(
    tx: Queryable,
    results: readonly DeliveryResult[],
    returning: '' | ' returning id',
  ): Promise<string[]> {
    const delivered = results.filter((result) => result.kind === 'delivered');
    const healthy = [...new Map(delivered.map((result) => [laneKey(result), result])).values()];
    const columns = [
      textArray(results.map((result) => result.tenantId)),
      textArray(results.map((result) => result.id)),
      results.map((result) => result.tries),
      textArray(results.map((result) => result.status)),
      textArray(results.map(attemptsOf)),
      textArray(results.map((result) => result.url)),
      timestamptzArray(results.map((result) => result.finishedAt as Date)),
      results.map((result) => result.expiresAt),
    ];
    if (tx.isSpread) return withinTransaction(tx, (own) => recordApart(own, columns, healthy));
    const { rows } = await tx.query<{ id: string }>(recordFinished + returning, [
      ...columns,
      ...endpointColumns(healthy),
    ]);
    return rows.map((row) => row.id);
  }

  return {
    /** Gives the ids of the results that counted. */
    recordFinished: (tx: Queryable, results: readonly DeliveryResult[]) =>
      record(tx, results, ' returning id'),

    /** The same where nobody asks which of them counted. */
    async recordDelivered(tx: Queryable, results: readonly DeliveryResult[]): Promise<void> {
      await record(tx, results, '');
    },

    async recordRetries(tx: Queryable, results: readonly DeliveryResult[]): Promise<string[]> {
      const { rows } = await tx.query<{ id: string }>(
        `update ${schema}.queue q set due_at = done.due_at, tries = q.tries + 1, step = done.step, early = done.early,
  attempts = ${attempts}, url = done.url
from unnest($1::text[], $2::text[], $3::int[], $4::timestamptz[], $5::int[], $6::boolean[], $7::jsonb[], $8::text[])
  as done (tenant_id, id, tries, due_at, step, early, attempt, url)
where q.tenant_id = done.tenant_id and q.id = done.id and q.tries = done.tries
returning q.id`,
        [
          results.map((result) => result.tenantId),
          results.map((result) => result.id),
          results.map((result) => result.tries),
          results.map((result) => result.nextAttemptAt),
          results.map((result) => result.step),
          results.map((result) => result.early),
          results.map(attemptsOf),
          results.map((result) => result.url),
        ],
      );
      return rows.map((row) => row.id);
    },

    /** Notes the failures and gives the endpoints that have only failed since `since` or longer. */
    async noteFailures(
      tx: Queryable,
      refs: readonly EndpointRef[],
      at: Date,
      since: Date,
    ): Promise<EndpointRef[]> {
      const { rows } = await tx.query<{ tenant_id: string; endpoint_id: string; failing_since: Date }>(
        `insert into ${schema}.failing_endpoints as f (tenant_id, endpoint_id, failing_since)
select tenant_id, endpoint_id, $3 from unnest($1::text[], $2::text[]) as e (tenant_id, endpoint_id)
order by tenant_id, endpoint_id
on conflict (tenant_id, endpoint_id) do update set failing_since = least(f.failing_since, excluded.failing_since)
returning tenant_id, endpoint_id, failing_since`,
        [...endpointColumns(refs), at],
      );
      return rows
        .filter((row) => row.failing_since <= since)
        .map((row) => ({ tenantId: row.tenant_id, endpointId: row.endpoint_id }));
    },

    /** Puts rows off that could not be sent or written down. */
    async delay(refs: readonly { tenantId: string; id: string }[], notBefore: Date): Promise<void> {
      await database.query(
        `update ${schema}.queue q set due_at = $3 from unnest($1::text[], $2::text[]) as given (tenant_id, id)
where q.tenant_id = given.tenant_id and q.id = given.id and q.due_at < $3`,
        [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.id), notBefore],
      );
    },

    /** By the key, as many rows as the limit and no more. */
    async countQueued(limit: number): Promise<number> {
      const { rows } = await database.query<{ count: number }>(
        `select count(*)::int as count from (select 1 from ${schema}.queue limit $1) as counted`,
        [limit],
      );
      return rows[0]?.count ?? 0;
    },

    async isReachable(): Promise<boolean> {
      return database.query('select 1').then(
        () => true,
        () => false,
      );
    },
  };
}

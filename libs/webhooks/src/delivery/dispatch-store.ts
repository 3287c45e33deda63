import type { Database, Queryable } from '@libs/db';
import { LOOK_EVERYWHERE } from './announcement.ts';
import { type DeliveryResult, type DueDelivery, type EndpointRef, laneKey } from './delivery.ts';
import { checkSchemaName, deliveryChannel } from './schema.ts';

// SQL of the sending side: lanes, due rows, results, expiry.

/** A place in a lane's queue; the time is text, because it is finer than a Date. */
export interface QueueCursor {
  readonly at: string;
  readonly id: string;
}

export interface LaneWish extends EndpointRef {
  readonly rowsMax: number;
  /** Rows behind this place; all when absent. */
  readonly after: QueueCursor | undefined;
}

export interface FetchedDelivery extends DueDelivery {
  readonly at: string;
}

export interface LaneDue extends EndpointRef {
  readonly dueAt: Date;
}

interface LaneDueRow {
  tenant_id: string;
  endpoint_id: string;
  due_at: Date;
}

const LANES_PER_PAGE = 1_000;
const LANE_PAGES_MAX = 100;
const EXPIRED_PER_STATEMENT = 1_000;
const EXPIRE_STATEMENTS_MAX = 100;
/** Manual retries may go on for ever; the log of one delivery may not. */
const ATTEMPTS_KEPT_MAX = 50;
/** Rows are stamped to the microsecond and asked for by the millisecond. */
const STAMP_ROUNDING_MS = 1;

function toLaneDue(row: LaneDueRow): LaneDue {
  return { tenantId: row.tenant_id, endpointId: row.endpoint_id, dueAt: row.due_at };
}

function columns(refs: readonly EndpointRef[]): [string[], string[]] {
  return [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.endpointId)];
}

export type DispatchStore = ReturnType<typeof createDispatchStore>;

export function createDispatchStore(database: Database, schemaName: string) {
  const schema = checkSchemaName(schemaName);
  return {
    ...laneStatements(database, schema),
    ...resultStatements(database, schema),
    ...ownerStatements(database, schema),
  };
}

function laneStatements(database: Database, schema: string) {
  const queue = `${schema}.queue`;

  /*
   * Each lane gives up to its own number of rows, so a lane with a long queue takes no place from another; one query
   * over all rows ordered by time would be filled by that lane alone. The join with `lanes` gives nothing to a process
   * that was taken for dead and does not know it yet.
   */
  const fetchDue = `select due.tenant_id as "tenantId", due.endpoint_id as "endpointId", due.id, due.event_id as "eventId",
  due.tries, due.step, due.early, due.due_at::text as at
from unnest($1::text[], $2::text[], $3::int[], $4::timestamptz[], $5::text[])
  as wish (tenant_id, endpoint_id, rows_max, after_at, after_id)
join ${schema}.lanes using (tenant_id, endpoint_id)
cross join lateral (
  select * from ${queue} q
  where q.tenant_id = wish.tenant_id and q.endpoint_id = wish.endpoint_id and q.due_at <= $6
    and (q.due_at, q.id) > (wish.after_at, wish.after_id)
  order by q.due_at, q.id limit wish.rows_max
) as due
where lanes.owner = $7
order by due.due_at, due.id`;

  /* Steps from lane to lane through the index, so the cost grows with the lanes and not with the rows that wait. */
  const dueLanes = `with recursive lane as (
  (select tenant_id, endpoint_id from ${queue} where (tenant_id, endpoint_id) > ($1, $2)
   order by tenant_id, endpoint_id limit 1)
  union all
  (select next.tenant_id, next.endpoint_id from lane cross join lateral (
     select q.tenant_id, q.endpoint_id from ${queue} q
     where (q.tenant_id, q.endpoint_id) > (lane.tenant_id, lane.endpoint_id)
     order by q.tenant_id, q.endpoint_id limit 1
   ) as next)
)
select page.tenant_id, page.endpoint_id, first.due_at
from (select tenant_id, endpoint_id from lane limit ${LANES_PER_PAGE}) as page
cross join lateral (
  select q.due_at from ${queue} q where q.tenant_id = page.tenant_id and q.endpoint_id = page.endpoint_id
  order by q.due_at limit 1
) as first`;

  return {
    /**
     * Makes this process the only one that sends to these endpoints; gives those that nobody else has.
     *
     * The lock on the dispatcher's row lets an acquisition and the removal of its owner as dead exclude each other:
     * without it, lanes could stay with an owner that nobody will ever remove. A crash of the server that undoes an
     * acquisition also cuts its owner's session, so this commit need not wait for the disk.
     */
    async acquireLanes(owner: string, refs: readonly EndpointRef[]): Promise<EndpointRef[]> {
      const { rows } = await database.query<EndpointRef>(
        `with alive as materialized (
  select set_config('synchronous_commit', 'off', true)
  from (select 1 from ${schema}.dispatchers where id = $3 for key share) as own
)
insert into ${schema}.lanes (tenant_id, endpoint_id, owner)
select tenant_id, endpoint_id, $3 from alive cross join unnest($1::text[], $2::text[]) as wish (tenant_id, endpoint_id)
order by tenant_id, endpoint_id
on conflict do nothing
returning tenant_id as "tenantId", endpoint_id as "endpointId"`,
        [...columns(refs), owner],
      );
      return rows;
    },

    async releaseLanes(owner: string, refs: readonly EndpointRef[]): Promise<void> {
      await database.query(
        `delete from ${schema}.lanes using unnest($1::text[], $2::text[]) as given (tenant_id, endpoint_id)
where lanes.tenant_id = given.tenant_id and lanes.endpoint_id = given.endpoint_id and lanes.owner = $3`,
        [...columns(refs), owner],
      );
    },

    /** Due rows of owned lanes, in the order of each lane's queue. */
    async fetchDue(owner: string, wishes: readonly LaneWish[], at: Date): Promise<FetchedDelivery[]> {
      const { rows } = await database.query<FetchedDelivery>(fetchDue, [
        ...columns(wishes),
        wishes.map((wish) => wish.rowsMax),
        wishes.map((wish) => wish.after?.at ?? '-infinity'),
        wishes.map((wish) => wish.after?.id ?? ''),
        new Date(at.getTime() + STAMP_ROUNDING_MS),
        owner,
      ]);
      return rows;
    },

    /** When the named lanes have their next row behind a time up to which they were read, for those that have one. */
    async nextDue(refs: readonly EndpointRef[], after: Date): Promise<LaneDue[]> {
      const { rows } = await database.query<LaneDueRow>(
        `select lane.tenant_id, lane.endpoint_id, due.due_at
from unnest($1::text[], $2::text[]) as lane (tenant_id, endpoint_id)
cross join lateral (
  select q.due_at from ${queue} q
  where q.tenant_id = lane.tenant_id and q.endpoint_id = lane.endpoint_id and q.due_at > $3
  order by q.due_at limit 1
) as due`,
        [...columns(refs), after],
      );
      return rows.map(toLaneDue);
    },

    /** All lanes with a row that is due before `until`. */
    async findDueLanes(until: Date): Promise<LaneDue[]> {
      const found: LaneDue[] = [];
      let after: [string, string] = ['', ''];
      for (let page = 0; page < LANE_PAGES_MAX; page += 1) {
        const { rows } = await database.query<LaneDueRow>(dueLanes, after);
        for (const row of rows) if (row.due_at <= until) found.push(toLaneDue(row));
        const last = rows.at(-1);
        if (last === undefined || rows.length < LANES_PER_PAGE) break;
        after = [last.tenant_id, last.endpoint_id];
      }
      return found;
    },
  };
}

/*
 * A result counts only where the number of tries is still the one that the try began with. So of two processes that
 * sent the same row, because one was taken for dead, the first to write wins and the other changes nothing.
 */
function resultStatements(database: Database, schema: string) {
  const attempts = `(case when jsonb_array_length(q.attempts) < ${ATTEMPTS_KEPT_MAX} then q.attempts
    else q.attempts - 0 end) || coalesce(done.attempt, '[]')`;

  return {
    /**
     * From the queue to the log, in one statement; endpoints that answered well are healthy again. Gives the ids of the
     * results that counted.
     */
    async recordFinished(tx: Queryable, results: readonly DeliveryResult[]): Promise<string[]> {
      const delivered = results.filter((result) => result.kind === 'delivered');
      const healthy = [...new Map(delivered.map((result) => [laneKey(result), result])).values()];
      const { rows } = await tx.query<{ id: string }>(
        `with healthy as (
  delete from ${schema}.failing_endpoints f using unnest($9::text[], $10::text[]) as e (tenant_id, endpoint_id)
  where f.tenant_id = e.tenant_id and f.endpoint_id = e.endpoint_id
), taken as (
  delete from ${schema}.queue q
  using unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::jsonb[], $6::text[], $7::timestamptz[],
    $8::timestamptz[]) as done (tenant_id, id, tries, status, attempt, url, finished_at, expires_at)
  where q.tenant_id = done.tenant_id and q.id = done.id and q.tries = done.tries
  returning q.tenant_id, q.id, q.endpoint_id, q.event_id, q.event_type, q.created_at, q.tries + 1,
    ${attempts}, done.status, coalesce(done.url, q.url), done.finished_at, done.expires_at
)
insert into ${schema}.deliveries (tenant_id, id, endpoint_id, event_id, event_type, created_at, tries, attempts, status,
  url, finished_at, expires_at)
select * from taken
returning id`,
        [
          results.map((result) => result.tenantId),
          results.map((result) => result.id),
          results.map((result) => result.tries),
          results.map((result) => result.status),
          results.map((result) => result.attempt && JSON.stringify(result.attempt)),
          results.map((result) => result.url),
          results.map((result) => result.finishedAt),
          results.map((result) => result.expiresAt),
          ...columns(healthy),
        ],
      );
      return rows.map((row) => row.id);
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
          results.map((result) => JSON.stringify(result.attempt)),
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
        [...columns(refs), at],
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

    async isReachable(): Promise<boolean> {
      return database.query('select 1').then(
        () => true,
        () => false,
      );
    },

    /** Deletes what has run out, and what was delivered before a time; gives how many rows that were. */
    async expire(at: Date, deliveredBefore: Date | undefined): Promise<number> {
      const dead = await deleteInSteps('expires_at <= $1', at);
      if (deliveredBefore === undefined) return dead;
      return dead + (await deleteInSteps("status = 'delivered' and finished_at < $1", deliveredBefore));
    },
  };

  async function deleteInSteps(condition: string, before: Date): Promise<number> {
    let total = 0;
    for (let turn = 0; turn < EXPIRE_STATEMENTS_MAX; turn += 1) {
      const { rowCount } = await database.query(
        `delete from ${schema}.deliveries where ctid = any (array(
  select ctid from ${schema}.deliveries where ${condition} limit ${EXPIRED_PER_STATEMENT} for update skip locked))`,
        [before],
      );
      total += rowCount;
      if (rowCount < EXPIRED_PER_STATEMENT) break;
    }
    return total;
  }
}

function ownerStatements(database: Database, schema: string) {
  return {
    /** In a session of its own, which holds the lock until it ends: a killed process loses it at once. */
    async register(session: Queryable, owner: string): Promise<void> {
      await session.query('select pg_advisory_lock(hashtextextended($1, 0))', [owner]);
      await session.query(`insert into ${schema}.dispatchers (id, seen_at) values ($1, clock_timestamp())`, [
        owner,
      ]);
    },

    /** False when this dispatcher was taken for dead. */
    async beat(session: Queryable, owner: string): Promise<boolean> {
      const { rowCount } = await session.query(
        `update ${schema}.dispatchers set seen_at = clock_timestamp() where id = $1`,
        [owner],
      );
      return rowCount === 1;
    },

    /**
     * Frees the lanes of dispatchers whose session has ended, or which are silent for too long because their machine is
     * gone and its sessions with it have not ended yet. Gives how many dispatchers that were.
     */
    async reap(silenceMs: number): Promise<number> {
      return database.transaction(async (tx) => {
        const { rows } = await tx.query<{ id: string }>(
          `delete from ${schema}.dispatchers
where seen_at < clock_timestamp() - make_interval(secs => $1::double precision / 1000)
  or pg_try_advisory_xact_lock(hashtextextended(id, 0))
returning id`,
          [silenceMs],
        );
        // A statement of its own, because it must see the lanes that were acquired while the first one waited.
        const dead = rows.map((row) => row.id);
        if (dead.length > 0) await tx.query(`delete from ${schema}.lanes where owner = any ($1)`, [dead]);
        return dead.length;
      });
    },

    /** Gives all lanes back and tells the other dispatchers. */
    async unregister(session: Queryable, owner: string): Promise<void> {
      await session.query(
        `with gone as (delete from ${schema}.dispatchers where id = $1)
delete from ${schema}.lanes where owner = $1`,
        [owner],
      );
      await session.query('select pg_notify($1, $2)', [deliveryChannel(schema), LOOK_EVERYWHERE]);
      await session.query('select pg_advisory_unlock(hashtextextended($1, 0))', [owner]);
    },
  };
}

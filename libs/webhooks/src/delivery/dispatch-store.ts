import type { Database, Queryable } from '@libs/db';
import { LOOK_EVERYWHERE } from './announcement.ts';
import type { ClaimedDelivery, DeliveryResult, EndpointRef } from './delivery.ts';
import { checkSchemaName, deliveryChannel } from './schema.ts';

// SQL of the sending side: claims, results, liveness, expiry.

export interface LaneWish extends EndpointRef {
  readonly slots: number;
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

export type DispatchStore = ReturnType<typeof createDispatchStore>;

export function createDispatchStore(database: Database, schemaName: string) {
  const schema = checkSchemaName(schemaName);
  const table = `${schema}.deliveries`;
  const appendAttempt = `(case when jsonb_array_length(d.attempts) < ${ATTEMPTS_KEPT_MAX} then d.attempts
    else d.attempts - 0 end)`;

  /*
   * Each lane gives up to its own number of rows, so a lane with a long queue takes no place from another. Tried
   * instead: one claim over all rows ordered by time, which an endpoint with a long queue fills alone.
   *
   * The lock on the dispatcher's own row makes a claim and its removal as dead exclude each other: without it a process
   * taken for dead could claim rows that nobody would ever free. A claim that a crash of the server undoes is only made
   * again, so this commit need not wait for the disk.
   */
  const claim = `with alive as materialized (
  select set_config('synchronous_commit', 'off', true)
  from (select 1 from ${schema}.dispatchers where id = $5 for key share) as own
), picked as materialized (
  select due.row_at
  from alive cross join unnest($1::text[], $2::text[], $3::int[]) as lane (tenant_id, endpoint_id, slots)
  cross join lateral (
    select d.ctid as row_at from ${table} d
    where d.tenant_id = lane.tenant_id and d.endpoint_id = lane.endpoint_id
      and d.next_attempt_at is not null and d.next_attempt_at <= $4 and d.claimed_by is null
    order by d.next_attempt_at limit lane.slots
    for update skip locked
  ) as due
)
update ${table} d set claimed_by = $5
where d.ctid = any (array(select row_at from picked))
returning d.tenant_id as "tenantId", d.id, d.endpoint_id as "endpointId", d.event_id as "eventId", d.step, d.early`;

  /* Steps from lane to lane through the index, so the cost grows with the lanes and not with the rows that wait. */
  const dueLanes = `with recursive lane as (
  (select tenant_id, endpoint_id from ${table}
   where next_attempt_at is not null and (tenant_id, endpoint_id) > ($1, $2)
   order by tenant_id, endpoint_id limit 1)
  union all
  (select next.tenant_id, next.endpoint_id from lane cross join lateral (
     select d.tenant_id, d.endpoint_id from ${table} d
     where d.next_attempt_at is not null and (d.tenant_id, d.endpoint_id) > (lane.tenant_id, lane.endpoint_id)
     order by d.tenant_id, d.endpoint_id limit 1
   ) as next)
)
select page.tenant_id, page.endpoint_id, (
  select d.next_attempt_at from ${table} d
  where d.tenant_id = page.tenant_id and d.endpoint_id = page.endpoint_id
    and d.next_attempt_at is not null and d.claimed_by is null
  order by d.next_attempt_at limit 1
) as due_at
from (select tenant_id, endpoint_id from lane limit ${LANES_PER_PAGE}) as page`;

  return {
    /** Gives nothing to a dispatcher that has been taken for dead; its next beat tells it. */
    async claim(owner: string, wishes: readonly LaneWish[], at: Date): Promise<ClaimedDelivery[]> {
      const { rows } = await database.query<ClaimedDelivery>(claim, [
        wishes.map((wish) => wish.tenantId),
        wishes.map((wish) => wish.endpointId),
        wishes.map((wish) => wish.slots),
        new Date(at.getTime() + STAMP_ROUNDING_MS),
        owner,
      ]);
      return rows;
    },

    /** When the named lanes have their next row, for those that have one. */
    async nextDue(refs: readonly EndpointRef[]): Promise<LaneDue[]> {
      const { rows } = await database.query<LaneDueRow>(
        `select lane.tenant_id, lane.endpoint_id, due.due_at
from unnest($1::text[], $2::text[]) as lane (tenant_id, endpoint_id)
cross join lateral (
  select d.next_attempt_at as due_at from ${table} d
  where d.tenant_id = lane.tenant_id and d.endpoint_id = lane.endpoint_id
    and d.next_attempt_at is not null and d.claimed_by is null
  order by d.next_attempt_at limit 1
) as due`,
        [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.endpointId)],
      );
      return rows.map(toLaneDue);
    },

    /** All lanes with a row that is due before `until`. */
    async findDueLanes(until: Date): Promise<LaneDue[]> {
      const found: LaneDue[] = [];
      let after: [string, string] = ['', ''];
      for (let page = 0; page < LANE_PAGES_MAX; page += 1) {
        const { rows } = await database.query<LaneDueRow & { due_at: Date | null }>(dueLanes, after);
        for (const row of rows) {
          if (row.due_at !== null && row.due_at <= until) found.push(toLaneDue(row));
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < LANES_PER_PAGE) break;
        after = [last.tenant_id, last.endpoint_id];
      }
      return found;
    },

    /** Only rows that are still this dispatcher's: a result that comes after its claim was freed is dropped. */
    async recordDelivered(tx: Queryable, owner: string, results: readonly DeliveryResult[]): Promise<void> {
      await tx.query(
        `with healthy as (
  delete from ${schema}.failing_endpoints f using unnest($1::text[], $3::text[]) as e (tenant_id, endpoint_id)
  where f.tenant_id = e.tenant_id and f.endpoint_id = e.endpoint_id
)
update ${table} d set status = 'delivered', attempts = ${appendAttempt} || done.attempt, next_attempt_at = null,
  claimed_by = null, url = done.url, finished_at = done.finished_at, expires_at = done.expires_at
from unnest($1::text[], $2::text[], $4::jsonb[], $5::text[], $6::timestamptz[], $7::timestamptz[])
  as done (tenant_id, id, attempt, url, finished_at, expires_at)
where d.tenant_id = done.tenant_id and d.id = done.id and d.claimed_by = $8`,
        [
          results.map((result) => result.tenantId),
          results.map((result) => result.id),
          results.map((result) => result.endpointId),
          results.map((result) => JSON.stringify(result.attempt)),
          results.map((result) => result.url),
          results.map((result) => result.finishedAt),
          results.map((result) => result.expiresAt),
          owner,
        ],
      );
    },

    async recordUndelivered(tx: Queryable, owner: string, results: readonly DeliveryResult[]): Promise<void> {
      await tx.query(
        `update ${table} d set status = done.status, attempts = ${appendAttempt} || coalesce(done.attempt, '[]'),
  next_attempt_at = done.next_attempt_at, step = done.step, early = done.early, claimed_by = null,
  url = coalesce(done.url, d.url), finished_at = done.finished_at, expires_at = done.expires_at
from unnest($1::text[], $2::text[], $3::text[], $4::jsonb[], $5::timestamptz[], $6::int[], $7::boolean[], $8::text[],
  $9::timestamptz[], $10::timestamptz[])
  as done (tenant_id, id, status, attempt, next_attempt_at, step, early, url, finished_at, expires_at)
where d.tenant_id = done.tenant_id and d.id = done.id and d.claimed_by = $11`,
        [
          results.map((result) => result.tenantId),
          results.map((result) => result.id),
          results.map((result) => result.status),
          results.map((result) => (result.attempt === null ? null : JSON.stringify(result.attempt))),
          results.map((result) => result.nextAttemptAt),
          results.map((result) => result.step),
          results.map((result) => result.early),
          results.map((result) => result.url),
          results.map((result) => result.finishedAt),
          results.map((result) => result.expiresAt),
          owner,
        ],
      );
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
        [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.endpointId), at],
      );
      return rows
        .filter((row) => row.failing_since <= since)
        .map((row) => ({ tenantId: row.tenant_id, endpointId: row.endpoint_id }));
    },

    /** Gives rows back unsent, to be tried again at a later time or at once. */
    async release(
      owner: string,
      refs: readonly { readonly tenantId: string; readonly id: string }[],
      notBefore: Date,
    ): Promise<void> {
      await database.query(
        `update ${table} d set claimed_by = null, next_attempt_at = greatest(d.next_attempt_at, $4)
from unnest($1::text[], $2::text[]) as given (tenant_id, id)
where d.tenant_id = given.tenant_id and d.id = given.id and d.claimed_by = $3`,
        [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.id), owner, notBefore],
      );
    },

    async register(owner: string): Promise<void> {
      await database.query(`insert into ${schema}.dispatchers (id, seen_at) values ($1, clock_timestamp())`, [
        owner,
      ]);
    },

    /** False when this dispatcher was taken for dead. */
    async beat(owner: string): Promise<boolean> {
      const { rowCount } = await database.query(
        `update ${schema}.dispatchers set seen_at = clock_timestamp() where id = $1`,
        [owner],
      );
      return rowCount === 1;
    },

    /** Frees the claims of dispatchers that are silent for too long; gives how many dispatchers that were. */
    async reap(silenceMs: number): Promise<number> {
      return database.transaction(async (tx) => {
        const { rows } = await tx.query<{ id: string }>(
          `delete from ${schema}.dispatchers
where seen_at < clock_timestamp() - make_interval(secs => $1::double precision / 1000) returning id`,
          [silenceMs],
        );
        // A statement of its own, because it must see the claims that were committed while the first one waited.
        if (rows.length > 0)
          await freeClaims(
            tx,
            rows.map((row) => row.id),
          );
        return rows.length;
      });
    },

    /** Gives back all that is still claimed and tells the other dispatchers. */
    async unregister(owner: string): Promise<void> {
      await database.transaction(async (tx) => {
        await tx.query(`delete from ${schema}.dispatchers where id = $1`, [owner]);
        const freed = await freeClaims(tx, [owner]);
        if (freed > 0) await tx.query('select pg_notify($1, $2)', [deliveryChannel(schema), LOOK_EVERYWHERE]);
      });
    },

    async isReachable(): Promise<boolean> {
      return database.query('select 1').then(
        () => true,
        () => false,
      );
    },

    /** Deletes what has run out; gives how many rows that were. */
    async expire(at: Date): Promise<number> {
      let total = 0;
      for (let turn = 0; turn < EXPIRE_STATEMENTS_MAX; turn += 1) {
        const { rowCount } = await database.query(
          `delete from ${table} where ctid = any (array(
  select ctid from ${table} where expires_at <= $1 limit ${EXPIRED_PER_STATEMENT} for update skip locked))`,
          [at],
        );
        total += rowCount;
        if (rowCount < EXPIRED_PER_STATEMENT) break;
      }
      return total;
    },
  };

  async function freeClaims(tx: Queryable, owners: readonly string[]): Promise<number> {
    const { rowCount } = await tx.query(
      `update ${table} set claimed_by = null where next_attempt_at is not null and claimed_by = any ($1)`,
      [owners],
    );
    return rowCount;
  }
}

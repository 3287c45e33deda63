import type { Database } from '@libs/db';
import type { DueDelivery, EndpointRef } from './delivery.ts';

// SQL of the lanes: who sends to which endpoint, and which rows are due there.

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

/** With one read of a lane. */
const GIVEN_UP_PASSED_MAX = 1_000;
const LANES_PER_PAGE = 1_000;
const LANE_PAGES_MAX = 100;
/** Rows are stamped to the microsecond and asked for by the millisecond. */
const STAMP_ROUNDING_MS = 1;

function toLaneDue(row: LaneDueRow): LaneDue {
  return { tenantId: row.tenant_id, endpointId: row.endpoint_id, dueAt: row.due_at };
}

/** The two parameters that name endpoints. */
export function endpointColumns(refs: readonly EndpointRef[]): [string[], string[]] {
  return [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.endpointId)];
}

export type LaneStore = ReturnType<typeof createLaneStore>;

export function createLaneStore(database: Database, schema: string) {
  const queue = `${schema}.queue`;

  /*
   * Each lane gives up to its own number of rows, so a lane with a long queue takes no place from another; one query
   * over all rows ordered by time would be filled by that lane alone. The join with `lanes` gives nothing to a process
   * that was taken for dead and does not know it yet.
   *
   * Where an endpoint is being emptied, what is of before is given up and not read. A row is never due before it was added, so
   * what was added since is found behind that time, and all that was due before it is not looked at. What came due since is
   * passed, a bounded number with each read, and goes to the log in the same order: where more stands before what was added since,
   * that is read when they have gone. An index in the order of adding would find it at once, and cost every delivery.
   */
  const fetchDue = `select due.tenant_id as "tenantId", due.endpoint_id as "endpointId", due.id, due.event_id as "eventId",
  due.tries, due.step, due.early, due.traceparent, due.due_at::text as at
from unnest($1::text[], $2::text[], $3::int[], $4::timestamptz[], $5::text[])
  as wish (tenant_id, endpoint_id, rows_max, after_at, after_id)
join ${schema}.lanes using (tenant_id, endpoint_id)
left join ${schema}.emptying using (tenant_id, endpoint_id)
cross join lateral (
  select * from (
    select q.tenant_id, q.endpoint_id, q.id, q.event_id, q.tries, q.step, q.early, q.traceparent, q.due_at,
      coalesce(q.added_at, q.created_at) as added_at
    from ${queue} q
    where q.tenant_id = wish.tenant_id and q.endpoint_id = wish.endpoint_id and q.due_at <= $6
      and (q.due_at, q.id) > (greatest(wish.after_at, emptying.added_until), wish.after_id)
    order by q.due_at, q.id
    limit wish.rows_max + case when emptying.added_until is null then 0 else ${GIVEN_UP_PASSED_MAX} end
  ) as met
  where emptying.added_until is null or met.added_at > emptying.added_until
  order by met.due_at, met.id limit wish.rows_max
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

  /** Where tables are spread, what a part of a statement finds is brought to every server, also where nobody there asks for it. */
  function acquireApart(owner: string, refs: readonly EndpointRef[]): Promise<EndpointRef[]> {
    const wished = endpointColumns(refs);
    return database.transaction(async (tx) => {
      await tx.query(`set local synchronous_commit = off`);
      const { rows: alive } = await tx.query(
        `select 1 from ${schema}.dispatchers where id = $1 for key share`,
        [owner],
      );
      if (alive.length > 0)
        await tx.query(
          `insert into ${schema}.lanes (tenant_id, endpoint_id, owner)
select tenant_id, endpoint_id, $3 from unnest($1::text[], $2::text[]) as wish (tenant_id, endpoint_id)
order by tenant_id, endpoint_id on conflict do nothing`,
          [...wished, owner],
        );
      const { rows } = await tx.query<EndpointRef>(
        `select lanes.tenant_id as "tenantId", lanes.endpoint_id as "endpointId"
from unnest($1::text[], $2::text[]) as wish (tenant_id, endpoint_id) join ${schema}.lanes using (tenant_id, endpoint_id)
where owner = $3`,
        [...wished, owner],
      );
      return rows;
    });
  }

  return {
    /**
     * Makes this process the only one that sends to these endpoints; gives those that nobody else has.
     *
     * The lock on the dispatcher's row lets an acquisition and the removal of its owner as dead exclude each other:
     * without it, lanes could stay with an owner that nobody will ever remove. A crash of the server that undoes an
     * acquisition also cuts its owner's session, so this commit need not wait for the disk. Those that are its own already are given
     * as well: where an answer was lost, it would take them for another's, and nobody would send to them. They are read and not
     * written anew, since that would lock the lanes of others, too.
     */
    async acquireLanes(owner: string, refs: readonly EndpointRef[]): Promise<EndpointRef[]> {
      if (database.isSpread) return acquireApart(owner, refs);
      const { rows } = await database.query<EndpointRef>(
        `with alive as materialized (
  select set_config('synchronous_commit', 'off', true)
  from (select 1 from ${schema}.dispatchers where id = $3 for key share) as own
), wish as materialized (
  select tenant_id, endpoint_id from unnest($1::text[], $2::text[]) as wish (tenant_id, endpoint_id)
), made as (
  insert into ${schema}.lanes (tenant_id, endpoint_id, owner)
  select tenant_id, endpoint_id, $3 from alive cross join wish order by tenant_id, endpoint_id
  on conflict do nothing returning tenant_id, endpoint_id
)
select tenant_id as "tenantId", endpoint_id as "endpointId" from made
union all
select lanes.tenant_id, lanes.endpoint_id from wish join ${schema}.lanes using (tenant_id, endpoint_id) where owner = $3`,
        [...endpointColumns(refs), owner],
      );
      return rows;
    },

    async releaseLanes(owner: string, refs: readonly EndpointRef[]): Promise<void> {
      await database.query(
        `delete from ${schema}.lanes using unnest($1::text[], $2::text[]) as given (tenant_id, endpoint_id)
where lanes.tenant_id = given.tenant_id and lanes.endpoint_id = given.endpoint_id and lanes.owner = $3`,
        [...endpointColumns(refs), owner],
      );
    },

    /** Due rows of owned lanes, in the order of each lane's queue. */
    async fetchDue(owner: string, wishes: readonly LaneWish[], at: Date): Promise<FetchedDelivery[]> {
      const { rows } = await database.query<FetchedDelivery>(fetchDue, [
        ...endpointColumns(wishes),
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
        [...endpointColumns(refs), after],
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

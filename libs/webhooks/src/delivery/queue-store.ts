import type { Queryable } from '@libs/db';
import type { Attempt, Delivery, DeliveryStatus, EndpointRef, QueuedDelivery } from './delivery.ts';
import { checkSchemaName, deliveryChannel } from './schema.ts';

// SQL of the callers' side: what runs inside the transactions of a service.

interface DeliveryRow {
  tenant_id: string;
  id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  status: DeliveryStatus;
  attempts: Attempt[];
  next_attempt_at: Date | null;
  url: string | null;
  created_at: Date;
  finished_at: Date | null;
  expires_at: Date | null;
}

const SHARED_COLUMNS = 'tenant_id, id, endpoint_id, event_id, event_type, attempts, url, created_at';
const QUEUE_COLUMNS = `${SHARED_COLUMNS}, 'pending' as status, due_at as next_attempt_at, null::timestamptz as finished_at,
  null::timestamptz as expires_at`;
const LOG_COLUMNS = `${SHARED_COLUMNS}, status, null::timestamptz as next_attempt_at, finished_at, expires_at`;

function fromRow(row: DeliveryRow): Delivery {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    url: row.url,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    expiresAt: row.expires_at,
  };
}

export interface UndeliveredFilter {
  readonly tenantId: string;
  readonly from: Date;
  readonly to: Date;
  /** More are not counted. */
  readonly max: number;
}

export interface DeliveryFilter {
  readonly tenantId: string;
  readonly endpointId?: string;
  /** Gives what comes after this id in the list, which is newest first. */
  readonly beforeId?: string;
  readonly limit: number;
}

/** Which delivery of an event to one endpoint; its id lies between these two, so that few rows are looked at. */
export interface EventDeliveryFilter extends EndpointRef {
  readonly eventId: string;
  readonly fromId: string;
  readonly beforeId: string;
}

export function createQueueStore(schemaName: string) {
  const schema = checkSchemaName(schemaName);
  return { ...writeStatements(schema), ...readStatements(schema) };
}

function writeStatements(schema: string) {
  const channel = deliveryChannel(schema);
  const add = {
    name: `${schema}.queue.add`,
    // The trace is said for each: what the transaction carries may be of several events.
    text: `insert into ${schema}.queue (tenant_id, id, endpoint_id, event_id, event_type, due_at, created_at, traceparent)
  select tenant_id, id, endpoint_id, event_id, event_type, $6, $6, traceparent
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $7::text[])
    as new (tenant_id, id, endpoint_id, event_id, event_type, traceparent)`,
  };
  const insert = {
    name: `${schema}.queue.insert`,
    text: `with added as (
  ${add.text}
)
select pg_notify('${channel}', message)::text from unnest($8::text[]) as message`,
  };
  const notifyAll = `select pg_notify('${channel}', message)::text from unnest($1::text[]) as message`;

  return {
    async insert(
      tx: Queryable,
      rows: readonly QueuedDelivery[],
      at: Date,
      messages: readonly string[],
    ): Promise<void> {
      const columns = [
        rows.map((row) => row.tenantId),
        rows.map((row) => row.id),
        rows.map((row) => row.endpointId),
        rows.map((row) => row.eventId),
        rows.map((row) => row.eventType),
        at,
        rows.map((row) => row.traceparent ?? null),
      ];
      if (tx.isSpread) {
        // Part of a statement over tables that are spread may run on any server; those who listen are at the first.
        await tx.query(add, columns);
        await tx.query(notifyAll, [messages]);
      } else await tx.query(insert, [...columns, messages]);
    },

    /**
     * A row that waits keeps its place in the schedule. It counts as added now, so that what is being given up of before goes without
     * it, also where whoever switched the endpoint off has a clock that is ahead of ours.
     */
    async hurry(tx: Queryable, tenantId: string, id: string, at: Date): Promise<Delivery | undefined> {
      const { rows } = await tx.query<DeliveryRow>(
        `update ${schema}.queue q set due_at = again.at, added_at = again.at
from (select greatest($3::timestamptz, (select e.added_until + interval '1 microsecond' from ${schema}.emptying e
  where e.tenant_id = $1 and e.endpoint_id = (select endpoint_id from ${schema}.queue where tenant_id = $1 and id = $2))) as at) as again
where q.tenant_id = $1 and q.id = $2 returning ${QUEUE_COLUMNS}`,
        [tenantId, id, at],
      );
      return rows[0] && fromRow(rows[0]);
    },

    /** Puts a finished row back; of two that ask for the same row at once, one finds it gone. */
    async revive(tx: Queryable, tenantId: string, id: string, at: Date): Promise<boolean> {
      const { rowCount } = await tx.query(
        `with taken as (
  delete from ${schema}.deliveries
  where tenant_id = $1 and id = $2 and (expires_at is null or expires_at > $3)
  returning tenant_id, id, endpoint_id, event_id, event_type, attempts, url, created_at, tries
)
insert into ${schema}.queue (tenant_id, id, endpoint_id, event_id, event_type, attempts, url, created_at, tries, due_at)
select taken.*, $3 from taken`,
        [tenantId, id, at],
      );
      return rowCount > 0;
    },

    async notify(tx: Queryable, message: string): Promise<void> {
      await tx.query('select pg_notify($1, $2)', [channel, message]);
    },

    async forgetFailures(tx: Queryable, ref: EndpointRef): Promise<void> {
      await tx.query(`delete from ${schema}.failing_endpoints where tenant_id = $1 and endpoint_id = $2`, [
        ref.tenantId,
        ref.endpointId,
      ]);
    },
  };
}

function readStatements(schema: string) {
  return {
    async find(db: Queryable, tenantId: string, id: string, at: Date): Promise<Delivery | undefined> {
      const { rows } = await db.query<DeliveryRow>(
        `select ${QUEUE_COLUMNS} from ${schema}.queue where tenant_id = $1 and id = $2
union all
select ${LOG_COLUMNS} from ${schema}.deliveries
where tenant_id = $1 and id = $2 and (expires_at is null or expires_at > $3)`,
        [tenantId, id, at],
      );
      return rows[0] && fromRow(rows[0]);
    },

    async list(db: Queryable, filter: DeliveryFilter, at: Date): Promise<Delivery[]> {
      const matches = `tenant_id = $1 and ($2::text is null or endpoint_id = $2) and ($3::text is null or id < $3)`;
      const { rows } = await db.query<DeliveryRow>(
        `(select ${QUEUE_COLUMNS} from ${schema}.queue where ${matches} order by id desc limit $4)
union all
(select ${LOG_COLUMNS} from ${schema}.deliveries
 where ${matches} and (expires_at is null or expires_at > $5) order by id desc limit $4)
order by id desc limit $4`,
        [filter.tenantId, filter.endpointId ?? null, filter.beforeId ?? null, filter.limit, at],
      );
      return rows.map(fromRow);
    },

    /** An event goes to an endpoint once, so the first that is found is the one. */
    async findOfEvent(db: Queryable, filter: EventDeliveryFilter, at: Date): Promise<Delivery | undefined> {
      const matches = 'tenant_id = $1 and endpoint_id = $2 and event_id = $3 and id >= $4 and id < $5';
      const { rows } = await db.query<DeliveryRow>(
        `(select ${QUEUE_COLUMNS} from ${schema}.queue where ${matches} order by id limit 1)
union all
(select ${LOG_COLUMNS} from ${schema}.deliveries
 where ${matches} and (expires_at is null or expires_at > $6) order by id limit 1)
limit 1`,
        [filter.tenantId, filter.endpointId, filter.eventId, filter.fromId, filter.beforeId, at],
      );
      return rows[0] && fromRow(rows[0]);
    },

    async listDead(db: Queryable, filter: Omit<DeliveryFilter, 'endpointId'>, at: Date): Promise<Delivery[]> {
      const { rows } = await db.query<DeliveryRow>(
        `select ${LOG_COLUMNS} from ${schema}.deliveries
where tenant_id = $1 and status = 'dead' and ($2::text is null or id < $2)
  and (expires_at is null or expires_at > $4)
order by id desc limit $3`,
        [filter.tenantId, filter.beforeId ?? null, filter.limit, at],
      );
      return rows.map(fromRow);
    },

    async countUndelivered(db: Queryable, filter: UndeliveredFilter): Promise<number> {
      const { rows } = await db.query<{ count: number }>(
        `select count(*)::int as count from (select 1 from ${schema}.deliveries
where tenant_id = $1 and status <> 'delivered' and finished_at >= $2 and finished_at < $3 limit $4) as undelivered`,
        [filter.tenantId, filter.from, filter.to, filter.max],
      );
      return rows[0]?.count ?? 0;
    },
  };
}

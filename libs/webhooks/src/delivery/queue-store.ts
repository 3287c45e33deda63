import type { Queryable } from '@libs/db';
import type { Attempt, Delivery, DeliveryStatus, EndpointRef, NewDelivery } from './delivery.ts';
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

const COLUMNS = `tenant_id, id, endpoint_id, event_id, event_type, status, attempts, next_attempt_at, url, created_at,
  finished_at, expires_at`;

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

export interface DeliveryFilter {
  readonly tenantId: string;
  readonly endpointId?: string;
  /** Gives what comes after this id in the list, which is newest first. */
  readonly beforeId?: string;
  readonly limit: number;
}

export type QueueStore = ReturnType<typeof createQueueStore>;

export function createQueueStore(schemaName: string) {
  const schema = checkSchemaName(schemaName);
  const channel = deliveryChannel(schema);
  const table = `${schema}.deliveries`;

  const insert = {
    name: `${schema}.deliveries.insert`,
    text: `with added as (
  insert into ${table} (tenant_id, id, endpoint_id, event_id, event_type, next_attempt_at, created_at)
  select tenant_id, id, endpoint_id, event_id, event_type, $6, $6
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
    as new (tenant_id, id, endpoint_id, event_id, event_type)
)
select pg_notify('${channel}', message) from unnest($7::text[]) as message`,
  };

  return {
    async insert(
      tx: Queryable,
      rows: readonly (NewDelivery & { readonly id: string })[],
      at: Date,
      messages: readonly string[],
    ): Promise<void> {
      await tx.query(insert, [
        rows.map((row) => row.tenantId),
        rows.map((row) => row.id),
        rows.map((row) => row.endpointId),
        rows.map((row) => row.eventId),
        rows.map((row) => row.eventType),
        at,
        messages,
      ]);
    },

    /** A row that waits keeps its place in the schedule; a finished one starts over. */
    async retry(tx: Queryable, tenantId: string, id: string, at: Date): Promise<Delivery | undefined> {
      const { rows } = await tx.query<DeliveryRow>(
        `update ${table}
set status = 'pending', next_attempt_at = $3, step = case when next_attempt_at is null then 0 else step end,
  early = false, finished_at = null, expires_at = null
where tenant_id = $1 and id = $2 and (expires_at is null or expires_at > $3)
returning ${COLUMNS}`,
        [tenantId, id, at],
      );
      return rows[0] && fromRow(rows[0]);
    },

    async notify(tx: Queryable, message: string): Promise<void> {
      await tx.query(`select pg_notify('${channel}', $1)`, [message]);
    },

    async find(db: Queryable, tenantId: string, id: string, at: Date): Promise<Delivery | undefined> {
      const { rows } = await db.query<DeliveryRow>(
        `select ${COLUMNS} from ${table}
where tenant_id = $1 and id = $2 and (expires_at is null or expires_at > $3)`,
        [tenantId, id, at],
      );
      return rows[0] && fromRow(rows[0]);
    },

    async list(db: Queryable, filter: DeliveryFilter, at: Date): Promise<Delivery[]> {
      const { rows } = await db.query<DeliveryRow>(
        `select ${COLUMNS} from ${table}
where tenant_id = $1 and ($2::text is null or endpoint_id = $2) and ($3::text is null or id < $3)
  and (expires_at is null or expires_at > $5)
order by id desc limit $4`,
        [filter.tenantId, filter.endpointId ?? null, filter.beforeId ?? null, filter.limit, at],
      );
      return rows.map(fromRow);
    },

    async listDead(db: Queryable, filter: Omit<DeliveryFilter, 'endpointId'>, at: Date): Promise<Delivery[]> {
      const { rows } = await db.query<DeliveryRow>(
        `select ${COLUMNS} from ${table}
where tenant_id = $1 and status = 'dead' and ($2::text is null or id < $2)
  and (expires_at is null or expires_at > $4)
order by id desc limit $3`,
        [filter.tenantId, filter.beforeId ?? null, filter.limit, at],
      );
      return rows.map(fromRow);
    },

    /** A try that is under way still writes its result; if it wants another, that one finds no endpoint. */
    async abandon(
      tx: Queryable,
      ref: EndpointRef,
      change: { status: DeliveryStatus; at: Date; expiresAt: Date | null },
    ): Promise<number> {
      const { rowCount } = await tx.query(
        `update ${table} set status = $3, next_attempt_at = null, finished_at = $4, expires_at = $5
where tenant_id = $1 and endpoint_id = $2 and next_attempt_at is not null`,
        [ref.tenantId, ref.endpointId, change.status, change.at, change.expiresAt],
      );
      return rowCount;
    },

    async forgetFailures(tx: Queryable, ref: EndpointRef): Promise<void> {
      await tx.query(`delete from ${schema}.failing_endpoints where tenant_id = $1 and endpoint_id = $2`, [
        ref.tenantId,
        ref.endpointId,
      ]);
    },
  };
}

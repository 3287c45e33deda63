import { type DividedTable, idBorders, type Queryable, queryByTenant, type TenantStatement } from '@libs/db';
import {
  EVENTS_KEPT_DAYS,
  type EventKey,
  type EventType,
  type NewEvent,
  type RecordedEvent,
} from './event.ts';

export async function insertEvent(
  tx: Queryable,
  event: NewEvent & { id: string; createdAt: Date },
): Promise<void> {
  await tx.query(
    {
      name: 'events.insert',
      text: 'insert into events (customer_id, id, type, data, created_at) values ($1, $2, $3, $4, $5)',
    },
    [event.customerId, event.id, event.type, JSON.stringify(event.data), event.createdAt],
  );
}

interface EventRow {
  customer_id: string;
  id: string;
  type: EventType;
  data: string;
  created_at: Date;
}

const FIND: TenantStatement = {
  together: {
    name: 'events.find',
    text: `select customer_id, id, type, data::text as data, created_at
      from unnest($1::text[], $2::text[]) as wanted (customer_id, id) join events using (customer_id, id)`,
  },
  apart: {
    name: 'events.find.apart',
    text: `select customer_id, id, type, data::text as data, created_at from events
      where customer_id = ($1::text[])[1] and id = any($2::text[])`,
  },
};

/** Events of any customers, in no order; those that are past their time are absent. */
export async function findEvents(db: Queryable, keys: readonly EventKey[]): Promise<RecordedEvent[]> {
  const wanted = keys.map((key) => ({ tenantId: key.customerId, id: key.id }));
  const rows = await queryByTenant<EventRow, (typeof wanted)[number]>(db, FIND, wanted, (some) => [
    some.map((key) => key.tenantId),
    some.map((key) => key.id),
  ]);
  return rows.map((row) => ({
    customerId: row.customer_id,
    id: row.id,
    type: row.type,
    data: row.data,
    createdAt: row.created_at,
  }));
}

export const EVENTS_TABLE: DividedTable = {
  ...{ name: 'events', borders: idBorders('evt'), daysPerPart: 30, keptDays: EVENTS_KEPT_DAYS },
};

/** Removes a bounded number of those that have no part of their own; the caller comes again while there are more. */
export async function deleteStrayEventsBefore(db: Queryable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from events_default where (customer_id, id) in
       (select customer_id, id from events_default where created_at < $1 limit $2)`,
    [before, limit],
  );
  return rowCount;
}

import {
  type DividedTable,
  idBorders,
  type Queryable,
  queryByTenant,
  type TenantStatement,
  textArray,
  timestamptzArray,
} from '@libs/db';
import { commonTypes, EVENT_RETENTION_DAYS, type PaymentsEvent, type ToldEvent } from './event.ts';

export interface EventRow {
  tenant_id: string;
  id: string;
  type: PaymentsEvent['type'];
  subject_id: string;
  data: string;
  occurred_at: Date;
  created_at: Date;
}

export function eventFromRow(row: EventRow): PaymentsEvent {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    type: row.type,
    subjectId: row.subject_id,
    data: row.data,
    occurredAt: row.occurred_at,
    createdAt: row.created_at,
  };
}

export const EVENT_COLUMNS = 'tenant_id, id, type, subject_id, data, occurred_at, created_at';

export async function insertEvents(tx: Queryable, events: readonly PaymentsEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(
    {
      name: 'events.insert',
      text: `insert into events (${EVENT_COLUMNS})
        select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[])`,
    },
    [
      textArray(events.map((event) => event.tenantId)),
      textArray(events.map((event) => event.id)),
      textArray(events.map((event) => event.type)),
      textArray(events.map((event) => event.subjectId)),
      textArray(events.map((event) => event.data)),
      timestamptzArray(events.map((event) => event.occurredAt)),
      timestamptzArray(events.map((event) => event.createdAt)),
    ],
  );
}

export async function findEvent(
  db: Queryable,
  { tenantId, id }: EventKey,
  since: Date,
): Promise<PaymentsEvent | undefined> {
  const { rows } = await db.query<EventRow>(
    `select ${EVENT_COLUMNS} from events where tenant_id = $1 and id = $2 and created_at >= $3`,
    [tenantId, id, since],
  );
  return rows[0] && eventFromRow(rows[0]);
}

/** The common ones are found in the order of ids; the others have an index of their own. */
const SELDOM = `type not in (${commonTypes.map((type) => `'${type}'`).join(', ')})`;

export interface EventFilter {
  type: string | null;
  subjectId: string | null;
  beforeId: string | null;
  limit: number;
}

const DAY_MS = 86_400_000;
/** No event that is told of has a lesser id: so what waits for the end of its part is not read. */
const leastId = (since: Date) => EVENTS_TABLE.borders.at(new Date(since.getTime() - DAY_MS));

export async function listEvents(
  db: Queryable,
  tenantId: string,
  filter: EventFilter,
  since: Date,
): Promise<PaymentsEvent[]> {
  const isSeldom = filter.type !== null && !commonTypes.includes(filter.type);
  const { rows } = await db.query<EventRow>(
    `select ${EVENT_COLUMNS} from events
     where tenant_id = $1 and ($2::text is null or type = $2) ${isSeldom ? `and ${SELDOM}` : ''} and ($3::text is null or subject_id = $3)
       and ($4::text is null or id < $4) and id >= $6 and created_at >= $7
     order by id desc limit $5`,
    [tenantId, filter.type, filter.subjectId, filter.beforeId, filter.limit, leastId(since), since],
  );
  return rows.map(eventFromRow);
}

export const EVENTS_TABLE: DividedTable = {
  ...{ name: 'events', borders: idBorders('evt'), daysPerPart: 30, keptDays: EVENT_RETENTION_DAYS },
};

/** Removes a bounded number of those that have no part of their own; the caller comes again while there are more. */
export async function deleteStrayEventsBefore(db: Queryable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from events_default where (tenant_id, id) in
       (select tenant_id, id from events_default where created_at < $1 limit $2)`,
    [before, limit],
  );
  return rowCount;
}

export interface EventKey {
  tenantId: string;
  id: string;
}

type ToldRow = Omit<EventRow, 'subject_id' | 'created_at'>;

const FIND: TenantStatement = {
  together: {
    name: 'events.find',
    text: `select tenant_id, id, type, data, occurred_at from unnest($1::text[], $2::text[]) as wanted (tenant_id, id)
      join events using (tenant_id, id)`,
  },
  apart: {
    name: 'events.find.apart',
    text: `select tenant_id, id, type, data, occurred_at from events
      where tenant_id = ($1::text[])[1] and id = any($2::text[])`,
  },
};

/** What is told of events of any tenants, in no order; those that are past their time are absent. */
export async function findEvents(db: Queryable, keys: readonly EventKey[]): Promise<ToldEvent[]> {
  const rows = await queryByTenant<ToldRow, EventKey>(db, FIND, keys, (some) => [
    textArray(some.map((key) => key.tenantId)),
    textArray(some.map((key) => key.id)),
  ]);
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    id: row.id,
    type: row.type,
    data: row.data,
    occurredAt: row.occurred_at,
  }));
}

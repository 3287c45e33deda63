import { type Database, type Queryable, queryByTenant, tenantStatement } from '@libs/db';
import { findHorizon, horizonAfter, readHorizon } from '../horizon-store.ts';
import type { PaymentsEvent } from './event.ts';
import { EVENT_COLUMNS, type EventRow, eventFromRow } from './store.ts';

/** A place in the order of commits: everything up to this event was seen. */
export interface StreamPlace {
  /** Of the transaction that wrote it. */
  txid: string;
  /** Empty before the first event of the transaction. */
  eventId: string;
}

/** Behind the last transaction that has surely ended: what is committed from now on comes after it. */
export async function currentPlace(db: Database): Promise<StreamPlace> {
  return { txid: await findHorizon(db), eventId: '' };
}

export async function findPlace(
  db: Queryable,
  tenantId: string,
  { eventId, after }: { eventId: string; after: Date },
): Promise<StreamPlace | undefined> {
  const { rows } = await db.query<{ txid: string }>(
    'select txid::text as txid from events where tenant_id = $1 and id = $2 and created_at >= $3',
    [tenantId, eventId, after],
  );
  return rows[0] && { txid: rows[0].txid, eventId };
}

interface StreamRow extends EventRow {
  txid: string;
}

export interface StreamedEvent {
  event: PaymentsEvent;
  place: StreamPlace;
}

/**
 * The next events in the order of their transactions. Those of a transaction appear together and only once every older
 * one has ended, so nothing ever appears before a place that was passed.
 */
export async function listAfter(
  db: Database,
  tenantId: string,
  { place, limit }: { place: StreamPlace; limit: number },
): Promise<StreamedEvent[]> {
  const horizon = horizonAfter(4, await readHorizon(db));
  const { rows } = await db.query<StreamRow>(
    {
      name: 'events.stream',
      text: `select ${EVENT_COLUMNS}, txid::text as txid from events
        where tenant_id = $1 and txid >= $2::xid8 and txid < ${horizon.text}
          and (txid > $2::xid8 or id > $3)
        order by events.txid, id limit $4`,
    },
    [tenantId, place.txid, place.eventId, limit, ...horizon.values],
  );
  return rows.map((row) => ({
    event: eventFromRow(row),
    place: { txid: row.txid, eventId: row.id },
  }));
}

/** Those of the tenants that have something after their place. */
export async function findMoved(
  db: Database,
  places: ReadonlyMap<string, StreamPlace>,
): Promise<Set<string>> {
  const horizon = horizonAfter(3, await readHorizon(db));
  const moved = tenantStatement(
    'events.moved',
    (
      tenant,
    ) => `select wanted.tenant_id from unnest($1::text[], $2::text[], $3::text[]) as wanted (tenant_id, txid, event_id)
        where exists (select 1 from events e where e.tenant_id = ${tenant} and e.txid >= wanted.txid::xid8
          and e.txid < ${horizon.text}
          and (e.txid > wanted.txid::xid8 or e.id > wanted.event_id))`,
  );
  const asked = [...places].map(([tenantId, place]) => ({ tenantId, ...place }));
  const rows = await queryByTenant<{ tenant_id: string }, (typeof asked)[number]>(
    db,
    moved,
    asked,
    (some) => [
      some.map(({ tenantId }) => tenantId),
      some.map(({ txid }) => txid),
      some.map(({ eventId }) => eventId),
      ...horizon.values,
    ],
  );
  return new Set(rows.map((row) => row.tenant_id));
}

import type { Database, Queryable } from '@libs/db';
import type { DeliveryStatus, EndpointRef } from './delivery.ts';
import { checkSchemaName } from './schema.ts';

// SQL of endpoints that are switched off: what waits for them goes to the log.

/** An endpoint for which more waits than one step moves. */
export interface Emptying extends EndpointRef {
  /** Rows that were added later stay, and so do those that somebody had tried again since. */
  readonly addedUntil: Date;
}

export interface Abandonment {
  readonly status: DeliveryStatus;
  readonly at: Date;
  readonly expiresAt: Date | null;
}

export interface AbandonStep {
  readonly moved: number;
  /** Whether more may be there. */
  readonly isFull: boolean;
}

const ROWS_PER_STEP = 1_000;

export function createAbandonStore(schemaName: string) {
  const schema = checkSchemaName(schemaName);

  return {
    /**
     * What was added until a time, or all. Also takes rows whose try is under way: the result of that try finds no row and changes
     * nothing.
     */
    async moveSome(
      tx: Queryable,
      { tenantId, endpointId, addedUntil }: EndpointRef & Partial<Emptying>,
      { status, at, expiresAt }: Abandonment,
    ): Promise<AbandonStep> {
      const until = addedUntil ?? null;
      const { rows } = await tx.query<{ id: string }>(
        `select id from ${schema}.queue where tenant_id = $1 and endpoint_id = $2
  and ($3::timestamptz is null or $3 >= coalesce(added_at, created_at))
order by due_at, id limit ${ROWS_PER_STEP}`,
        [tenantId, endpointId, until],
      );
      const ids = rows.map(({ id }) => id);
      // Asked once more, since somebody may have had one of them tried again meanwhile.
      const { rowCount } = await tx.query(
        `with taken as (
  delete from ${schema}.queue where tenant_id = $1 and id = any($2::text[])
    and ($6::timestamptz is null or $6 >= coalesce(added_at, created_at))
  returning tenant_id, id, endpoint_id, event_id, event_type, attempts, url, created_at, tries
)
insert into ${schema}.deliveries (tenant_id, id, endpoint_id, event_id, event_type, attempts, url, created_at, tries,
  status, finished_at, expires_at)
select taken.*, $3, $4, $5 from taken`,
        [tenantId, ids, status, at, expiresAt, until],
      );
      return { moved: rowCount, isFull: ids.length === ROWS_PER_STEP };
    },

    async note(tx: Queryable, { tenantId, endpointId, addedUntil }: Emptying): Promise<void> {
      await tx.query(
        `insert into ${schema}.emptying as e (tenant_id, endpoint_id, added_until) values ($1, $2, $3)
on conflict (tenant_id, endpoint_id) do update set added_until = greatest(e.added_until, excluded.added_until)`,
        [tenantId, endpointId, addedUntil],
      );
    },

    /** One that was switched off once more since stays. */
    async forget(tx: Queryable, { tenantId, endpointId, addedUntil }: Emptying): Promise<void> {
      await tx.query(
        `delete from ${schema}.emptying where tenant_id = $1 and endpoint_id = $2 and added_until = $3`,
        [tenantId, endpointId, addedUntil],
      );
    },

    async list(database: Database, limit: number): Promise<Emptying[]> {
      const { rows } = await database.query<Emptying>(
        `select tenant_id as "tenantId", endpoint_id as "endpointId", added_until as "addedUntil"
from ${schema}.emptying order by added_until limit $1`,
        [limit],
      );
      return rows;
    },

    /** False where another process is at it. Waits for nobody, since results that hold rows of the queue may wait for us. */
    async isOurs(tx: Queryable, { tenantId, endpointId }: EndpointRef): Promise<boolean> {
      const { rows } = await tx.query<{ ours: boolean }>(
        'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as ours',
        [`${schema}.emptying ${tenantId} ${endpointId}`],
      );
      return rows[0]?.ours === true;
    },
  };
}

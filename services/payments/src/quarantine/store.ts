import type { Queryable } from '@libs/db';
import { tenantOf } from '../tenant.ts';
import type { ListedQuarantined, QuarantineFilter, SealedQuarantined } from './quarantine.ts';

interface QuarantineRow {
  id: string;
  rail: ListedQuarantined['rail'];
  mode: ListedQuarantined['mode'];
  reason: string;
  received_at: Date;
  status: ListedQuarantined['status'];
  resolved_at: Date | null;
  resolution: string | null;
  resolved_by: string | null;
}

function fromRow(row: QuarantineRow): ListedQuarantined {
  return {
    id: row.id,
    rail: row.rail,
    mode: row.mode,
    reason: row.reason,
    receivedAt: row.received_at,
    status: row.status,
    resolvedAt: row.resolved_at,
    resolution: row.resolution,
    resolvedBy: row.resolved_by,
  };
}

export async function insertQuarantined(tx: Queryable, items: readonly SealedQuarantined[]): Promise<void> {
  if (items.length === 0) return;
  await tx.query(
    {
      name: 'quarantine.insert',
      text: `insert into rail_quarantine (id, rail, content_sealed, reason, received_at, mode)
        select * from unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::timestamptz[], $6::text[])
        on conflict do nothing`,
    },
    [
      items.map((item) => item.id),
      items.map((item) => item.rail),
      items.map((item) => item.contentSealed),
      items.map((item) => item.reason),
      items.map((item) => item.receivedAt),
      items.map((item) => item.mode),
    ],
  );
}

const COLUMNS = 'id, rail, mode, reason, received_at, status, resolved_at, resolution, resolved_by';

export async function listQuarantined(db: Queryable, filter: QuarantineFilter): Promise<ListedQuarantined[]> {
  const { rows } = await db.query<QuarantineRow>(
    `select ${COLUMNS} from rail_quarantine
     where ($1::text is null or rail = $1) and ($5::text is null or status = $5) and ($6::text is null or mode = $6)
       and ($2::timestamptz is null or (received_at, id) < ($2::timestamptz, $3::text))
     order by received_at desc, id desc limit $4`,
    [
      ...[filter.rail, filter.before?.receivedAt ?? null, filter.before?.id ?? null, filter.limit],
      ...[filter.status, filter.mode],
    ],
  );
  return rows.map(fromRow);
}

type FoundQuarantined = ListedQuarantined & SealedQuarantined;

async function findOne(
  db: Queryable,
  id: string,
  lock: '' | 'for update',
): Promise<FoundQuarantined | undefined> {
  const { rows } = await db.query<QuarantineRow & { content_sealed: Buffer }>(
    `select ${COLUMNS}, content_sealed from rail_quarantine where id = $1 ${lock}`,
    [id],
  );
  const [row] = rows;
  return row && { ...fromRow(row), contentSealed: row.content_sealed };
}

export function findQuarantined(db: Queryable, id: string): Promise<FoundQuarantined | undefined> {
  return findOne(db, id, '');
}

export function lockQuarantined(tx: Queryable, id: string): Promise<FoundQuarantined | undefined> {
  return findOne(tx, id, 'for update');
}

export async function markResolved(
  tx: Queryable,
  id: string,
  {
    status,
    resolution,
    by,
    at,
  }: { status: 'applied' | 'dismissed'; resolution: string; by: string; at: Date },
): Promise<ListedQuarantined> {
  const { rows } = await tx.query<QuarantineRow>(
    `update rail_quarantine set status = $2, resolution = $3, resolved_at = $4, resolved_by = $5 where id = $1
     returning ${COLUMNS}`,
    [id, status, resolution, at, by],
  );
  const [row] = rows;
  if (!row) throw new Error('what is locked is there');
  return fromRow(row);
}

/** Removes at most `limit` items that were worked off before then; answers how many. */
export async function removeResolved(db: Queryable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from rail_quarantine where id in (
       select id from rail_quarantine where resolved_at < $1 order by resolved_at limit $2 for update skip locked)`,
    [before, limit],
  );
  return rowCount;
}

/**
 * The operator names a payment by its id alone, and every key begins with the tenant: so each tenant is asked by key.
 * There are as many as organisations, where a look through all payments would meet the time-out of a statement.
 */
export async function findTenantOf(db: Queryable, paymentId: string): Promise<string | undefined> {
  if (db.isSpread) return findTenantApart(db, paymentId);
  const { rows } = await db.query<{ tenant_id: string }>(
    `select payments.tenant_id from organisations
     cross join lateral (values (organisations.id || '.live'), (organisations.id || '.test'
       || case when organisations.test_epoch = 0 then '' else '.' || organisations.test_epoch end)) as known (tenant_id)
     join payments on payments.tenant_id = known.tenant_id collate "C" and payments.id = $1`,
    [paymentId],
  );
  return rows[0]?.tenant_id;
}

/** Organisations and payments lie on different servers. */
async function findTenantApart(db: Queryable, paymentId: string): Promise<string | undefined> {
  const { rows: organisations } = await db.query<{ id: string; test_epoch: number }>(
    'select id, test_epoch from organisations',
  );
  const tenants = organisations.flatMap(({ id, test_epoch }) => [
    tenantOf(id, 'live').id,
    tenantOf(id, 'test', test_epoch).id,
  ]);
  const { rows } = await db.query<{ tenant_id: string }>(
    'select tenant_id from payments where tenant_id = any($1) and id = $2',
    [tenants, paymentId],
  );
  return rows[0]?.tenant_id;
}

import type { Queryable } from '@libs/db';
import { idBorder } from '@libs/seal';
import type { Payment } from './payment.ts';
import type { PaymentStatus } from './states.ts';
import { COLUMNS, type PaymentKey, type PaymentRow, paymentFromRow } from './store.ts';

export interface PaymentFilter {
  status: string | null;
  rail: string | null;
  paymentMethod: string | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
  metadata: Readonly<Record<string, string>> | null;
  idPrefix: string | null;
  refundOf: string | null;
  /** The last id of the page before. */
  beforeId: string | null;
  limit: number;
}

/** Most payments are completed: of all others there is a list by status. */
const COMPLETED: PaymentStatus = 'completed';
const UNDER_WAY: readonly PaymentStatus[] = ['pending', 'processing'];

/** Where so few payments have a status, it is quicker to look at all of them than at all that have something else in common. */
const FEW = 1_000;
const LATEST_LOOKED_AT = 500;

/**
 * A time finds its place in the order of ids, which carry the real time: an organisation's clock never goes back, so what is
 * before or behind a payment whose time is well outside of the asked one is outside of it, too. Where that payment's time is
 * not (a clock that was moved), nothing is left out. Without it a day of last month reads everything that came since.
 */
const EDGE_MS = 10 * 60_000;
/** What the database reads as text; no payment is older or younger. */
const LAST_EDGE_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The id from which to look for the payment at the edge, and which time it must have, as one value of two. */
function edgeOf(time: Date, side: 1 | -1): [fromId: string, time: string] {
  const edgeMs = (distanceMs: number) =>
    Math.min(LAST_EDGE_MS, Math.max(0, time.getTime() + side * distanceMs));
  return [idBorder('pay', edgeMs(EDGE_MS)), new Date(edgeMs(EDGE_MS / 2)).toISOString()];
}

const edgeBefore = (p: string) => `(select id from (select id, created_at from payments
  where tenant_id = $1 and id < (${p}::text[])[1] order by id desc limit 1) as edge where created_at < (${p}::text[])[2]::timestamptz)`;
const edgeAfter = (p: string) => `(select id from (select id, created_at from payments
  where tenant_id = $1 and id >= (${p}::text[])[1] order by id limit 1) as edge where created_at >= (${p}::text[])[2]::timestamptz)`;

/** What is asked for, as SQL. Conditions are only written where they are asked for, so that each query finds its index. */
interface Wanted {
  readonly values: readonly unknown[];
  /** Conditions on ids alone, which hold in the list by status as well. */
  readonly places: string;
  readonly others: string;
  readonly all: string;
  readonly ending: string;
  /** Where a value stands; of equal ones any will do. */
  readonly parameterOf: (value: unknown) => string;
}

function wantedBy(tenantId: string, filter: PaymentFilter, { isSpread = false }: Queryable): Wanted {
  const values: unknown[] = [tenantId];
  const places = ['tenant_id = $1'];
  const others: string[] = [];
  const add = (to: string[], condition: (position: string) => string, value: unknown) => {
    if (value === null) return;
    values.push(value);
    to.push(condition(`$${values.length}`));
  };
  const isIndexed = isSpread && filter.status !== COMPLETED;
  add(others, (p) => `status = ${p}${isIndexed ? ` and status <> '${COMPLETED}'` : ''}`, filter.status);
  add(
    others,
    (p) => `rail_selected = ${p}${filter.rail === 'rtp' ? '' : ` and rail_selected <> 'rtp'`}`,
    filter.rail,
  );
  add(others, (p) => `(source_id = ${p} or destination_id = ${p})`, filter.paymentMethod);
  // The edges in the order of ids find the place; the index by time would bring all of the range to be sorted.
  add(others, (p) => `created_at + interval '0' >= ${p}`, filter.createdAfter);
  add(others, (p) => `created_at + interval '0' < ${p}`, filter.createdBefore);
  if (filter.createdAfter !== null)
    add(places, (p) => `id > coalesce(${edgeBefore(p)}, '')`, edgeOf(filter.createdAfter, -1));
  if (filter.createdBefore !== null)
    add(places, (p) => `id < coalesce(${edgeAfter(p)}, '~')`, edgeOf(filter.createdBefore, 1));
  add(
    others,
    (p) => `metadata <> '{}' and metadata @> ${p}`,
    filter.metadata && JSON.stringify(filter.metadata),
  );
  add(places, (p) => `id < ${p}`, filter.beforeId);
  // Ids are small letters and digits, all of which come before a tilde.
  add(places, (p) => `id >= ${p} and id < ${p} || '~'`, filter.idPrefix);
  add(others, (p) => `refund_of = ${p}`, filter.refundOf);
  values.push(filter.limit);
  return {
    values,
    places: places.join(' and '),
    others: others.join(' and '),
    all: [...places, ...others].join(' and '),
    ending: `order by id desc limit $${values.length}`,
    parameterOf: (value) => `$${values.indexOf(value) + 1}`,
  };
}

/** Newest first. */
export async function listPayments(
  db: Queryable,
  tenantId: string,
  filter: PaymentFilter,
): Promise<Payment[]> {
  const wanted = wantedBy(tenantId, filter, db);
  const select = async (from: string) => {
    const { rows } = await db.query<PaymentRow>(`select ${COLUMNS} from ${from}`, [...wanted.values]);
    return rows.map(paymentFromRow);
  };
  if (await isFoundByStatus(db, tenantId, filter)) return select(byStatus(wanted, filter));
  if (filter.metadata !== null) {
    const latest = await select(amongLatest(wanted, filter));
    if (latest.length === filter.limit) return latest;
  }
  if (filter.paymentMethod !== null) return select(bySide(wanted, filter));
  return select(`payments p where ${wanted.all} ${wanted.ending}`);
}

async function isFoundByStatus(db: Queryable, tenantId: string, filter: PaymentFilter): Promise<boolean> {
  if (db.isSpread || filter.status === null || filter.status === COMPLETED) return false;
  if (filter.refundOf !== null) return false;
  return (
    (filter.paymentMethod === null && filter.metadata === null) ||
    (await areFew(db, tenantId, [filter.status]))
  );
}

/** `lateral … limit 1` keeps each a look-up by key, in the order of the list, whatever the planner thinks of the tables. */
function byStatus({ places, others, ending, parameterOf }: Wanted, { status }: PaymentFilter): string {
  return `(select listed.id as place, stored.* from (select id from payments_uncompleted
      where ${places} and status = ${parameterOf(status)} order by id desc) as listed
    cross join lateral (select * from payments where tenant_id = $1 and id = listed.id limit 1) as stored) as p
    where ${others} ${ending.replace('order by id', 'order by place')}`;
}

/** Pairs that many payments have are found among the latest; the index would bring all of them to be sorted. */
function amongLatest({ all, ending, parameterOf }: Wanted, { beforeId }: PaymentFilter): string {
  return `(select * from payments where tenant_id = $1 ${beforeId === null ? '' : `and id < ${parameterOf(beforeId)}`}
    order by id desc limit ${LATEST_LOOKED_AT}) as p where ${all} ${ending}`;
}

/** Each side has an index in the order of the list; the planner would collect all of both and sort them. No payment is in both. */
function bySide({ all, ending, parameterOf }: Wanted, { paymentMethod }: PaymentFilter): string {
  const sides = ['source_id', 'destination_id'].map(
    (side) => `(select * from payments where ${all} and ${side} = ${parameterOf(paymentMethod)} ${ending})`,
  );
  return `(${sides.join(' union all ')}) as p ${ending}`;
}

async function areFew(db: Queryable, tenantId: string, statuses: readonly string[]): Promise<boolean> {
  const { rows } = await db.query<{ counted: number }>(
    `select count(*)::int as counted from (select 1 from payments_uncompleted
       where tenant_id = $1 and status = any($2) limit ${FEW}) as listed`,
    [tenantId, statuses],
  );
  return (rows[0]?.counted ?? 0) < FEW;
}

/** Whether money is on its way from or to this payment method. */
export async function hasOpenPayments(db: Queryable, key: PaymentKey): Promise<boolean> {
  const isListed = !db.isSpread && (await areFew(db, key.tenantId, UNDER_WAY));
  const { rows } = await db.query<{ open: boolean }>(
    `select exists (select from ${isListed ? LISTED : `payments where tenant_id = $1 and status = any($3)`}
       and (source_id = $2 or destination_id = $2)) as open`,
    [key.tenantId, key.id, UNDER_WAY],
  );
  return rows[0]?.open ?? false;
}

const LISTED = `payments_uncompleted listed cross join lateral
  (select source_id, destination_id from payments where tenant_id = $1 and id = listed.id limit 1) as stored
  where tenant_id = $1 and status = any($3)`;

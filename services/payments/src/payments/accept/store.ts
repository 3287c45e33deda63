import {
  boolArray,
  int8Array,
  jsonbArray,
  type PreparedStatement,
  type Queryable,
  queryByTenant,
  tenantStatement,
  textArray,
  timestamptzArray,
} from '@libs/db';
import { enqueueWithin } from '@libs/jobs';
import { carriedTrace } from '@libs/runtime';
import type { Payment } from '../payment.ts';
import { LIVE_SUBMIT_JOB, SUBMIT_JOB } from '../submit-job.ts';
import { ACCEPT_STATUS, type Acceptance, type Claims, compareKeys, type Versions } from './acceptance.ts';
import { ACCEPT_PATH } from './path.ts';

export interface KeyLookup {
  tenantId: string;
  path: string;
  key: string;
}

export interface StoredResponse extends KeyLookup {
  /** The hash of the canonical body, in hex. */
  fingerprint: string;
  status: number;
  body: string;
}

interface StoredResponseRow {
  tenant_id: string;
  path: string;
  key: string;
  fingerprint: string;
  status: number;
  body: string;
}

/** The first responses to these keys, where there are any: a payment's is the data of its first event. */
export async function findResponses(db: Queryable, lookups: readonly KeyLookup[]): Promise<StoredResponse[]> {
  const rows = await queryByTenant<StoredResponseRow, KeyLookup>(db, FIND_RESPONSES, lookups, (some) => [
    textArray(some.map((lookup) => lookup.tenantId)),
    textArray(some.map((lookup) => lookup.path)),
    textArray(some.map((lookup) => lookup.key)),
  ]);
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    path: row.path,
    key: row.key,
    fingerprint: row.fingerprint,
    status: row.status,
    body: row.body,
  }));
}

const FIND_RESPONSES = tenantStatement(
  'idempotency.find',
  (tenant) => `select k.tenant_id, k.path, k.key, encode(k.fingerprint, 'hex') as fingerprint, k.status,
      (select data from events e where e.tenant_id = ${tenant} and e.id = k.event_id) as body
    from unnest($1::text[], $2::text[], $3::text[]) as wanted (tenant_id, path, key)
    cross join lateral (select * from idempotency_keys stored where stored.tenant_id = ${tenant}
      and stored.path = wanted.path and stored.key = wanted.key limit 1) as k`,
);

/** Whether the keys of a batch may have been taken before. */
export type Keys = 'new' | 'unknown';

/**
 * Accepts many payments in one statement: claims their keys, and for each key that was free writes the payment, its
 * event and its hold, and one job for all of them. Keys are claimed in one order, so that two processes with the same
 * keys wait in line, and never for each other. Where all keys are said to be new and one is not, the database refuses
 * the statement and nothing is written (`isKeyTaken`).
 *
 * The versions are read with a lock that lasts until the commit: who changes a tenant waits for the payments that were
 * accepted by what it was, and sees them. A payment method is deleted before the payment or refused for it, never both.
 */
export async function insertAccepted(
  db: Queryable,
  acceptances: readonly Acceptance[],
  { versions, keys }: { versions: Versions; keys: Keys },
): Promise<Claims> {
  const ordered = acceptances.toSorted((a, b) => compareKeys(a, b));
  const payments = ordered.map((acceptance) => acceptance.payment);
  const events = ordered.map((acceptance) => acceptance.event);
  // In one order, like every lock.
  const compared = [...versions].sort(([a], [b]) => (a < b ? -1 : 1));
  const hasRefunds = payments.some((payment) => payment.refundOf !== null);
  const { rows } = await db.query<ClaimsRow>(hasRefunds ? ACCEPT_WITH_REFUNDS : ACCEPT[keys], [
    textArray(payments.map((payment) => payment.tenantId)),
    textArray(ordered.map((acceptance) => acceptance.key)),
    textArray(ordered.map((acceptance) => acceptance.canonicalBody)),
    textArray(events.map((event) => event.id)),
    ...paymentColumns(payments),
    textArray(events.map((event) => event.data)),
    timestamptzArray(events.map((event) => event.createdAt)),
    textArray(ordered.map((acceptance) => acceptance.hold.id)),
    textArray(compared.map(([tenantId]) => tenantId)),
    int8Array(compared.map(([, version]) => version)),
    carriedTrace() ?? null,
    ...(hasRefunds
      ? [
          textArray(ordered.map((acceptance) => acceptance.path)),
          textArray(payments.map((payment) => payment.refundOf)),
        ]
      : []),
  ]);
  const [row] = rows;
  const stale = new Set(row?.stale?.split(' '));
  const all = events.filter((event) => !stale.has(event.tenantId)).map((event) => event.id);
  return { claimed: new Set(row?.all_claimed ? all : row?.claimed?.split(' ')), stale };
}

/** What a new payment has in columns of its own, in the order of the statements that write it. */
export function paymentColumns(payments: readonly Payment[]): unknown[] {
  return [
    textArray(payments.map((payment) => payment.id)),
    int8Array(payments.map((payment) => payment.amount)),
    textArray(payments.map((payment) => payment.sourceId)),
    textArray(payments.map((payment) => payment.destinationId)),
    textArray(payments.map((payment) => payment.debitAccount)),
    textArray(payments.map((payment) => payment.creditAccount)),
    textArray(payments.map((payment) => payment.railSelected)),
    boolArray(payments.map((payment) => payment.fallback)),
    jsonbArray(payments.map((payment) => JSON.stringify(payment.metadata))),
    timestamptzArray(payments.map((payment) => payment.createdAt)),
  ];
}

const UNIQUE_VIOLATION = '23505';

/** Whether the database refused a batch because somebody took one of its keys before. */
export function isKeyTaken(error: unknown): boolean {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  return code === UNIQUE_VIOLATION && constraint === 'idempotency_keys_pkey';
}

interface ClaimsRow {
  all_claimed: boolean;
  claimed: string | null;
  stale: string | null;
}

interface AcceptVariant {
  keys: Keys;
  path: string;
  refundOf: string;
  arrays: string;
  columns: string;
}

/**
 * Postgres hashes the bodies: there it costs a sixth of what it costs here. Nearly all keys are new, and a statement that
 * relies on it neither looks for each key before it writes it nor sorts out which were free: a tenth less for Postgres.
 * The odd `is true` keeps the planner from turning the look-up among the claimed into a loop over them for each row.
 */
const acceptText = ({ keys, path, refundOf, arrays, columns }: AcceptVariant) => `
with stale as materialized (
  select seen.tenant_id from unnest($18::text[], $19::bigint[]) as seen (tenant_id, version)
  left join lateral (select version from tenant_versions stored where stored.tenant_id = seen.tenant_id
    limit 1 for share) as stored on true
  where stored.version is distinct from seen.version
), input as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::boolean[], $13::jsonb[], $14::timestamptz[], $15::text[],
    $16::timestamptz[], $17::text[]${arrays})
  as input (tenant_id, key, canonical_body, event_id, id, amount, source_id, destination_id, debit_account, credit_account,
    rail_selected, fallback, metadata, created_at, document, accepted_at, hold_id${columns})
  where tenant_id <> all (array(select tenant_id from stale))
), claimed as (
  insert into idempotency_keys (tenant_id, path, key, fingerprint, event_id, status, created_at)
  select tenant_id, ${path}, key, sha256(convert_to(canonical_body, 'UTF8')), event_id, ${ACCEPT_STATUS}, accepted_at from input
  ${keys === 'new' ? '' : 'on conflict do nothing returning event_id'}
), ${
  keys === 'new'
    ? ''
    : `accepted as materialized (
  select * from input where (event_id in (select event_id from claimed)) is true
), `
}stored as (
  insert into payments (tenant_id, id, status, amount, source_id, destination_id, debit_account, credit_account,
    rail_selected, fallback, metadata, created_at, document, refund_of)
  select tenant_id, id, 'pending', amount, source_id, destination_id, debit_account, credit_account, rail_selected,
    fallback, metadata, created_at, document, ${refundOf}
  from ${acceptedOf(keys)}
), told as (
  insert into events (tenant_id, id, type, subject_id, data, occurred_at, created_at)
  select tenant_id, event_id, 'payment.pending', id, document, created_at, accepted_at from ${acceptedOf(keys)}
), held as (
  insert into ledger_transfers (tenant_id, id, payment_id, kind, debit_account, credit_account, amount, created_at)
  select tenant_id, hold_id, id, 'hold', debit_account, credit_account, amount, created_at from ${acceptedOf(keys)}
), ${enqueueWithin(
  `select case when is_live then '${LIVE_SUBMIT_JOB}' else '${SUBMIT_JOB}' end,
    jsonb_agg(jsonb_build_array(tenant_id, id)), $20::text
    from ${acceptedOf(keys)}, lateral (select right(tenant_id, 5) = '.live' as is_live) as mode
    group by is_live`,
)}${
  keys === 'new'
    ? ''
    : `, counted as (
  select count(*) = cardinality($1::text[]) as all_claimed, string_agg(event_id, ' ') as ids from claimed
)`
}
select ${keys === 'new' ? 'true as all_claimed' : 'all_claimed, case when not all_claimed then ids end as claimed'},
  (select string_agg(tenant_id, ' ') from stale) as stale, (select count(*) from woken)
${keys === 'new' ? '' : 'from counted'}`;

function acceptedOf(keys: Keys): string {
  return keys === 'new' ? 'input' : 'accepted';
}

/** Nearly all batches have no refund, and do not carry two more columns for those that do. */
const PLAIN = { path: `'${ACCEPT_PATH}'`, refundOf: 'null', arrays: '', columns: '' };
const ACCEPT: Record<Keys, PreparedStatement> = {
  new: { name: 'payments.accept_new', text: acceptText({ keys: 'new', ...PLAIN }) },
  unknown: { name: 'payments.accept', text: acceptText({ keys: 'unknown', ...PLAIN }) },
};
const ACCEPT_WITH_REFUNDS = {
  name: 'payments.accept_refunds',
  text: acceptText({
    ...{ keys: 'unknown', path: 'path', refundOf: 'refund_of' },
    ...{ arrays: ', $21::text[], $22::text[]', columns: ', path, refund_of' },
  }),
};

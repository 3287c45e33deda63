import type { Queryable } from '@libs/db';
import type { PaymentsEvent } from '../events/event.ts';
import type { Transfer } from '../ledger/transfer.ts';
import type { Payment } from './payment.ts';

export interface KeyLookup {
  tenantId: string;
  path: string;
  key: string;
}

export interface StoredResponse extends KeyLookup {
  fingerprint: Buffer;
  status: number;
  body: string;
}

interface StoredResponseRow {
  tenant_id: string;
  path: string;
  key: string;
  fingerprint: Buffer;
  status: number;
  body: string;
}

/** The first responses to these keys, where there are any: a payment's is the data of its first event. */
export async function findResponses(db: Queryable, lookups: readonly KeyLookup[]): Promise<StoredResponse[]> {
  const { rows } = await db.query<StoredResponseRow>(
    {
      name: 'idempotency.find',
      text: `select k.tenant_id, k.path, k.key, k.fingerprint, k.status, coalesce(k.response, e.data) as body
        from unnest($1::text[], $2::text[], $3::text[]) as wanted (tenant_id, path, key)
        join idempotency_keys k using (tenant_id, path, key)
        left join events e on e.tenant_id = k.tenant_id and e.id = k.event_id`,
    },
    [
      lookups.map((lookup) => lookup.tenantId),
      lookups.map((lookup) => lookup.path),
      lookups.map((lookup) => lookup.key),
    ],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    path: row.path,
    key: row.key,
    fingerprint: row.fingerprint,
    status: row.status,
    body: row.body,
  }));
}

/** Everything that accepting one payment writes. */
export interface Acceptance {
  key: string;
  fingerprint: Buffer;
  payment: Payment;
  event: PaymentsEvent;
  hold: Transfer;
}

export const ACCEPT_PATH = '/v1/payments';
export const ACCEPT_STATUS = 202;

/**
 * Accepts many payments in one statement: claims their keys, and for each key that was free writes the payment, its
 * event and its hold, and one job for all of them. Keys are claimed in one order, so that two processes with the same
 * keys wait for each other in line and not in a ring. Answers the ids of the events whose keys were free.
 */
export async function insertAccepted(
  db: Queryable,
  acceptances: readonly Acceptance[],
): Promise<Set<string>> {
  const ordered = acceptances.toSorted((a, b) => compareKeys(a, b));
  const payments = ordered.map((acceptance) => acceptance.payment);
  const events = ordered.map((acceptance) => acceptance.event);
  const holds = ordered.map((acceptance) => acceptance.hold);
  const { rows } = await db.query<{ event_id: string }>({ name: 'payments.accept', text: ACCEPT }, [
    payments.map((payment) => payment.tenantId),
    ordered.map((acceptance) => acceptance.key),
    ordered.map((acceptance) => acceptance.fingerprint),
    events.map((event) => event.id),
    payments.map((payment) => payment.id),
    payments.map((payment) => payment.amount),
    payments.map((payment) => payment.currency),
    payments.map((payment) => payment.sourceId),
    payments.map((payment) => payment.destinationId),
    payments.map((payment) => payment.rail),
    payments.map((payment) => payment.railSelected),
    payments.map((payment) => payment.railDecision.prefer),
    payments.map((payment) => payment.fallback),
    payments.map((payment) => JSON.stringify(payment.railDecision)),
    payments.map((payment) => JSON.stringify(payment.attempts)),
    payments.map((payment) => JSON.stringify(payment.timeline)),
    payments.map((payment) => payment.feeAmount),
    payments.map((payment) => payment.description),
    payments.map((payment) => JSON.stringify(payment.metadata)),
    payments.map((payment) => payment.estimatedSettlementAt),
    payments.map((payment) => payment.createdAt),
    events.map((event) => event.data),
    events.map((event) => event.createdAt),
    holds.map((hold) => hold.id),
    holds.map((hold) => hold.debitAccount),
    holds.map((hold) => hold.creditAccount),
  ]);
  return new Set(rows.map((row) => row.event_id));
}

function compareKeys(a: Acceptance, b: Acceptance): number {
  if (a.payment.tenantId !== b.payment.tenantId) return a.payment.tenantId < b.payment.tenantId ? -1 : 1;
  if (a.key === b.key) return 0;
  return a.key < b.key ? -1 : 1;
}

const ACCEPT = `
with input as (
  select * from unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::text[], $13::boolean[], $14::json[], $15::json[], $16::json[],
    $17::bigint[], $18::text[], $19::jsonb[], $20::timestamptz[], $21::timestamptz[], $22::text[], $23::timestamptz[],
    $24::text[], $25::text[], $26::text[])
  as input (tenant_id, key, fingerprint, event_id, id, amount, currency, source_id, destination_id, rail, rail_selected,
    prefer, fallback, rail_decision, attempts, timeline, fee_amount, description, metadata, estimated_settlement_at,
    created_at, data, accepted_at, hold_id, debit_account, credit_account)
), claimed as (
  insert into idempotency_keys (tenant_id, path, key, fingerprint, event_id, status, created_at)
  select tenant_id, '${ACCEPT_PATH}', key, fingerprint, event_id, ${ACCEPT_STATUS}, accepted_at from input
  on conflict do nothing returning event_id
), accepted as (
  select input.* from input join claimed using (event_id)
), stored as (
  insert into payments (tenant_id, id, status, amount, currency, source_id, destination_id, debit_account,
    credit_account, rail, rail_selected, prefer,
    fallback, rail_decision, attempts, timeline, fee_amount, description, metadata, estimated_settlement_at, created_at,
    updated_at)
  select tenant_id, id, 'pending', amount, currency, source_id, destination_id, debit_account, credit_account, rail, rail_selected, prefer, fallback,
    rail_decision, attempts, timeline, fee_amount, description, metadata, estimated_settlement_at, created_at, created_at
  from accepted
), told as (
  insert into events (tenant_id, id, type, subject_id, data, occurred_at, created_at)
  select tenant_id, event_id, 'payment.pending', id, data, created_at, accepted_at from accepted
), held as (
  insert into ledger_transfers (tenant_id, id, payment_id, kind, debit_account, credit_account, amount, created_at)
  select tenant_id, hold_id, id, 'hold', debit_account, credit_account, amount, created_at from accepted
), queued as materialized (
  select enqueue_job('payments.submit', jsonb_agg(jsonb_build_array(tenant_id, id)), now())
  from accepted having count(*) > 0
)
select event_id, (select count(*) from queued) from claimed`;

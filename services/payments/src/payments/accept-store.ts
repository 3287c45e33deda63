import type { Queryable } from '@libs/db';
import type { PaymentsEvent } from '../events/event.ts';
import type { Transfer } from '../ledger/transfer.ts';
import type { MethodKey, PaymentMethod } from '../payment-methods/method.ts';
import type { RailId } from '../routing/decision.ts';
import { type SandboxClock, toClock } from '../sandbox/clock.ts';
import type { Tenant } from '../tenant.ts';
import type { Subscriptions } from '../webhooks/endpoint.ts';
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
      text: `select k.tenant_id, k.path, k.key, k.fingerprint, k.status, coalesce(k.response,
          (select data from events e where e.tenant_id = k.tenant_id and e.id = k.event_id)) as body
        from unnest($1::text[], $2::text[], $3::text[]) as wanted (tenant_id, path, key)
        cross join lateral (select * from idempotency_keys stored where stored.tenant_id = wanted.tenant_id
          and stored.path = wanted.path and stored.key = wanted.key limit 1) as k`,
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

/** A payment method as far as routing asks. */
export interface MethodSummary extends MethodKey {
  type: PaymentMethod['type'];
  railsSend: PaymentMethod['railsSend'];
  railsReceive: PaymentMethod['railsReceive'];
  isDeleted: boolean;
}

export interface AcceptQuestion {
  lookups: readonly KeyLookup[];
  methods: readonly MethodKey[];
  tenants: readonly Tenant[];
}

/** All that accepting a batch must know beforehand. */
export interface AcceptContext {
  known: readonly StoredResponse[];
  methods: readonly MethodSummary[];
  clocks: ReadonlyMap<string, SandboxClock>;
  subscriptions: Subscriptions;
}

interface ContextRow {
  known: { t: string; p: string; k: string; f: string; s: number; b: string }[] | null;
  methods: { t: string; i: string; y: PaymentMethod['type']; s: RailId[]; r: RailId[]; d: boolean }[] | null;
  clocks: { i: string; f: string | null; o: number | null }[] | null;
  endpoints: { t: string; i: string; e: string[] }[] | null;
}

/**
 * Reads for a whole batch at once what four features know. They have queries of their own for all else; here four
 * round trips per batch were a third of the time that accepting takes.
 */
export async function findAcceptContext(db: Queryable, question: AcceptQuestion): Promise<AcceptContext> {
  const { lookups, methods, tenants } = question;
  const { rows } = await db.query<ContextRow>({ name: 'payments.context', text: CONTEXT }, [
    lookups.map((lookup) => lookup.tenantId),
    lookups.map((lookup) => lookup.key),
    methods.map((method) => method.tenantId),
    methods.map((method) => method.id),
    [...new Set(tenants.map((tenant) => tenant.organisationId))],
    tenants.map((tenant) => tenant.id),
  ]);
  const [row] = rows;
  return {
    known: (row?.known ?? []).map(({ t, p, k, f, s, b }) => ({
      tenantId: t,
      path: p,
      key: k,
      fingerprint: Buffer.from(f, 'hex'),
      status: s,
      body: b,
    })),
    methods: (row?.methods ?? []).map(({ t, i, y, s, r, d }) => ({
      tenantId: t,
      id: i,
      type: y,
      railsSend: s,
      railsReceive: r,
      isDeleted: d,
    })),
    clocks: new Map(
      (row?.clocks ?? []).map(({ i, f, o }) => [i, toClock(f === null ? null : new Date(f), o)]),
    ),
    subscriptions: Map.groupBy(
      (row?.endpoints ?? []).map(({ t, i, e }) => ({ tenantId: t, endpointId: i, events: e })),
      ({ tenantId }) => tenantId,
    ),
  };
}

// `lateral … limit 1` keeps each look-up a look-up: as plain joins, a plan made early reads the growing side whole.
const CONTEXT = `
select
  (select json_agg(json_build_object('t', k.tenant_id, 'p', k.path, 'k', k.key, 'f', encode(k.fingerprint, 'hex'),
      's', k.status, 'b', coalesce(k.response, (select data from events e where e.tenant_id = k.tenant_id and e.id = k.event_id))))
   from unnest($1::text[], $2::text[]) as wanted (tenant_id, key)
   cross join lateral (select * from idempotency_keys stored where stored.tenant_id = wanted.tenant_id
     and stored.path = '/v1/payments' and stored.key = wanted.key limit 1) as k) as known,
  (select json_agg(json_build_object('t', m.tenant_id, 'i', m.id, 'y', m.type, 's', m.rails_send, 'r', m.rails_receive,
      'd', m.deleted_at is not null))
   from unnest($3::text[], $4::text[]) as wanted (tenant_id, id)
   cross join lateral (select * from payment_methods stored where stored.tenant_id = wanted.tenant_id
     and stored.id = wanted.id limit 1) as m) as methods,
  (select json_agg(json_build_object('i', id, 'f', clock_frozen_at, 'o', clock_offset_ms))
   from organisations where id = any($5)) as clocks,
  (select json_agg(json_build_object('t', tenant_id, 'i', id, 'e', events))
   from webhook_endpoints where tenant_id = any($6) and status = 'enabled') as endpoints`;

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
  const { rows } = await db.query<{ event_id: string }>({ name: 'payments.accept', text: ACCEPT }, [
    payments.map((payment) => payment.tenantId),
    ordered.map((acceptance) => acceptance.key),
    ordered.map((acceptance) => acceptance.fingerprint),
    events.map((event) => event.id),
    payments.map((payment) => payment.id),
    payments.map((payment) => payment.amount),
    payments.map((payment) => payment.sourceId),
    payments.map((payment) => payment.destinationId),
    payments.map((payment) => payment.debitAccount),
    payments.map((payment) => payment.creditAccount),
    payments.map((payment) => payment.railSelected),
    payments.map((payment) => payment.fallback),
    payments.map((payment) => JSON.stringify(payment.metadata)),
    payments.map((payment) => payment.createdAt),
    events.map((event) => event.data),
    events.map((event) => event.createdAt),
    ordered.map((acceptance) => acceptance.hold.id),
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
    $9::text[], $10::text[], $11::text[], $12::boolean[], $13::jsonb[], $14::timestamptz[], $15::text[],
    $16::timestamptz[], $17::text[])
  as input (tenant_id, key, fingerprint, event_id, id, amount, source_id, destination_id, debit_account, credit_account,
    rail_selected, fallback, metadata, created_at, document, accepted_at, hold_id)
), claimed as (
  insert into idempotency_keys (tenant_id, path, key, fingerprint, event_id, status, created_at)
  select tenant_id, '${ACCEPT_PATH}', key, fingerprint, event_id, ${ACCEPT_STATUS}, accepted_at from input
  on conflict do nothing returning event_id
), accepted as (
  select input.* from input join claimed using (event_id)
), stored as (
  insert into payments (tenant_id, id, status, amount, source_id, destination_id, debit_account, credit_account,
    rail_selected, fallback, metadata, created_at, document)
  select tenant_id, id, 'pending', amount, source_id, destination_id, debit_account, credit_account, rail_selected,
    fallback, metadata, created_at, document
  from accepted
), told as (
  insert into events (tenant_id, id, type, subject_id, data, occurred_at, created_at)
  select tenant_id, event_id, 'payment.pending', id, document, created_at, accepted_at from accepted
), held as (
  insert into ledger_transfers (tenant_id, id, payment_id, kind, debit_account, credit_account, amount, created_at)
  select tenant_id, hold_id, id, 'hold', debit_account, credit_account, amount, created_at from accepted
), queued as materialized (
  select enqueue_job('payments.submit', jsonb_agg(jsonb_build_array(tenant_id, id)), now())
  from accepted having count(*) > 0
)
select event_id, (select count(*) from queued) from claimed`;

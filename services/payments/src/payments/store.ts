import {
  int8Array,
  type Queryable,
  queryByTenant,
  tenantStatement,
  textArray,
  timestamptzArray,
} from '@libs/db';
import { cameBack } from '../came-back-store.ts';
import { compareTenantKeys } from '../tenant.ts';
import type { ChangedPayment } from './changed-payment.ts';
import { type ApiPayment, fromDocument, type Payment } from './payment.ts';
import { undoneRefunds } from './refund.ts';

/** A payment as statements of `COLUMNS` find it. */
export interface PaymentRow {
  tenant_id: string;
  debit_account: string;
  credit_account: string;
  fallback: boolean;
  document: string;
  refunded: number;
}

export function paymentFromRow(row: PaymentRow): Payment {
  return fromDocument(JSON.parse(row.document) as ApiPayment, {
    tenantId: row.tenant_id,
    debitAccount: row.debit_account,
    creditAccount: row.credit_account,
    fallback: row.fallback,
    refundedAmount: row.refunded,
  });
}

const refundedOf = (
  tenant: string,
) => `coalesce((select sum(refund.amount) from payments refund where refund.tenant_id = ${tenant}
  and refund.refund_of = p.id and refund.status not in (${undoneRefunds.map((status) => `'${status}'`).join(', ')})
  and not (refund.status = 'returned' and ${cameBack(tenant, 'refund.id')})), 0)::bigint`;

/** Of `payments p` of one tenant. Nothing that is still under way was refunded, so only what has completed costs a look. */
const columnsOf = (tenant: string) => `tenant_id, debit_account, credit_account, fallback, document,
  case when p.status in ('completed', 'returned') then ${refundedOf(tenant)} else 0 end as refunded`;
export const COLUMNS = columnsOf('$1');

export interface PaymentKey {
  tenantId: string;
  id: string;
}

export async function findPayment(db: Queryable, key: PaymentKey): Promise<Payment | undefined> {
  const { rows } = await db.query<PaymentRow>(
    { name: 'payments.find', text: `select ${COLUMNS} from payments p where tenant_id = $1 and id = $2` },
    [key.tenantId, key.id],
  );
  return rows[0] && paymentFromRow(rows[0]);
}

/**
 * Locks payments in one order, whoever asks, so that two workers never wait for each other. `lateral … limit 1` keeps
 * each of them a look-up by key, whatever the planner thinks of a table that was small when it was asked.
 */
export async function lockPayments(tx: Queryable, keys: readonly PaymentKey[]): Promise<Payment[]> {
  const rows = await queryByTenant<PaymentRow, PaymentKey>(
    tx,
    LOCK,
    keys.toSorted(compareTenantKeys),
    keyColumns,
  );
  return rows.map(paymentFromRow);
}

const LOCK = tenantStatement(
  'payments.lock',
  (tenant) => `select found.* from unnest($1::text[], $2::text[]) as wanted (tenant_id, id)
    cross join lateral (select ${columnsOf(tenant)} from payments p
      where p.tenant_id = ${tenant} and p.id = wanted.id limit 1 for update of p) as found`,
);

/** A bounded number of the refunds of a payment that have not left. */
export async function findPendingRefunds(
  db: Queryable,
  { tenantId, id }: PaymentKey,
  limit: number,
): Promise<PaymentKey[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from payments where tenant_id = $1 and refund_of = $2 and status = 'pending' order by id limit $3`,
    [tenantId, id, limit],
  );
  return rows.map((row) => ({ tenantId, id: row.id }));
}

function keyColumns(keys: readonly PaymentKey[]): Buffer[] {
  return [textArray(keys.map((key) => key.tenantId)), textArray(keys.map((key) => key.id))];
}

/** What refunds that did not fail take back of payments, by tenant and id. */
export async function refundedAmounts(
  db: Queryable,
  keys: readonly PaymentKey[],
): Promise<Map<string, number>> {
  const rows = await queryByTenant<RefundedRow, PaymentKey>(db, REFUNDED_AMOUNTS, keys, keyColumns);
  return new Map(rows.map((row) => [`${row.tenant_id} ${row.id}`, row.refunded]));
}

interface RefundedRow {
  tenant_id: string;
  id: string;
  refunded: number;
}

const REFUNDED_AMOUNTS = tenantStatement(
  'payments.refunded',
  (tenant) =>
    `select p.tenant_id, p.id, ${refundedOf(tenant)} as refunded from unnest($1::text[], $2::text[]) as p (tenant_id, id)`,
  'p.tenant_id',
);

/**
 * Writes what may change in payments after they were accepted, with their events and their transfers, in one statement:
 * three would send and take apart each document twice. The rows are locked already, so their place in the table stands
 * still, and joining by it leaves the planner no way to read the table whole.
 */
export async function writeChanges(tx: Queryable, changed: readonly ChangedPayment[]): Promise<void> {
  await tx.query({ name: 'payments.change', text: CHANGE }, [
    textArray(changed.map(({ payment }) => payment.tenantId)),
    textArray(changed.map(({ payment }) => payment.id)),
    textArray(changed.map(({ payment }) => payment.status)),
    textArray(changed.map(({ payment }) => payment.railSelected)),
    textArray(changed.map(({ document }) => document)),
    textArray(changed.map(({ event }) => event?.id ?? null)),
    textArray(changed.map(({ event }) => event?.type ?? null)),
    timestamptzArray(changed.map(({ event, payment }) => event?.occurredAt ?? payment.updatedAt)),
    timestamptzArray(changed.map(({ event, payment }) => event?.createdAt ?? payment.updatedAt)),
    textArray(changed.map(({ transfer }) => transfer?.id ?? null)),
    textArray(changed.map(({ transfer }) => transfer?.kind ?? null)),
    timestamptzArray(changed.map(({ transfer, payment }) => transfer?.createdAt ?? payment.updatedAt)),
    int8Array(changed.map(({ transfer }) => transfer?.fee ?? 0)),
  ]);
}

const CHANGE = `
with input as materialized (
  select wanted.*, found.place, found.debit_account, found.credit_account, found.amount
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
      $9::timestamptz[], $10::text[], $11::text[], $12::timestamptz[], $13::bigint[])
    as wanted (tenant_id, id, status, rail_selected, document, event_id, event_type, occurred_at, recorded_at,
      transfer_id, transfer_kind, transferred_at, fee)
  cross join lateral (select stored.ctid as place, stored.debit_account, stored.credit_account, stored.amount
    from payments stored where stored.tenant_id = wanted.tenant_id and stored.id = wanted.id limit 1) as found
), told as (
  insert into events (tenant_id, id, type, subject_id, data, occurred_at, created_at)
  select tenant_id, event_id, event_type, id, document, occurred_at, recorded_at from input where event_id is not null
), moved as (
  insert into ledger_transfers
    (tenant_id, id, payment_id, kind, rail, debit_account, credit_account, amount, fee, created_at)
  select tenant_id, transfer_id, id, transfer_kind, rail_selected, debit_account, credit_account, amount, fee,
    transferred_at
  from input where transfer_id is not null
)
update payments p set status = c.status, rail_selected = c.rail_selected, document = c.document
from input as c where p.ctid = c.place`;

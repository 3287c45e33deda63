import type { Queryable } from '@libs/db';
import { parseTenantId } from '../tenant.ts';
import type { Payment } from './payment.ts';

interface PaymentRow {
  tenant_id: string;
  id: string;
  status: Payment['status'];
  amount: number;
  currency: string;
  source_id: string;
  destination_id: string;
  debit_account: string;
  credit_account: string;
  rail: Payment['rail'];
  rail_selected: Payment['railSelected'];
  fallback: boolean;
  rail_decision: Payment['railDecision'];
  attempts: Payment['attempts'];
  timeline: Payment['timeline'];
  failure: Payment['failure'];
  fee_amount: number;
  description: string | null;
  metadata: Record<string, string>;
  estimated_settlement_at: Date;
  created_at: Date;
  updated_at: Date;
}

function fromRow(row: PaymentRow): Payment {
  return {
    tenantId: row.tenant_id,
    mode: parseTenantId(row.tenant_id).mode,
    id: row.id,
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    sourceId: row.source_id,
    destinationId: row.destination_id,
    debitAccount: row.debit_account,
    creditAccount: row.credit_account,
    rail: row.rail,
    railSelected: row.rail_selected,
    fallback: row.fallback,
    railDecision: row.rail_decision,
    attempts: row.attempts,
    timeline: row.timeline,
    failure: row.failure,
    feeAmount: row.fee_amount,
    description: row.description,
    metadata: row.metadata,
    estimatedSettlementAt: row.estimated_settlement_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const COLUMNS = `tenant_id, id, status, amount, currency, source_id, destination_id, debit_account,
  credit_account, rail, rail_selected, fallback, rail_decision, attempts, timeline, failure, fee_amount, description, metadata, estimated_settlement_at, created_at,
  updated_at`;

export interface PaymentKey {
  tenantId: string;
  id: string;
}

export async function findPayment(db: Queryable, key: PaymentKey): Promise<Payment | undefined> {
  const { rows } = await db.query<PaymentRow>(
    { name: 'payments.find', text: `select ${COLUMNS} from payments where tenant_id = $1 and id = $2` },
    [key.tenantId, key.id],
  );
  return rows[0] && fromRow(rows[0]);
}

/** Locks payments in one order, whoever asks, so that two workers never wait for each other. */
export async function lockPayments(tx: Queryable, keys: readonly PaymentKey[]): Promise<Payment[]> {
  const { rows } = await tx.query<PaymentRow>(
    {
      name: 'payments.lock',
      text: `select ${COLUMNS} from payments
        where (tenant_id, id) in (select * from unnest($1::text[], $2::text[]))
        order by tenant_id, id for update`,
    },
    [keys.map((key) => key.tenantId), keys.map((key) => key.id)],
  );
  return rows.map(fromRow);
}

/** Writes what may change in a payment after it was accepted. */
export async function updatePayments(tx: Queryable, payments: readonly Payment[]): Promise<void> {
  if (payments.length === 0) return;
  await tx.query(
    {
      name: 'payments.update',
      text: `update payments p set status = c.status, rail_selected = c.rail_selected, rail_decision = c.rail_decision,
          attempts = c.attempts, timeline = c.timeline, failure = c.failure, fee_amount = c.fee_amount,
          estimated_settlement_at = c.estimated_settlement_at, updated_at = c.updated_at
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::json[], $6::json[], $7::json[], $8::json[],
            $9::bigint[], $10::timestamptz[], $11::timestamptz[])
          as c (tenant_id, id, status, rail_selected, rail_decision, attempts, timeline, failure, fee_amount,
            estimated_settlement_at, updated_at)
        where p.tenant_id = c.tenant_id and p.id = c.id`,
    },
    [
      payments.map((payment) => payment.tenantId),
      payments.map((payment) => payment.id),
      payments.map((payment) => payment.status),
      payments.map((payment) => payment.railSelected),
      payments.map((payment) => JSON.stringify(payment.railDecision)),
      payments.map((payment) => JSON.stringify(payment.attempts)),
      payments.map((payment) => JSON.stringify(payment.timeline)),
      payments.map((payment) => (payment.failure === null ? null : JSON.stringify(payment.failure))),
      payments.map((payment) => payment.feeAmount),
      payments.map((payment) => payment.estimatedSettlementAt),
      payments.map((payment) => payment.updatedAt),
    ],
  );
}

export interface PaymentFilter {
  status: string | null;
  rail: string | null;
  paymentMethod: string | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
  metadata: Readonly<Record<string, string>> | null;
  /** The last id of the page before. */
  beforeId: string | null;
  limit: number;
}

/** Newest first. Conditions are only written where they are asked for, so that each query finds its index. */
export async function listPayments(
  db: Queryable,
  tenantId: string,
  filter: PaymentFilter,
): Promise<Payment[]> {
  const values: unknown[] = [tenantId];
  const conditions = ['tenant_id = $1'];
  const add = (condition: (position: string) => string, value: unknown) => {
    if (value === null) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  add(
    (p) => `status = ${p}${filter.status === 'completed' ? '' : ` and status <> 'completed'`}`,
    filter.status,
  );
  add((p) => `rail_selected = ${p}`, filter.rail);
  add((p) => `(source_id = ${p} or destination_id = ${p})`, filter.paymentMethod);
  add((p) => `created_at >= ${p}`, filter.createdAfter);
  add((p) => `created_at < ${p}`, filter.createdBefore);
  add((p) => `metadata <> '{}' and metadata @> ${p}`, filter.metadata && JSON.stringify(filter.metadata));
  add((p) => `id < ${p}`, filter.beforeId);
  values.push(filter.limit);
  const { rows } = await db.query<PaymentRow>(
    `select ${COLUMNS} from payments where ${conditions.join(' and ')} order by id desc limit $${values.length}`,
    values,
  );
  return rows.map(fromRow);
}

/** Whether money is on its way from or to this payment method. */
export async function hasOpenPayments(db: Queryable, key: PaymentKey): Promise<boolean> {
  const { rows } = await db.query<{ open: boolean }>(
    `select exists (select 1 from payments where tenant_id = $1 and (source_id = $2 or destination_id = $2)
       and status in ('pending', 'processing')) as open`,
    [key.tenantId, key.id],
  );
  return rows[0]?.open ?? false;
}

import type { Queryable } from '@libs/db';
import { type ApiPayment, fromApi, type Payment } from './payment.ts';

interface PaymentRow {
  tenant_id: string;
  debit_account: string;
  credit_account: string;
  fallback: boolean;
  document: string;
}

function fromRow(row: PaymentRow): Payment {
  return fromApi(JSON.parse(row.document) as ApiPayment, {
    tenantId: row.tenant_id,
    debitAccount: row.debit_account,
    creditAccount: row.credit_account,
    fallback: row.fallback,
  });
}

const COLUMNS = 'tenant_id, debit_account, credit_account, fallback, document';

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

/**
 * Locks payments in one order, whoever asks, so that two workers never wait for each other. `lateral … limit 1` keeps
 * each of them a look-up by key, whatever the planner thinks of a table that was small when it was asked.
 */
export async function lockPayments(tx: Queryable, keys: readonly PaymentKey[]): Promise<Payment[]> {
  const ordered = keys.toSorted(compareKeys);
  const { rows } = await tx.query<PaymentRow>(
    {
      name: 'payments.lock',
      text: `select ${COLUMNS.split(', ')
        .map((column) => `found.${column}`)
        .join(', ')}
        from unnest($1::text[], $2::text[]) as wanted (tenant_id, id)
        cross join lateral (select * from payments p where p.tenant_id = wanted.tenant_id and p.id = wanted.id
          limit 1 for update) as found`,
    },
    [ordered.map((key) => key.tenantId), ordered.map((key) => key.id)],
  );
  return rows.map(fromRow);
}

function compareKeys(a: PaymentKey, b: PaymentKey): number {
  if (a.tenantId !== b.tenantId) return a.tenantId < b.tenantId ? -1 : 1;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

/** A payment with its document, which is also the data of its last event. */
export interface ChangedPayment {
  payment: Payment;
  document: string;
}

/**
 * Writes what may change in a payment after it was accepted. The rows are locked already, so their place in the table
 * stands still, and joining by it leaves the planner no way to read the table whole.
 */
export async function updatePayments(tx: Queryable, changed: readonly ChangedPayment[]): Promise<void> {
  if (changed.length === 0) return;
  await tx.query(
    {
      name: 'payments.update',
      text: `update payments p set status = c.status, rail_selected = c.rail_selected, document = c.document
        from (
          select wanted.*, found.place
          from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
            as wanted (tenant_id, id, status, rail_selected, document)
          cross join lateral (select stored.ctid as place from payments stored
            where stored.tenant_id = wanted.tenant_id and stored.id = wanted.id limit 1) as found
        ) as c
        where p.ctid = c.place`,
    },
    [
      changed.map(({ payment }) => payment.tenantId),
      changed.map(({ payment }) => payment.id),
      changed.map(({ payment }) => payment.status),
      changed.map(({ payment }) => payment.railSelected),
      changed.map(({ document }) => document),
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

import { type Queryable, queryByTenant, type TenantStatement, tenantStatement } from '@libs/db';
import type { Balance, BalanceKey } from './balance.ts';
import type { BalanceChange, Transfer } from './transfer.ts';

export async function insertTransfers(tx: Queryable, transfers: readonly Transfer[]): Promise<void> {
  if (transfers.length === 0) return;
  await tx.query(
    {
      name: 'ledger.insert',
      text: `insert into ledger_transfers
          (tenant_id, id, payment_id, kind, rail, debit_account, credit_account, amount, fee, created_at)
        select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
          $8::bigint[], $9::bigint[], $10::timestamptz[])`,
    },
    [
      transfers.map((transfer) => transfer.tenantId),
      transfers.map((transfer) => transfer.id),
      transfers.map((transfer) => transfer.paymentId),
      transfers.map((transfer) => transfer.kind),
      transfers.map((transfer) => transfer.rail),
      transfers.map((transfer) => transfer.debitAccount),
      transfers.map((transfer) => transfer.creditAccount),
      transfers.map((transfer) => transfer.amount),
      transfers.map((transfer) => transfer.fee),
      transfers.map((transfer) => transfer.createdAt),
    ],
  );
}

interface BalanceRow {
  tenant_id: string;
  payment_method_id: string;
  currency: string;
  posted: number;
  held: number;
  incoming: number;
  owed: number;
}

function fromRow(row: BalanceRow): Balance {
  return {
    tenantId: row.tenant_id,
    paymentMethodId: row.payment_method_id,
    currency: row.currency,
    posted: row.posted,
    held: row.held,
    incoming: row.incoming,
    owed: row.owed,
  };
}

/** Locks balances in one order, whoever asks, so that two transactions never wait for each other. */
export async function lockBalances(tx: Queryable, keys: readonly BalanceKey[]): Promise<Balance[]> {
  if (keys.length === 0) return [];
  const rows = await queryByTenant<BalanceRow, BalanceKey>(tx, LOCK, keys, (some) => [
    some.map((key) => key.tenantId),
    some.map((key) => key.paymentMethodId),
  ]);
  return rows.map(fromRow);
}

const COLUMNS = 'tenant_id, payment_method_id, currency, posted, held, incoming, owed';
const LOCK: TenantStatement = {
  together: {
    name: 'ledger.lock',
    text: `select ${COLUMNS} from ledger_balances
      where (tenant_id, payment_method_id) in (select * from unnest($1::text[], $2::text[]))
      order by tenant_id, payment_method_id for update`,
  },
  apart: {
    name: 'ledger.lock.apart',
    text: `select ${COLUMNS} from ledger_balances where tenant_id = ($1::text[])[1] and payment_method_id = any($2)
      order by payment_method_id for update`,
  },
};

/** The database itself refuses a change that would overdraw: `never_overdrawn`. */
export async function changeBalances(tx: Queryable, changes: readonly BalanceChange[]): Promise<void> {
  if (changes.length === 0) return;
  await queryByTenant(tx, CHANGE, changes, (some) => [
    some.map((change) => change.tenantId),
    some.map((change) => change.paymentMethodId),
    some.map((change) => change.posted),
    some.map((change) => change.held),
    some.map((change) => change.incoming),
    some.map((change) => change.mayOwe),
  ]);
}

const CHANGE = tenantStatement(
  'ledger.change',
  (tenant) => `update ledger_balances b set
      posted = b.posted + c.posted, held = b.held + c.held, incoming = b.incoming + c.incoming,
      owed = case when c.may_owe then greatest(0, b.held + c.held - b.posted - c.posted)
             else least(b.owed, greatest(0, b.held + c.held - b.posted - c.posted)) end
    from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[])
      as c (tenant_id, payment_method_id, posted, held, incoming, may_owe)
    where b.tenant_id = ${tenant} and b.payment_method_id = c.payment_method_id`,
  'c.tenant_id',
);

export async function openBalance(tx: Queryable, key: BalanceKey & { currency: string }): Promise<void> {
  await tx.query('insert into ledger_balances (tenant_id, payment_method_id, currency) values ($1, $2, $3)', [
    key.tenantId,
    key.paymentMethodId,
    key.currency,
  ]);
}

import { type Queryable, queryByTenant, tenantStatement } from '@libs/db';
import type { BankAccount, MethodFilter, MethodKey, PaymentMethod, ViewedMethod } from './method.ts';

interface MethodRow {
  tenant_id: string;
  id: string;
  type: PaymentMethod['type'];
  routing_number: string | null;
  account_sealed: Buffer | null;
  account_last4: string | null;
  fingerprint: string | null;
  account_type: BankAccount['accountType'] | null;
  holder_name: string | null;
  holder_type: BankAccount['holderType'] | null;
  rails_send: PaymentMethod['railsSend'];
  rails_receive: PaymentMethod['railsReceive'];
  metadata: Record<string, string>;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
}

const COLUMNS = `tenant_id, id, type, routing_number, account_sealed, account_last4, fingerprint, account_type, holder_name,
  holder_type, rails_send, rails_receive, metadata, created_at, updated_at, deleted_at`;

function fromRow(row: MethodRow): PaymentMethod {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    type: row.type,
    bank: row.type === 'bank_account' ? bankFromRow(row) : null,
    railsSend: row.rails_send,
    railsReceive: row.rails_receive,
    metadata: row.metadata,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
  };
}

/** The table's check guarantees that a bank account has all of these. */
function bankFromRow(row: MethodRow): BankAccount {
  return {
    routingNumber: row.routing_number as string,
    accountSealed: row.account_sealed as Buffer,
    last4: row.account_last4 ?? '',
    fingerprint: row.fingerprint as string,
    accountType: row.account_type as BankAccount['accountType'],
    holderName: row.holder_name as string,
    holderType: row.holder_type as BankAccount['holderType'],
  };
}

/** Methods of any tenants, deleted ones too; those that are not stored are absent. */
export async function findMethods(db: Queryable, keys: readonly MethodKey[]): Promise<PaymentMethod[]> {
  if (keys.length === 0) return [];
  const rows = await queryByTenant<MethodRow, MethodKey>(db, FIND, keys, (some) => [
    some.map((key) => key.tenantId),
    some.map((key) => key.id),
  ]);
  return rows.map(fromRow);
}

const FIND = tenantStatement(
  'methods.find',
  (tenant) => `select found.* from unnest($1::text[], $2::text[]) as wanted (tenant_id, id)
    cross join lateral (select ${COLUMNS} from payment_methods m
      where m.tenant_id = ${tenant} and m.id = wanted.id limit 1) as found`,
);

/** A method with the id that lists go by: test accounts have ids of the callers' own, which tell no time. */
export interface NewMethod {
  method: PaymentMethod;
  sortId: string;
}

/** Adds methods that are not there yet; answers `tenant id` of those that were added. */
export async function insertMethods(
  tx: Queryable,
  added: readonly NewMethod[],
): Promise<ReadonlySet<string>> {
  if (added.length === 0) return new Set();
  const methods = added.map(({ method }) => method);
  const { rows } = await tx.query<{ tenant_id: string; id: string }>(
    {
      name: 'methods.insert',
      text: `insert into payment_methods (${COLUMNS}, sort_id)
        select tenant_id, id, type, routing_number, account_sealed, account_last4, fingerprint, account_type,
          holder_name, holder_type, string_to_array(rails_send, ','), string_to_array(rails_receive, ','), metadata,
          created_at, updated_at, null, sort_id
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::text[],
            $9::text[], $10::text[], $11::text[], $12::text[], $13::jsonb[], $14::timestamptz[], $15::timestamptz[],
            $16::text[])
          as new (tenant_id, id, type, routing_number, account_sealed, account_last4, fingerprint, account_type,
            holder_name, holder_type, rails_send, rails_receive, metadata, created_at, updated_at, sort_id)
        on conflict do nothing returning tenant_id, id`,
    },
    [
      methods.map((method) => method.tenantId),
      methods.map((method) => method.id),
      methods.map((method) => method.type),
      methods.map((method) => method.bank?.routingNumber ?? null),
      methods.map((method) => method.bank?.accountSealed ?? null),
      methods.map((method) => method.bank?.last4 ?? null),
      methods.map((method) => method.bank?.fingerprint ?? null),
      methods.map((method) => method.bank?.accountType ?? null),
      methods.map((method) => method.bank?.holderName ?? null),
      methods.map((method) => method.bank?.holderType ?? null),
      methods.map((method) => method.railsSend.join(',')),
      methods.map((method) => method.railsReceive.join(',')),
      methods.map((method) => JSON.stringify(method.metadata)),
      methods.map((method) => method.createdAt),
      methods.map((method) => method.updatedAt),
      added.map(({ sortId }) => sortId),
    ],
  );
  return new Set(rows.map((row) => `${row.tenant_id} ${row.id}`));
}

interface ViewRow extends MethodRow {
  sort_id: string;
  currency: string | null;
  posted: number | null;
  held: number | null;
  incoming: number | null;
  owed: number | null;
}

const VIEW = `select ${COLUMNS}, sort_id, currency, posted, held, incoming, owed from payment_methods m
  left join lateral (
    select currency, posted, held, incoming, owed from ledger_balances b
    where b.tenant_id = m.tenant_id and b.payment_method_id = m.id
  ) as balance on m.type = 'balance'`;

function viewFromRow(row: ViewRow): ViewedMethod {
  const { currency, posted, held, incoming, owed } = row;
  const method = fromRow(row);
  if (currency === null || posted === null || held === null || incoming === null || owed === null) {
    return { method, balance: null, sortId: row.sort_id };
  }
  const balance = { currency, posted, pending: incoming - held, available: posted - held, owed };
  return { method, balance, sortId: row.sort_id };
}

/** A method that is there, with what its balance holds. */
export async function findView(db: Queryable, key: MethodKey): Promise<ViewedMethod | undefined> {
  const { rows } = await db.query<ViewRow>(
    `${VIEW} where tenant_id = $1 and id = $2 and deleted_at is null`,
    [key.tenantId, key.id],
  );
  return rows[0] && viewFromRow(rows[0]);
}

/** Newest first. */
export async function listViews(
  db: Queryable,
  tenantId: string,
  filter: MethodFilter,
): Promise<ViewedMethod[]> {
  const { rows } = await db.query<ViewRow>(
    `${VIEW} where tenant_id = $1 and deleted_at is null and ($2::text is null or type = $2)
       and ($3::text is null or fingerprint = $3)
       and ($4::text is null or sort_id < $4)
     order by sort_id desc limit $5`,
    [tenantId, filter.type, filter.fingerprint, filter.beforeSortId, filter.limit],
  );
  return rows.map(viewFromRow);
}

export async function lockMethod(tx: Queryable, key: MethodKey): Promise<PaymentMethod | undefined> {
  const { rows } = await tx.query<MethodRow>(
    `select ${COLUMNS} from payment_methods where tenant_id = $1 and id = $2 for update`,
    [key.tenantId, key.id],
  );
  return rows[0] && fromRow(rows[0]);
}

export async function markDeleted(tx: Queryable, key: MethodKey, at: Date): Promise<void> {
  await tx.query(
    'update payment_methods set deleted_at = $3, updated_at = $3 where tenant_id = $1 and id = $2',
    [key.tenantId, key.id, at],
  );
}

/** Takes the deletion of a balance back that is not empty; answers whether it did. */
export async function reopenWithMoney(tx: Queryable, key: MethodKey, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update payment_methods m set deleted_at = null, updated_at = $3
     where m.tenant_id = $1 and m.id = $2 and m.deleted_at is not null
       and exists (select 1 from ledger_balances b
         where b.tenant_id = m.tenant_id and b.payment_method_id = m.id and (b.posted <> 0 or b.owed <> 0))`,
    [key.tenantId, key.id, at],
  );
  return rowCount === 1;
}

/** Writes what a notification of change may put right. */
export async function updateBankAccount(
  tx: Queryable,
  method: PaymentMethod,
  bank: BankAccount,
): Promise<void> {
  await tx.query(
    `update payment_methods set routing_number = $3, account_sealed = $4, account_last4 = $5, fingerprint = $6,
       account_type = $7, holder_name = $8, rails_send = $9, rails_receive = $10, updated_at = $11
     where tenant_id = $1 and id = $2`,
    [
      method.tenantId,
      method.id,
      bank.routingNumber,
      bank.accountSealed,
      bank.last4,
      bank.fingerprint,
      bank.accountType,
      bank.holderName,
      method.railsSend,
      method.railsReceive,
      method.updatedAt,
    ],
  );
}

/** The fingerprint under which this account is known already, made by this sealing key or an earlier one. */
export async function findFingerprint(
  db: Queryable,
  tenantId: string,
  candidates: readonly string[],
): Promise<string | undefined> {
  const { rows } = await db.query<{ fingerprint: string }>(
    `select fingerprint from payment_methods where tenant_id = $1 and fingerprint = any($2)
     order by sort_id limit 1`,
    [tenantId, candidates],
  );
  return rows[0]?.fingerprint;
}

import type { Queryable } from '@libs/db';
import { FEE_REVENUE, FEES_OWED, OUTSIDE_DESTINATIONS, OUTSIDE_SOURCES, OWED_PREFIX } from './transfer.ts';

export interface AccountRow {
  id: string;
  payment_method_id: string | null;
  currency: string;
  posted: number;
  pending: number;
  available: number;
  owed: number;
}

/** A credit adds to an account and a debit takes from it; what is promised and not yet settled is pending. */
const signedEntriesOf = (transfers: string) => `
  select tenant_id, debit_account as account, -amount as amount, kind, -1 as side from ${transfers}
  union all
  select tenant_id, credit_account, amount, kind, 1 from ${transfers}
  union all
  select tenant_id, '${FEES_OWED}', -fee, kind, -1 from ${transfers} where fee > 0
  union all
  select tenant_id, '${FEE_REVENUE}', fee, kind, 1 from ${transfers} where fee > 0`;

export const SIGNED_ENTRIES = signedEntriesOf('ledger_transfers');

/** Accounts that are no balance: their sums are kept up to a place and computed from there. */
export const COMPUTED = [OUTSIDE_SOURCES, OUTSIDE_DESTINATIONS, FEES_OWED, FEE_REVENUE]
  .map((account) => `'${account}'`)
  .join(', ');

/** What payment methods' holders owe: one account for each, named after it. */
export const IS_OWED = `starts_with(account, '${OWED_PREFIX}')`;

export const POSTED = `sum(case kind when 'post' then amount when 'fund' then amount when 'owe' then amount when 'repay' then amount when 'reverse' then -amount
  else 0 end)`;
const PENDING = `sum(case when account in ('${FEES_OWED}', '${FEE_REVENUE}') then 0 when kind = 'hold' then amount
  when kind in ('post', 'release') then -amount else 0 end)`;

const sumsOf = (transfers: string) => `
  select account, ${POSTED}::bigint as posted, ${PENDING}::bigint as pending
  from (${signedEntriesOf(transfers)}) as entries
  where tenant_id = $1 and (account in (${COMPUTED}) or ${IS_OWED}) group by account`;

const COUNTED = `(select * from ledger_transfers where tenant_id = $1
  and id <= (select transfer_id from ledger_places where tenant_id = $1)) as counted`;

/** What the kept sums must be, those of fees by day as one line. */
export const SUMS_OF_ENTRIES = `${sumsOf(COUNTED)}
  union all select 'fees by day', coalesce(sum(fee), 0)::bigint, count(*) from ${COUNTED} where fee > 0`;
export const KEPT_SUMS = `select account, posted, pending from ledger_sums where tenant_id = $1
  union all select 'fees by day', coalesce(sum(amount), 0)::bigint, coalesce(sum(payments), 0)::bigint
  from ledger_fees where tenant_id = $1`;

export interface FeeRow {
  rail: string;
  payments: number;
  amount: number;
}

/** What completed payments cost from a day to before another, of the organisation's time, by rail. */
export async function sumFees(
  db: Queryable,
  tenantId: string,
  { from, to }: { from: Date; to: Date },
): Promise<FeeRow[]> {
  const { rows } = await db.query<FeeRow>(
    `select rail, sum(payments)::bigint as payments, sum(amount)::bigint as amount from (
       select rail, payments, amount from ledger_fees
       where tenant_id = $1 and day >= ($2::timestamptz at time zone 'UTC')::date
         and day < ($3::timestamptz at time zone 'UTC')::date
       union all
       select coalesce(rail, ''), 1, fee from ledger_transfers
       where tenant_id = $1 and id > coalesce((select transfer_id from ledger_places where tenant_id = $1), '')
         and created_at >= $2 and created_at < $3 and fee > 0
     ) as booked group by rail order by rail`,
    [tenantId, from, to],
  );
  return rows;
}

export async function listAccounts(
  db: Queryable,
  tenantId: string,
  page: { afterId: string | null; limit: number },
): Promise<AccountRow[]> {
  const { rows } = await db.query<AccountRow>(
    `with tail as materialized (
       select * from ledger_transfers where tenant_id = $1
         and id > coalesce((select transfer_id from ledger_places where tenant_id = $1), '')
     ), summed as (
       select account, sum(posted)::bigint as posted, sum(pending)::bigint as pending from (
         select account, posted, pending from ledger_sums where tenant_id = $1
         union all ${sumsOf('tail')}
       ) as parts group by account
     ), outside as (
       select account as id, case when ${IS_OWED} then substr(account, length('${OWED_PREFIX}') + 1) end as payment_method_id,
         'USD' as currency, posted, pending, posted as available,
         case when ${IS_OWED} then greatest(0, -posted) else 0 end::bigint as owed
       from summed
     ), balances as (
       select payment_method_id as id, payment_method_id, currency, posted, incoming - held as pending,
         posted - held as available, owed
       from ledger_balances where tenant_id = $1 and ($2::text is null or payment_method_id > $2)
       order by payment_method_id limit $3
     )
     select * from (select * from outside union all select * from balances) as accounts
     where $2::text is null or id > $2 order by id limit $3`,
    [tenantId, page.afterId, page.limit],
  );
  return rows;
}

/** Whether so many transfers before the boundary are not in the kept sums that they should be. */
export async function isBehind(
  db: Queryable,
  tenantId: string,
  { boundary, atLeast }: { boundary: string; atLeast: number },
): Promise<boolean> {
  const { rows } = await db.query(
    `select from ledger_transfers where tenant_id = $1 and id < $2
       and id > coalesce((select transfer_id from ledger_places where tenant_id = $1), '')
     order by id offset $3 limit 1`,
    [tenantId, boundary, atLeast - 1],
  );
  return rows.length > 0;
}

/** Locks the place until the transaction ends; undefined where another is at it. */
export async function lockSumsPlace(tx: Queryable, tenantId: string): Promise<string | undefined> {
  await tx.query(
    `insert into ledger_places (tenant_id, transfer_id) values ($1, '') on conflict do nothing`,
    [tenantId],
  );
  const { rows } = await tx.query<{ transfer_id: string }>(
    'select transfer_id from ledger_places where tenant_id = $1 for update skip locked',
    [tenantId],
  );
  return rows[0]?.transfer_id;
}

/** Takes the next transfers before the boundary into the sums, and answers how many there were. */
export async function sumNext(
  tx: Queryable,
  tenantId: string,
  { place, boundary, limit }: { place: string; boundary: string; limit: number },
): Promise<number> {
  const { rows } = await tx.query<{ seen: number }>(
    `with seen as materialized (
       select * from ledger_transfers where tenant_id = $1 and id > $2 and id < $3 order by id limit $4
     ), added as (
       insert into ledger_sums as known (tenant_id, account, posted, pending)
       select $1, account, posted, pending from (${sumsOf('seen')}) as sums
       on conflict (tenant_id, account) do update
         set posted = known.posted + excluded.posted, pending = known.pending + excluded.pending
     ), fees as (
       insert into ledger_fees as known (tenant_id, day, rail, payments, amount)
       select $1, (created_at at time zone 'UTC')::date, coalesce(rail, ''), count(*), sum(fee) from seen where fee > 0
       group by 2, 3
       on conflict (tenant_id, day, rail) do update
         set payments = known.payments + excluded.payments, amount = known.amount + excluded.amount
     ), moved as (
       update ledger_places set transfer_id = (select max(id) from seen) where tenant_id = $1 and exists (select from seen)
     )
     select count(*)::int as seen from seen`,
    [tenantId, place, boundary, limit],
  );
  return rows[0]?.seen ?? 0;
}

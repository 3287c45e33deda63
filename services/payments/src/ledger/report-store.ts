import type { Queryable } from '@libs/db';
import { cameBack } from '../came-back-store.ts';
import { COMPUTED, IS_OWED, KEPT_SUMS, POSTED, SIGNED_ENTRIES, SUMS_OF_ENTRIES } from './sums-store.ts';
import { FEE_REVENUE, FEES_OWED, OUTSIDE_DESTINATIONS, OUTSIDE_SOURCES, OWED_PREFIX } from './transfer.ts';

export interface EntryRow {
  id: string;
  transaction_id: string;
  payment_id: string | null;
  account_id: string;
  direction: 'debit' | 'credit';
  amount: number;
  state: 'pending' | 'posted' | 'released';
  created_at: Date;
}

export interface EntryFilter {
  paymentId: string | null;
  accountId: string | null;
  before: readonly [transactionId: string, entryId: string] | null;
  limit: number;
}

/** Which transfers touch an account, written so that each part finds its index: few of all transfers may touch it. */
function transfersOf(accountId: string | null): string[] {
  if (accountId === null) return ['$3::text is null'];
  if (accountId === FEES_OWED || accountId === FEE_REVENUE) return ['$3::text is not null and fee > 0'];
  const sides = ['debit_account', 'credit_account'];
  if (accountId.startsWith('pm_')) return sides.map((side) => `${side} = $3 and ${side} like 'pm\\_%'`);
  const isEither = '$3 in (debit_account, credit_account)';
  if (accountId.startsWith(OWED_PREFIX)) return [`kind in ('owe', 'repay') and ${isEither}`];
  const isOutside = accountId === OUTSIDE_SOURCES || accountId === OUTSIDE_DESTINATIONS;
  return [isOutside ? isEither : `$3::text is null`];
}

/**
 * Newest first; the entries of a transaction stand together, in the order of their ids. A page holds at most `limit`
 * entries and each transaction has at least one that is asked for, so that many transactions are enough.
 */
export async function listEntries(db: Queryable, tenantId: string, filter: EntryFilter): Promise<EntryRow[]> {
  const transfers = transfersOf(filter.accountId).map(
    (condition) => `(select * from ledger_transfers
       where tenant_id = $1 and ($2::text is null or payment_id = $2) and ${condition} and ($4::text is null or id <= $4)
       order by id desc limit $6 + 1)`,
  );
  const { rows } = await db.query<EntryRow>(
    `with chosen as (
       select * from (${transfers.join(' union ')}) as touching order by id desc limit $6 + 1
     )
     select 'le_' || substr(chosen.id, 4) || suffix as id, chosen.id as transaction_id, payment_id, side.account as account_id,
       case when (suffix in ('c', 'r')) = (kind <> 'reverse') then 'credit' else 'debit' end as direction, side.amount,
       case kind when 'hold' then 'pending' when 'release' then 'released' else 'posted' end as state, created_at
     from chosen cross join lateral (values ('c', credit_account, amount), ('d', debit_account, amount),
       ('o', '${FEES_OWED}', fee), ('r', '${FEE_REVENUE}', fee)) as side (suffix, account, amount)
     where side.amount > 0 and ($3::text is null or side.account = $3)
       and ($4::text is null or chosen.id < $4 or 'le_' || substr(chosen.id, 4) || suffix > $5)
     order by transaction_id desc, 1 limit $6`,
    [
      tenantId,
      filter.paymentId,
      filter.accountId,
      filter.before?.[0] ?? null,
      filter.before?.[1] ?? null,
      filter.limit,
    ],
  );
  return rows;
}

export interface CheckRow {
  name: string;
  wrong: number;
  example: string | null;
}

/**
 * Each check counts what is wrong; all of them see one moment, so run them in one transaction. Each takes seconds where books
 * are large; between two of them it ends where the signal says so.
 */
export async function runChecks(tx: Queryable, tenantId: string, signal?: AbortSignal): Promise<CheckRow[]> {
  const rows: CheckRow[] = [];
  for (const [name, text] of CHECKS) {
    signal?.throwIfAborted();
    const result = await tx.query<{ wrong: number; example: string | null }>(text, [tenantId]);
    rows.push({ name, wrong: result.rows[0]?.wrong ?? 0, example: result.rows[0]?.example ?? null });
  }
  return rows;
}

export interface Proof {
  checkedAt: Date;
  /** How many transfers it looked at, and for how long. */
  transfers: number;
  tookMs: number;
  rows: CheckRow[];
}

export async function countTransfers(tx: Queryable, tenantId: string): Promise<number> {
  const { rows } = await tx.query<{ n: number }>(
    'select count(*)::bigint as n from ledger_transfers where tenant_id = $1',
    [tenantId],
  );
  return rows[0]?.n ?? 0;
}

export async function findProof(db: Queryable, tenantId: string): Promise<Proof | undefined> {
  const { rows } = await db.query<{
    checked_at: Date;
    transfers: number;
    took_ms: number;
    checks: CheckRow[];
  }>('select checked_at, transfers, took_ms, checks from ledger_proofs where tenant_id = $1', [tenantId]);
  const [row] = rows;
  return (
    row && {
      ...{ checkedAt: row.checked_at, transfers: row.transfers, tookMs: row.took_ms },
      rows: row.checks,
    }
  );
}

/** Whose proofs are older than a moment, the oldest first. */
export async function findOldProofs(db: Queryable, before: Date, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ tenant_id: string }>(
    'select tenant_id from ledger_proofs where checked_at < $1 order by checked_at limit $2',
    [before, limit],
  );
  return rows.map((row) => row.tenant_id);
}

export async function keepProof(db: Queryable, tenantId: string, proof: Proof): Promise<void> {
  await db.query(
    `insert into ledger_proofs (tenant_id, checked_at, transfers, took_ms, checks) values ($1, $2, $3, $4, $5)
     on conflict (tenant_id) do update set checked_at = excluded.checked_at, transfers = excluded.transfers,
       took_ms = excluded.took_ms, checks = excluded.checks`,
    [tenantId, proof.checkedAt, proof.transfers, Math.round(proof.tookMs), JSON.stringify(proof.rows)],
  );
}

const CHECKS: readonly [name: string, sql: string][] = [
  [
    'entries_sum_to_zero',
    `select (case when coalesce(sum(amount), 0) = 0 then 0 else 1 end)::int as wrong, sum(amount)::text as example
     from (${SIGNED_ENTRIES}) as entries where tenant_id = $1`,
  ],
  [
    'balances_match_entries',
    `with computed as (
       select account, ${POSTED} as posted,
         -coalesce(sum(case kind when 'hold' then amount when 'post' then -amount when 'release' then -amount end)
           filter (where side = -1), 0) as held,
         coalesce(sum(case kind when 'hold' then amount when 'post' then -amount when 'release' then -amount end)
           filter (where side = 1), 0) as incoming
       from (${SIGNED_ENTRIES}) as entries
       where tenant_id = $1 and account not in (${COMPUTED}) and not ${IS_OWED} group by account
     )
     select count(*)::int as wrong, min(coalesce(b.payment_method_id, c.account)) as example
     from (select * from ledger_balances where tenant_id = $1) b
     full join computed c on c.account = b.payment_method_id
     where coalesce(b.posted, 0) <> coalesce(c.posted, 0) or coalesce(b.held, 0) <> coalesce(c.held, 0)
       or coalesce(b.incoming, 0) <> coalesce(c.incoming, 0)`,
  ],
  [
    'sums_match_entries',
    `with computed as (${SUMS_OF_ENTRIES})
     select count(*)::int as wrong, min(coalesce(s.account, c.account)) as example
     from (${KEPT_SUMS}) s full join computed c on c.account = s.account
     where coalesce(s.posted, 0) <> coalesce(c.posted, 0) or coalesce(s.pending, 0) <> coalesce(c.pending, 0)`,
  ],
  [
    'payments_match_entries',
    `with kinds as (
       select payment_id, string_agg(kind, ',' order by kind) as kinds, min(amount) as least, max(amount) as most,
         count(distinct debit_account) filter (where kind not in ('owe', 'repay'))
           + count(distinct credit_account) filter (where kind not in ('owe', 'repay')) as accounts,
         min(debit_account) filter (where kind not in ('owe', 'repay')) as debit_account,
         min(credit_account) filter (where kind not in ('owe', 'repay')) as credit_account,
         bool_or(kind = 'owe') as owes,
         min(debit_account) filter (where kind = 'owe') as owed_by, min(credit_account) filter (where kind = 'owe') as owed_to
       from ledger_transfers where tenant_id = $1 and payment_id is not null group by payment_id
     )
     select count(*)::int as wrong, min(coalesce(p.id, k.payment_id)) as example
     from (select * from payments where tenant_id = $1) p full join kinds k on k.payment_id = p.id
     where p.id is null or k.payment_id is null or k.least <> p.amount or k.most <> p.amount or k.accounts <> 2
       or k.debit_account <> p.debit_account or k.credit_account <> p.credit_account
       or (k.owes and (k.owed_by <> '${OWED_PREFIX}' || p.source_id or k.owed_to <> '${OUTSIDE_SOURCES}'))
       or not k.kinds = any(case p.status
         when 'pending' then array['hold'] when 'processing' then array['hold'] when 'completed' then array['hold,post']
         when 'returned' then array['hold,post,reverse', 'hold,owe,post', 'hold,owe,post,reverse', 'hold,owe,post,repay',
           'hold,owe,post,repay,reverse']
         when 'failed' then array['hold,release', 'hold,owe,release', 'hold,owe,release,repay'] else array['hold,release'] end)`,
  ],
  [
    'fees_match_payments',
    `with booked as (
       select payment_id, fee from ledger_transfers where tenant_id = $1 and kind = 'post'
     )
     select count(*)::int as wrong, min(coalesce(p.id, b.payment_id)) as example
     from (select id, (document::json -> 'fee' ->> 'amount')::bigint as fee from payments
       where tenant_id = $1 and status in ('completed', 'returned')) p
     full join booked b on b.payment_id = p.id
     where p.fee is distinct from b.fee`,
  ],
  [
    'refunds_within_payments',
    `select count(*)::int as wrong, min(p.id) as example
     from (select refund_of, sum(amount) as refunded from payments refund
       where tenant_id = $1 and refund_of is not null and status not in ('failed', 'canceled')
         and not (status = 'returned' and ${cameBack('$1', 'refund.id')})
       group by refund_of) r
     left join (select id, amount, status, refund_of from payments where tenant_id = $1) p on p.id = r.refund_of
     where p.id is null or r.refunded > p.amount or p.refund_of is not null or p.status not in ('completed', 'returned')`,
  ],
  [
    'no_balance_overdrawn',
    `select count(*)::int as wrong, min(payment_method_id) as example
     from ledger_balances where tenant_id = $1 and posted - held + owed < 0`,
  ],
];

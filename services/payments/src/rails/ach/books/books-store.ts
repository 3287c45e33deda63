import type { Queryable } from '@libs/db';
import type {
  AnsweredQuery,
  DayQuery,
  FoundDifferences,
  SideTotals,
} from '../../../reconciliation/reconciliation.ts';
import {
  type DifferenceRow,
  sumsOf,
  type TotalsRow,
  toDifferences,
  toTotals,
} from '../../day-books-store.ts';

/**
 * Entries of files that were taken and left on that day. Both sides know it: it is written in the file. What came back of
 * a file before it was rejected was there, and stays in the books of both.
 */
const ACH_OURS = `
  select e.*, case e.leg when 'debit' then 'debit' else 'credit' end as direction
  from ach_files f join ach_entries e on e.file_id = f.id
  where f.as_of >= $2 and f.as_of < $3 and (f.refusal is null or e.state = 'returned') and f.sent_at is not null
    and (f.scope = 'live') = ($1::text = 'live')`;

const achNetwork = (day: '$2' | '$4') => `
  select *, case when returned_at is null then 'taken' else 'returned' end as state
  from sandbox_ach_entries where day = ${day} and $1::text = 'test'`;

const daysOf = ({ mode, from, to }: DayQuery) => [mode, from, to];

export async function achTotals(
  db: Queryable,
  query: DayQuery,
): Promise<{ ours: SideTotals; network: SideTotals }> {
  const ours = await db.query<TotalsRow>(sumsOf(ACH_OURS), daysOf(query));
  const network = await db.query<TotalsRow>(sumsOf(achNetwork('$2')), [query.mode, query.day]);
  return { ours: toTotals(ours.rows[0]), network: toTotals(network.rows[0]) };
}

/** Entry by entry, where there is somebody to compare with. */
export async function achEntryDifferences(
  db: Queryable,
  query: DayQuery,
  limit: number,
): Promise<FoundDifferences> {
  const { rows } = await db.query<DifferenceRow>(
    `with ours as (${ACH_OURS}), network as (${achNetwork('$4')}), compared as (
       select coalesce(o.trace, n.trace) as reference, o.tenant_id, o.payment_id,
         o.direction || ' ' || o.amount || ' ' || o.state as ours, n.direction || ' ' || n.amount || ' ' || n.state as theirs,
         case
           when n.trace is null then 'missing_in_network'
           when o.trace is null then 'missing_here'
           when o.amount <> n.amount or o.direction <> n.direction then 'amount_differs'
           when (o.state = 'returned') <> (n.state = 'returned') then 'state_differs'
         end as kind
       from ours o full join network n on n.mailbox = o.scope and n.trace = o.trace
     )
     select *, count(*) over ()::int as total from compared where kind is not null order by reference limit $5`,
    [...daysOf(query), query.day, limit],
  );
  return toDifferences(rows);
}

/**
 * Payment by payment: what their legs came to against what the ledger says, and money that hangs in between. What was
 * posted before its last leg had settled was ended by order: the network completes a payment when that leg is good.
 */
export async function achPaymentDifferences(
  db: Queryable,
  query: DayQuery,
  limit: number,
): Promise<FoundDifferences> {
  const { rows } = await db.query<DifferenceRow>(
    `with ours as (${ACH_OURS}), legs as (
       select e.tenant_id, e.payment_id, e.attempt_id, max(e.state) filter (where leg = 'debit') as debit,
         max(e.state) filter (where leg = 'credit') as credit, max(e.state) filter (where leg = 'refund') as refund,
         max(e.good_at) filter (where leg = 'debit') as debit_good_at, max(e.good_at) filter (where leg = 'credit') as credit_good_at
       from ach_entries e join (select distinct tenant_id, payment_id from ours) as touched
         using (tenant_id, payment_id)
       group by e.tenant_id, e.payment_id, e.attempt_id
     ), judged as (
       select l.*, p.status, p.amount,
         coalesce(l.debit, 'settled') = 'settled' and (l.credit = 'settled'
           or (l.credit is null and not last_leg.is_credit)) as paid,
         coalesce(kept.posted, false) as posted,
         $1::text = 'test' and not coalesce(case when last_leg.is_credit
           then l.credit in ('settled', 'returned') and kept.posted_at >= l.credit_good_at
           else l.debit in ('settled', 'returned') and kept.posted_at >= l.debit_good_at end, false) as posted_by_order
       from legs l join payments p on p.tenant_id = l.tenant_id and p.id = l.payment_id
       cross join lateral (select p.credit_account like 'outside\\_%' as is_credit) as last_leg
       cross join lateral (
         select bool_or(t.kind = 'post') and not bool_or(t.kind in ('reverse', 'repay')) as posted,
           min(t.created_at) filter (where t.kind = 'post') as posted_at
         from ledger_transfers t where t.tenant_id = l.tenant_id and t.payment_id = l.payment_id) as kept
     ), presented as (
       select *, bool_or(paid) over attempts as paid_once, attempt_id = max(attempt_id) over attempts as is_last
       from judged window attempts as (partition by tenant_id, payment_id)
     ), compared as (
       select null::text as reference, tenant_id, payment_id, status || ' ' || amount as ours,
         concat_ws(', ', 'debit ' || debit, 'credit ' || credit, 'refund ' || refund) as theirs,
         case
           when 'overruled' in (debit, credit) then 'ended_by_order'
           when debit = 'returned' and credit = 'settled' then 'paid_but_debit_returned'
           when debit = 'returned' and refund in ('sent', 'settled') then 'refunded_but_debit_returned'
           when paid and not posted then 'settled_but_not_posted'
           when posted and not paid_once and is_last and (posted_by_order or debit = 'canceled') then 'ended_by_order'
           when posted and not paid_once and is_last then 'posted_but_not_settled'
           when debit = 'settled' and credit in ('returned', 'refused', 'canceled')
             and (refund is null or refund in ('returned', 'refused', 'canceled')) then 'collected_but_not_refunded'
         end as kind
       from presented
     )
     select *, count(*) over ()::int as total from compared where kind is not null order by payment_id limit $4`,
    [...daysOf(query), limit],
  );
  return toDifferences(rows);
}

/** Entries that are at the bank and have neither settled nor come back. */
export async function hasEntriesUnderWay(db: Queryable, query: DayQuery): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (select 1 from (${ACH_OURS}) as ours where state = 'sent') as found`,
    daysOf(query),
  );
  return rows[0]?.found ?? false;
}

/** The days of the files whose entries an answer came for since then. */
export async function findAnsweredDays(
  db: Queryable,
  { mode, since, before, limit }: AnsweredQuery,
): Promise<DayQuery['day'][]> {
  const { rows } = await db.query<{ day: string }>(
    `select distinct (f.as_of at time zone 'America/New_York')::date as day
     from ach_answers a join ach_replies r on r.answer_id = a.id
     join ach_entries e on e.tenant_id = r.tenant_id and e.payment_id = r.payment_id and e.attempt_id = r.attempt_id
       and e.leg = r.leg
     join ach_files f on f.id = e.file_id
     where a.created_at >= $2 and (a.scope = 'live') = ($1::text = 'live')
       and (f.as_of at time zone 'America/New_York')::date < $3
     order by day desc limit $4`,
    [mode, since, before, limit],
  );
  return rows.map(({ day }) => day);
}

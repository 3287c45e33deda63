import type { Queryable } from '@libs/db';
import type { Mode } from '../tenant.ts';
import type { Difference, ReconciledRail, ReconciliationReport, SideTotals } from './reconciliation.ts';

/** A day of a network, with the instants between which it lies. */
export interface DayQuery {
  mode: Mode;
  day: string;
  from: Date;
  to: Date;
}

export interface FoundDifferences {
  differences: Difference[];
  /** Of all, also those that are not listed. */
  count: number;
}

interface TotalsRow {
  debits: number;
  debit_amount: number;
  credits: number;
  credit_amount: number;
  returns: number;
  return_amount: number;
}

function toTotals(row: TotalsRow | undefined): SideTotals {
  return {
    debits: { count: row?.debits ?? 0, amount: row?.debit_amount ?? 0 },
    credits: { count: row?.credits ?? 0, amount: row?.credit_amount ?? 0 },
    returns: { count: row?.returns ?? 0, amount: row?.return_amount ?? 0 },
  };
}

interface DifferenceRow {
  kind: Difference['kind'];
  reference: string | null;
  tenant_id: string | null;
  payment_id: string | null;
  ours: string | null;
  theirs: string | null;
  total: number;
}

function toDifferences(rows: readonly DifferenceRow[]): FoundDifferences {
  const differences = rows.map(({ kind, reference, tenant_id, payment_id, ours, theirs }) => ({
    kind,
    reference,
    tenantId: tenant_id,
    paymentId: payment_id,
    ours,
    theirs,
  }));
  return { differences, count: rows[0]?.total ?? 0 };
}

/** Entries of files that were taken and left on that day. Both sides know it: it is written in the file. */
const ACH_OURS = `
  select e.*, case e.leg when 'debit' then 'debit' else 'credit' end as direction
  from ach_files f join ach_entries e on e.file_id = f.id
  where f.as_of >= $2 and f.as_of < $3 and f.refusal is null and f.sent_at is not null
    and (f.scope = 'live') = ($1::text = 'live')`;

const achNetwork = (day: '$2' | '$4') => `
  select *, case when returned_at is null then 'taken' else 'returned' end as state
  from sandbox_ach_entries where day = ${day} and $1::text = 'test'`;

const sumsOf = (side: string) => `
  select count(*) filter (where direction = 'debit')::int as debits,
    coalesce(sum(amount) filter (where direction = 'debit'), 0)::bigint as debit_amount,
    count(*) filter (where direction = 'credit')::int as credits,
    coalesce(sum(amount) filter (where direction = 'credit'), 0)::bigint as credit_amount,
    count(*) filter (where state = 'returned')::int as returns,
    coalesce(sum(amount) filter (where state = 'returned'), 0)::bigint as return_amount
  from (${side}) as side`;

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

/** Payment by payment: what their legs came to against what the ledger says, and money that hangs in between. */
export async function achPaymentDifferences(
  db: Queryable,
  query: DayQuery,
  limit: number,
): Promise<FoundDifferences> {
  const { rows } = await db.query<DifferenceRow>(
    `with ours as (${ACH_OURS}), legs as (
       select e.tenant_id, e.payment_id, e.attempt_id, max(e.state) filter (where leg = 'debit') as debit,
         max(e.state) filter (where leg = 'credit') as credit, max(e.state) filter (where leg = 'refund') as refund
       from ach_entries e join (select distinct tenant_id, payment_id from ours) as touched
         using (tenant_id, payment_id)
       group by e.tenant_id, e.payment_id, e.attempt_id
     ), judged as (
       select l.*, p.status, p.amount,
         coalesce(l.debit, 'settled') = 'settled' and (l.credit = 'settled'
           or (l.credit is null and p.credit_account not like 'outside\\_%')) as paid,
         coalesce((select bool_or(t.kind = 'post') and not bool_or(t.kind = 'reverse') from ledger_transfers t
           where t.tenant_id = l.tenant_id and t.payment_id = l.payment_id), false) as posted
       from legs l join payments p on p.tenant_id = l.tenant_id and p.id = l.payment_id
     ), presented as (
       select *, bool_or(paid) over attempts as paid_once, attempt_id = max(attempt_id) over attempts as is_last
       from judged window attempts as (partition by tenant_id, payment_id)
     ), compared as (
       select null::text as reference, tenant_id, payment_id, status || ' ' || amount as ours,
         concat_ws(', ', 'debit ' || debit, 'credit ' || credit, 'refund ' || refund) as theirs,
         case
           when 'overruled' in (debit, credit) then 'ended_by_order'
           when paid and not posted then 'settled_but_not_posted'
           when posted and not paid_once and is_last and debit = 'canceled' then 'ended_by_order'
           when posted and not paid_once and is_last then 'posted_but_not_settled'
           when debit = 'returned' and credit = 'settled' then 'paid_but_debit_returned'
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

const RTP_OURS = `
  select * from rtp_submissions
  where settlement_date = $2 and state = 'accepted' and tenant_id like '%.' || $1::text`;

const RTP_NETWORK = `
  select * from sandbox_rtp_transfers where settlement_date = $2 and status = 'ACTC' and $1::text = 'test'`;

const creditsOf = (side: string) =>
  sumsOf(`select amount, 'credit' as direction, 'settled' as state from (${side}) as accepted`);

export async function rtpTotals(
  db: Queryable,
  { mode, day }: DayQuery,
): Promise<{ ours: SideTotals; network: SideTotals }> {
  const ours = await db.query<TotalsRow>(creditsOf(RTP_OURS), [mode, day]);
  const network = await db.query<TotalsRow>(creditsOf(RTP_NETWORK), [mode, day]);
  return { ours: toTotals(ours.rows[0]), network: toTotals(network.rows[0]) };
}

export async function rtpTransferDifferences(
  db: Queryable,
  { mode, day }: DayQuery,
  limit: number,
): Promise<FoundDifferences> {
  const { rows } = await db.query<DifferenceRow>(
    `with compared as (
       select coalesce(o.instruction_id, n.instruction_id) as reference, o.tenant_id, o.payment_id,
         o.amount::text as ours, n.amount::text as theirs,
         case when n.instruction_id is null then 'missing_in_network' when o.instruction_id is null then 'missing_here'
           when o.amount <> n.amount then 'amount_differs' end as kind
       from (${RTP_OURS}) as o full join (${RTP_NETWORK}) as n on n.instruction_id = o.instruction_id
     )
     select *, count(*) over ()::int as total from compared where kind is not null order by reference limit $3`,
    [mode, day, limit],
  );
  return toDifferences(rows);
}

/** Every accepted transfer completes its payment. */
export async function rtpPaymentDifferences(
  db: Queryable,
  { mode, day }: DayQuery,
  limit: number,
): Promise<FoundDifferences> {
  const { rows } = await db.query<DifferenceRow>(
    `with compared as (
       select o.instruction_id as reference, o.tenant_id, o.payment_id, p.status || ' ' || p.amount as ours,
         'accepted ' || o.amount as theirs, 'settled_but_not_posted' as kind
       from (${RTP_OURS}) as o join payments p on p.tenant_id = o.tenant_id and p.id = o.payment_id
       where p.amount <> o.amount or not exists (select 1 from ledger_transfers t
         where t.tenant_id = o.tenant_id and t.payment_id = o.payment_id and t.kind = 'post')
     )
     select *, count(*) over ()::int as total from compared order by reference limit $3`,
    [mode, day, limit],
  );
  return toDifferences(rows);
}

/** What the ledger posted and took back over a rail on that day, by the organisations' own time. */
export async function ledgerTotals(
  db: Queryable,
  rail: ReconciledRail,
  { mode, from, to }: DayQuery,
): Promise<ReconciliationReport['ledger']> {
  const { rows } = await db.query<{
    posted: number;
    posted_amount: number;
    reversed: number;
    reversed_amount: number;
  }>(
    `select count(*) filter (where kind = 'post')::int as posted,
       coalesce(sum(amount) filter (where kind = 'post'), 0)::bigint as posted_amount,
       count(*) filter (where kind = 'reverse')::int as reversed,
       coalesce(sum(amount) filter (where kind = 'reverse'), 0)::bigint as reversed_amount
     from ledger_transfers
     where rail = $1 and created_at >= $2 and created_at < $3 and tenant_id like '%.' || $4::text`,
    [rail, from, to, mode],
  );
  const row = rows[0];
  return {
    posted: { count: row?.posted ?? 0, amount: row?.posted_amount ?? 0 },
    reversed: { count: row?.reversed ?? 0, amount: row?.reversed_amount ?? 0 },
  };
}

export async function saveReport(db: Queryable, report: ReconciliationReport, at: Date): Promise<void> {
  await db.query(
    `insert into reconciliations (day, rail, mode, agrees, report, made_at) values ($1, $2, $3, $4, $5, $6)
     on conflict (day, rail, mode) do update
       set agrees = excluded.agrees, report = excluded.report, made_at = excluded.made_at`,
    [report.day, report.rail, report.mode, report.agrees, JSON.stringify(report), at],
  );
}

import type { Queryable } from '@libs/db';
import type { DayQuery, FoundDifferences, SideTotals } from '../../../reconciliation/reconciliation.ts';
import {
  type DifferenceRow,
  sumsOf,
  type TotalsRow,
  toDifferences,
  toTotals,
} from '../../day-books-store.ts';

const RTP_OURS = `
  select * from rtp_submissions
  where settlement_date = $2 and state = 'accepted' and split_part(tenant_id, '.', 2) = $1::text`;

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

/** Instructions of which the network has not said what became of them; they are asked after for a month. */
export async function hasUnknownTransfers(db: Queryable, { mode, day }: DayQuery): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (select 1 from rtp_submissions where settlement_date = $2 and state in ('sent', 'unknown')
       and split_part(tenant_id, '.', 2) = $1::text) as found`,
    [mode, day],
  );
  return rows[0]?.found ?? false;
}

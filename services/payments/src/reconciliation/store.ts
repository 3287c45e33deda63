import type { Queryable } from '@libs/db';
import type { RailId } from '../rails/rail-ids.ts';
import type { DayQuery, ReconciliationReport } from './reconciliation.ts';

/** What the ledger posted and took back over a rail on that day, by the organisations' own time. */
export async function ledgerTotals(
  db: Queryable,
  rail: RailId,
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

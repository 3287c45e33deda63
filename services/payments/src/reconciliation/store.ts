import type { Queryable } from '@libs/db';
import type { RailId } from '../rails/rail-ids.ts';
import type { Mode } from '../tenant.ts';
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
     where rail = $1 and created_at >= $2 and created_at < $3 and split_part(tenant_id, '.', 2) = $4::text`,
    [rail, from, to, mode],
  );
  const row = rows[0];
  return {
    posted: { count: row?.posted ?? 0, amount: row?.posted_amount ?? 0 },
    reversed: { count: row?.reversed ?? 0, amount: row?.reversed_amount ?? 0 },
  };
}

export async function saveReport(
  db: Queryable,
  report: ReconciliationReport,
  { at, isUnfinished }: { at: Date; isUnfinished: boolean },
): Promise<void> {
  await db.query(
    `insert into reconciliations (day, rail, mode, agrees, report, made_at, unfinished)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (day, rail, mode) do update set agrees = excluded.agrees, report = excluded.report,
       made_at = excluded.made_at, unfinished = excluded.unfinished`,
    [report.day, report.rail, report.mode, report.agrees, JSON.stringify(report), at, isUnfinished],
  );
}

interface Books {
  rail: RailId;
  mode: Mode;
}

/** Days before `before` whose last look found outcomes still to come; the oldest look first. */
export async function findUnfinishedDays(
  db: Queryable,
  { rail, mode, before, limit }: Books & { before: DayQuery['day']; limit: number },
): Promise<DayQuery['day'][]> {
  const { rows } = await db.query<{ day: string }>(
    `select day from reconciliations where rail = $1 and mode = $2 and unfinished and day < $3
     order by made_at, day limit $4`,
    [rail, mode, before, limit],
  );
  return rows.map(({ day }) => day);
}

export async function findLastRun(db: Queryable, { rail, mode }: Books): Promise<Date | null> {
  const { rows } = await db.query<{ started_at: Date }>(
    'select started_at from reconciliation_runs where rail = $1 and mode = $2',
    [rail, mode],
  );
  return rows[0]?.started_at ?? null;
}

/** Whether nobody said yet on this day that differences still stand; notes that it is said now. */
export async function noteTold(db: Queryable, { rail, mode }: Books, day: DayQuery['day']): Promise<boolean> {
  const { rowCount } = await db.query(
    'update reconciliation_runs set told_on = $3 where rail = $1 and mode = $2 and told_on is distinct from $3::date',
    [rail, mode, day],
  );
  return rowCount > 0;
}

/** Removes at most `limit` reports of days before then, of which nothing is expected any more. */
export async function removeReports(db: Queryable, before: DayQuery['day'], limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from reconciliations where (day, rail, mode) in (
       select day, rail, mode from reconciliations where day < $1 and not unfinished order by day limit $2)`,
    [before, limit],
  );
  return rowCount;
}

export async function saveRun(db: Queryable, { rail, mode }: Books, startedAt: Date): Promise<void> {
  await db.query(
    `insert into reconciliation_runs (rail, mode, started_at) values ($1, $2, $3)
     on conflict (rail, mode) do update set started_at = excluded.started_at`,
    [rail, mode, startedAt],
  );
}

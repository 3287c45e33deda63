import type { Database, Queryable } from '@libs/db';
import { addDays, fromNewYork } from '../clock/new-york.ts';
import type { Mode } from '../tenant.ts';
import type { DayQuery, Difference, ReconciledRail, ReconciliationReport } from './reconciliation.ts';
import { ledgerTotals } from './store.ts';

const DIFFERENCES_LISTED_MAX = 500;

export interface ReconciliationQuestion {
  day: DayQuery['day'];
  rail: ReconciledRail;
  mode: Mode;
}

/** Compares one day of one rail. Differences are listed, never mended. */
export async function reconcile(
  db: Queryable,
  { day, rail, mode }: ReconciliationQuestion,
  listedMax = DIFFERENCES_LISTED_MAX,
): Promise<ReconciliationReport> {
  const query = dayQueryOf(day, mode);
  const { ours, network } = await rail.books.totals(db, query);
  const found = await rail.books.differences(db, query, listedMax);
  const differenceCount = found.reduce((sum, { count }) => sum + count, 0);
  return {
    day,
    rail: rail.id,
    mode,
    ours,
    network,
    ledger: await ledgerTotals(db, rail.id, query),
    agrees: differenceCount === 0,
    differences: found.flatMap(({ differences }) => differences),
    differenceCount,
  };
}

function dayQueryOf(day: DayQuery['day'], mode: Mode): DayQuery {
  return { mode, day, from: fromNewYork(day, '00:00'), to: fromNewYork(addDays(day, 1), '00:00') };
}

export interface DayComparison {
  report: ReconciliationReport;
  found: readonly Difference[];
  /** Whether all that differs was listed. */
  isWhole: boolean;
  isUnfinished: boolean;
}

/** All of it sees one moment, or payments that complete meanwhile would look like differences. */
export function compareOneDay(
  database: Database,
  question: ReconciliationQuestion,
  listedMax: number,
): Promise<DayComparison> {
  return database.transaction(
    async (tx) => {
      const report = await reconcile(tx, question, listedMax);
      const query = dayQueryOf(question.day, question.mode);
      return {
        report,
        found: report.differences,
        isWhole: report.differences.length === report.differenceCount,
        isUnfinished: await question.rail.books.isUnfinished(tx, query),
      };
    },
    { isolation: 'repeatable read', readOnly: true, report: true },
  );
}

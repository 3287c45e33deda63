import type { Database, Queryable } from '@libs/db';
import { type CronEntry, dailyAt, type Handler } from '@libs/jobs';
import { addDays, fromNewYork, toNewYork } from '../clock/new-york.ts';
import type { RailLog } from '../rails/alert.ts';
import type { RailId } from '../rails/rail-ids.ts';
import type { Mode } from '../tenant.ts';
import type { DayQuery, RailBooks, ReconciledRail, ReconciliationReport } from './reconciliation.ts';
import { ledgerTotals, saveReport } from './store.ts';

const DIFFERENCES_LISTED_MAX = 500;
const EVERYTHING_OF_THE_DAY_IS_IN_UTC_HOUR = 11;

export interface ReconciliationQuestion {
  day: DayQuery['day'];
  rail: ReconciledRail;
  mode: Mode;
}

/** Compares one day of one rail. Differences are listed, never mended. */
export async function reconcile(
  db: Queryable,
  { day, rail, mode }: ReconciliationQuestion,
): Promise<ReconciliationReport> {
  const query: DayQuery = {
    mode,
    day,
    from: fromNewYork(day, '00:00'),
    to: fromNewYork(addDays(day, 1), '00:00'),
  };
  const { ours, network } = await rail.books.totals(db, query);
  const found = await rail.books.differences(db, query, DIFFERENCES_LISTED_MAX);
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

/** The rails whose days can be compared, in the order of their names. */
export function withBooks(rails: readonly { id: RailId; books: RailBooks | null }[]): ReconciledRail[] {
  return rails
    .flatMap(({ id, books }) => (books ? [{ id, books }] : []))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

export const RECONCILE_JOB = 'rails.reconcile';

export interface ReconciliationDependencies {
  database: Database;
  now: () => Date;
  log: RailLog;
  rails: readonly ReconciledRail[];
}

export interface Reconciliation {
  /** Every rail and mode of a day. */
  reportsOf(day: string): Promise<ReconciliationReport[]>;
  handler: Handler;
  cron: CronEntry;
}

export function createReconciliation({
  database,
  now,
  log,
  rails,
}: ReconciliationDependencies): Reconciliation {
  async function reportsOf(day: string): Promise<ReconciliationReport[]> {
    const questions = rails.flatMap((rail) =>
      (['live', 'test'] as const).map((mode) => ({ day, rail, mode })),
    );
    // All of them see one moment, or payments that complete meanwhile would look like differences.
    return database.transaction(
      async (tx) => {
        const reports: ReconciliationReport[] = [];
        for (const question of questions) reports.push(await reconcile(tx, question));
        return reports;
      },
      { isolation: 'repeatable read', readOnly: true, report: true },
    );
  }

  return {
    reportsOf,
    handler: {
      name: RECONCILE_JOB,
      batchMax: 1,
      async handle() {
        const yesterday = addDays(toNewYork(now()).date, -1);
        for (const report of await reportsOf(yesterday)) {
          await saveReport(database, report, now());
          const { day, rail, mode, differenceCount } = report;
          if (!report.agrees) log.error({ day, rail, mode, differenceCount }, 'books differ');
        }
      },
    },
    cron: { name: RECONCILE_JOB, schedule: dailyAt(EVERYTHING_OF_THE_DAY_IS_IN_UTC_HOUR, 0) },
  };
}

import { type CronEntry, dailyAt, type Handler } from '@libs/jobs';
import type { Metrics } from '@libs/runtime';
import type { RailId } from '../rails/rail-ids.ts';
import { reconcile } from './comparison.ts';
import { type DailyLookDependencies, lookAtAllBooks } from './daily.ts';
import { listDifferences } from './differences-store.ts';
import { addReconciliationMetrics } from './metrics.ts';
import { MODES, type RailBooks, type ReconciledRail, type ReconciliationReport } from './reconciliation.ts';
import type { StoredDifference, StoredFilter } from './stored-difference.ts';

const EVERYTHING_OF_THE_DAY_IS_IN_UTC_HOUR = 11;

/** The rails whose days can be compared, in the order of their names. */
export function withBooks(rails: readonly { id: RailId; books: RailBooks | null }[]): ReconciledRail[] {
  return rails
    .flatMap(({ id, books }) => (books ? [{ id, books }] : []))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

export const RECONCILE_JOB = 'rails.reconcile';

export interface ReconciliationDependencies extends DailyLookDependencies {
  metrics: Metrics;
  onError: (error: unknown, context: { where: string }) => void;
}

export interface Reconciliation {
  /** Every rail and mode of a day, compared now. */
  reportsOf(day: string): Promise<ReconciliationReport[]>;
  /** What the daily looks found, those that stand first. */
  list(filter: StoredFilter): Promise<StoredDifference[]>;
  handler: Handler;
  cron: CronEntry;
}

export function createReconciliation(deps: ReconciliationDependencies): Reconciliation {
  const { database, rails } = deps;
  addReconciliationMetrics(deps.metrics, deps);

  async function reportsOf(day: string): Promise<ReconciliationReport[]> {
    const questions = rails.flatMap((rail) => MODES.map((mode) => ({ day, rail, mode })));
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
    list: (filter) => listDifferences(database, filter),
    handler: {
      name: RECONCILE_JOB,
      batchMax: 1,
      handle: (_jobs, { signal }) => lookAtAllBooks(deps, signal),
    },
    cron: { name: RECONCILE_JOB, schedule: dailyAt(EVERYTHING_OF_THE_DAY_IS_IN_UTC_HOUR, 0) },
  };
}

import { type CronEntry, dailyAt, type Handler } from '@libs/jobs';
import type { Metrics } from '@libs/runtime';
import { addDays, toNewYork } from '../clock/new-york.ts';
import type { RailId } from '../rails/rail-ids.ts';
import { reconcile } from './comparison.ts';
import { type DailyLookDependencies, lookAtAllBooks } from './daily.ts';
import { listDifferences, removeDifferences } from './differences-store.ts';
import { addReconciliationMetrics } from './metrics.ts';
import { MODES, type RailBooks, type ReconciledRail, type ReconciliationReport } from './reconciliation.ts';
import { removeReports } from './store.ts';
import type { StoredDifference, StoredFilter } from './stored-difference.ts';

const EVERYTHING_OF_THE_DAY_IS_IN_UTC_HOUR = 11;
/** A year's audit finds what went away, and the report of each day. */
const SETTLED_KEPT_DAYS = 400;
/** What somebody tried out in a sandbox stands for ever, and is of no use for so long. */
const SANDBOX_KEPT_DAYS = 90;
const DAY_MS = 86_400_000;

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
  /** Forgets reports and differences that are past their time. What differs in live mode stays until it is mended. */
  sweep(limit: number): Promise<number>;
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
    async sweep(limit) {
      const at = deps.now();
      const daysAgo = (days: number) => new Date(at.getTime() - days * DAY_MS);
      const limits = { resolved: daysAgo(SETTLED_KEPT_DAYS), tests: daysAgo(SANDBOX_KEPT_DAYS) };
      const removed = await removeDifferences(database, limits, limit);
      const oldest = addDays(toNewYork(at).date, -SETTLED_KEPT_DAYS);
      return Math.max(removed, await removeReports(database, oldest, limit));
    },
    cron: { name: RECONCILE_JOB, schedule: dailyAt(EVERYTHING_OF_THE_DAY_IS_IN_UTC_HOUR, 0) },
  };
}

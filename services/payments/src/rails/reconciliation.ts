import type { Database, Queryable } from '@libs/db';
import { type CronEntry, dailyAt, type Handler } from '@libs/jobs';
import type { Mode } from '../tenant.ts';
import { addDays, fromNewYork, toNewYork } from './ach/calendar.ts';
import type { RailLog } from './alert.ts';
import {
  achEntryDifferences,
  achPaymentDifferences,
  achTotals,
  type DayQuery,
  ledgerTotals,
  rtpPaymentDifferences,
  rtpTotals,
  rtpTransferDifferences,
  saveReport,
} from './reconciliation-store.ts';

export const RECONCILED_RAILS = ['ach', 'rtp'] as const;
export type ReconciledRail = (typeof RECONCILED_RAILS)[number];

export const DIFFERENCE_KINDS = [
  'missing_in_network',
  'missing_here',
  'amount_differs',
  'state_differs',
  'settled_but_not_posted',
  'posted_but_not_settled',
  /** The destination has the money and the source took it back: nobody has it any more. */
  'paid_but_debit_returned',
  /** The source paid, the destination could not be paid, and the source could not be paid back. */
  'collected_but_not_refunded',
  /** The sandbox was told how the payment ends, beside the network. */
  'ended_by_order',
] as const;

export interface Difference {
  kind: (typeof DIFFERENCE_KINDS)[number];
  /** The network's, where the difference concerns one entry. */
  reference: string | null;
  tenantId: string | null;
  paymentId: string | null;
  ours: string | null;
  theirs: string | null;
}

export interface Sum {
  count: number;
  amount: number;
}

export interface SideTotals {
  debits: Sum;
  credits: Sum;
  returns: Sum;
}

/** What we sent over a rail on a day, against what the network has of it and what the ledger made of it. */
export interface ReconciliationReport {
  day: string;
  rail: ReconciledRail;
  mode: Mode;
  ours: SideTotals;
  /** Null where the network shows no books: a live one sends statements, which are not read. */
  network: SideTotals | null;
  ledger: { posted: Sum; reversed: Sum };
  agrees: boolean;
  differences: readonly Difference[];
  /** Also counts those that are not listed. */
  differenceCount: number;
}

const DIFFERENCES_LISTED_MAX = 500;
const EVERYTHING_OF_THE_DAY_IS_IN_UTC_HOUR = 11;

export interface ReconciliationQuestion {
  /** YYYY-MM-DD in New York: of the file for ACH, of settlement for RTP. */
  day: string;
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
  const hasBooks = mode === 'test';
  const totals = rail === 'ach' ? await achTotals(db, query) : await rtpTotals(db, query);
  const byEntry = rail === 'ach' ? achEntryDifferences : rtpTransferDifferences;
  const byPayment = rail === 'ach' ? achPaymentDifferences : rtpPaymentDifferences;
  const found = [
    ...(hasBooks ? [await byEntry(db, query, DIFFERENCES_LISTED_MAX)] : []),
    await byPayment(db, query, DIFFERENCES_LISTED_MAX),
  ];
  const differenceCount = found.reduce((sum, { count }) => sum + count, 0);
  return {
    day,
    rail,
    mode,
    ours: totals.ours,
    network: hasBooks ? totals.network : null,
    ledger: await ledgerTotals(db, rail, query),
    agrees: differenceCount === 0,
    differences: found.flatMap(({ differences }) => differences),
    differenceCount,
  };
}

export const RECONCILE_JOB = 'rails.reconcile';

export interface ReconciliationDependencies {
  database: Database;
  now: () => Date;
  log: RailLog;
}

export interface Reconciliation {
  /** Every rail and mode of a day. */
  reportsOf(day: string): Promise<ReconciliationReport[]>;
  handler: Handler;
  cron: CronEntry;
}

export function createReconciliation({ database, now, log }: ReconciliationDependencies): Reconciliation {
  async function reportsOf(day: string): Promise<ReconciliationReport[]> {
    const questions = RECONCILED_RAILS.flatMap((rail) =>
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

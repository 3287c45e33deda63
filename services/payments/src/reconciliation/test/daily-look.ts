import { createMetrics } from '@libs/runtime';
import { fromNewYork } from '../../clock/new-york.ts';
import type { House } from '../../rails/ach/test/house.ts';
import type { RailLog } from '../../rails/alert.ts';
import type { DayQuery, Difference, RailBooks, ReconciledRail } from '../reconciliation.ts';
import { createReconciliation, type Reconciliation } from '../service.ts';
import type { StoredDifference } from '../stored-difference.ts';

export const morningOf = (day: string) => fromNewYork(day, '07:00');

/** The daily look on the database of a house, at moments that a test names. */
export function createDailyLook(house: House, rails: readonly ReconciledRail[]) {
  let at = new Date(0);
  /** Both sorts of lines. */
  const log: RailLog = {
    error: (fields, message) => void house.alerts.push({ fields, message }),
    warn: (fields, message) => void house.alerts.push({ fields, message }),
  };
  const reconciliation: Reconciliation = createReconciliation({
    ...{ database: house.database, newId: house.context.newId, log, rails },
    now: () => at,
    secondLookAfterMs: 0,
    metrics: createMetrics({ service: 'payments', processMetrics: false }),
    onError: (error) => house.errors.push(error),
  });
  return {
    reconciliation,
    /** Runs the daily look at that moment. Answers the lines that it wrote. */
    async runAt(moment: Date, signal = AbortSignal.timeout(60_000)): Promise<string[]> {
      at = moment;
      house.alerts.length = 0;
      await reconciliation.handler.handle([], { signal });
      return house.alerts.map(({ message }) => message);
    },
    async sweepAt(moment: Date): Promise<void> {
      at = moment;
      while ((await reconciliation.sweep(1)) > 0);
    },
    stored: (): Promise<StoredDifference[]> => reconciliation.list({ status: null, after: null, limit: 100 }),
  };
}

/** Books that say what a test wants. */
export function booksOf(
  show: (query: DayQuery) => readonly Difference[],
  more: Partial<RailBooks> = {},
): RailBooks {
  const none = { count: 0, amount: 0 };
  return {
    totals: async () => ({ ours: { debits: none, credits: none, returns: none }, network: null }),
    async differences(_db, query, limit) {
      const all = show(query);
      return [{ differences: all.slice(0, limit), count: all.length }];
    },
    isUnfinished: async () => false,
    answeredDays: async () => [],
    ...more,
  };
}

export const differenceOf = (reference: string): Difference => ({
  ...{ kind: 'missing_here', reference, tenantId: null, paymentId: null, ours: null, theirs: '1' },
});

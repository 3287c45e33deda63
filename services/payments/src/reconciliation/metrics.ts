import type { Database } from '@libs/db';
import { Gauge, type Metrics } from '@libs/runtime';
import { countOpenDifferences } from './differences-store.ts';
import { MODES, type ReconciledRail } from './reconciliation.ts';

interface ReconciliationMetricsDependencies {
  database: Database;
  rails: readonly ReconciledRail[];
  onError: (error: unknown, context: { where: string }) => void;
}

/** Read when somebody asks: one process makes the daily look, and every process shows the same. */
export function addReconciliationMetrics(
  metrics: Metrics,
  { database, rails, onError }: ReconciliationMetricsDependencies,
): void {
  new Gauge({
    name: 'payments_reconciliation_open_differences',
    help: 'Differences between the books of the rails and the ledger that stand, by rail and mode.',
    labelNames: ['rail', 'mode'],
    registers: [metrics],
    async collect() {
      // The other metrics are wanted most when the database does not answer.
      const counts = await countOpenDifferences(database, null).catch((error: unknown) => {
        onError(error, { where: 'metrics of the reconciliation' });
        return null;
      });
      if (counts === null) return this.reset();
      for (const { id: rail } of rails) {
        for (const mode of MODES) {
          const found = counts.find((one) => one.rail === rail && one.mode === mode);
          this.set({ rail, mode }, found?.count ?? 0);
        }
      }
    },
  });
}

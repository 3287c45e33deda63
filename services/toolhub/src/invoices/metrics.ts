import { Counter, type Metrics } from '@libs/runtime';
import type { RunOutcome } from './run.ts';

export type CountRun = (outcome: RunOutcome | { kind: 'error' }) => void;

export function createRunCounter(metrics: Metrics): CountRun {
  const runs = new Counter({
    name: 'toolhub_invoice_runs_total',
    help: 'Runs of the invoices, by outcome (done, interrupted, locked, not_ended, error).',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  const invoices = new Counter({
    name: 'toolhub_invoices_total',
    help: 'What runs came to, by result: invoices that were created, skipped because they were there, or failed.',
    labelNames: ['result'],
    registers: [metrics],
  });
  return (outcome) => {
    runs.inc({ outcome: outcome.kind });
    if (outcome.kind !== 'done') return;
    const { created, skipped, failed } = outcome;
    for (const [result, count] of Object.entries({ created, skipped, failed }))
      invoices.inc({ result }, count);
  };
}

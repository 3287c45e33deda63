import { Counter, type Metrics } from '@libs/runtime';
import type { RunOutcome } from './run.ts';

export type CountRun = (outcome: RunOutcome | { kind: 'error' }) => void;

const OUTCOMES = {
  done: true,
  interrupted: true,
  locked: true,
  not_ended: true,
  error: true,
} satisfies Record<Parameters<CountRun>[0]['kind'], true>;

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
  // Runs are a month apart: a counter that only appears with its first failure has not increased for Prometheus.
  for (const outcome of Object.keys(OUTCOMES)) runs.inc({ outcome }, 0);
  for (const result of ['created', 'skipped', 'failed']) invoices.inc({ result }, 0);
  return (outcome) => {
    runs.inc({ outcome: outcome.kind });
    if (outcome.kind !== 'done') return;
    const { created, skipped, failed } = outcome;
    for (const [result, count] of Object.entries({ created, skipped, failed }))
      invoices.inc({ result }, count);
  };
}

import type { Database } from '@libs/db';
import { Counter, Gauge, Histogram, type Metrics } from '@libs/runtime';
import { readQueues } from './store.ts';

/** A queue with more than this is counted as this many: the count may not cost more the fuller it is. */
const COUNTED_MAX = 10_000;
const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200];
const OVERLAP_BUCKETS = [1, 2, 3, 4, 6, 8];

/** What a worker tells of its batches. */
export interface JobMetrics {
  /** A batch begins: how many jobs it holds, and how many batches are under way with it. */
  batch(name: string, begun: { jobs: number; atOnce: number }): void;
  tried(name: string, outcome: 'done' | 'retried' | 'failed', count: number): void;
}

export interface JobMetricsDependencies {
  metrics: Metrics;
  database: Database;
  handlers: readonly { name: string; lanes?: readonly string[] }[];
  onError: (error: unknown) => void;
}

/** Every process shows the state of the queues, since it is the database's; batches are those of this process. */
export function createJobMetrics({
  metrics,
  database,
  handlers,
  onError,
}: JobMetricsDependencies): JobMetrics {
  const names = handlers.flatMap(({ name, lanes = [] }) => [name, ...lanes]);
  const labelNames = ['name'];
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const queues = await readQueues(database, names, COUNTED_MAX).catch((error: unknown) => {
      // The other metrics are wanted most when the database does not answer.
      onError(error);
      return null;
    });
    if (queues === null) for (const gauge of [due, oldest, failed]) gauge.reset();
    for (const queue of queues ?? []) {
      due.set({ name: queue.name }, queue.due);
      oldest.set({ name: queue.name }, queue.oldestDueSeconds);
      failed.set({ name: queue.name }, queue.failed);
    }
  }

  /** Metrics are collected side by side: one look serves the three of them. */
  function collect(): Promise<void> {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  const shared = { labelNames, registers: [metrics], collect };
  const due = new Gauge({
    name: 'jobs_due',
    help: `Jobs that are due and wait or run, by name; counted up to ${COUNTED_MAX}.`,
    ...shared,
  });
  const oldest = new Gauge({
    name: 'jobs_oldest_due_seconds',
    help: 'How long the job that waits longest has been due, by name.',
    ...shared,
  });
  const failed = new Gauge({
    name: 'jobs_failed',
    help: 'Jobs that were given up, by name.',
    ...shared,
  });
  const sizes = new Histogram({
    name: 'jobs_batch_size',
    help: 'How many jobs one batch holds, by name.',
    ...{ labelNames, registers: [metrics], buckets: BATCH_BUCKETS },
  });
  const overlap = new Histogram({
    name: 'jobs_batches_at_once',
    help: 'How many batches were under way when one began, itself included, by name.',
    ...{ labelNames, registers: [metrics], buckets: OVERLAP_BUCKETS },
  });
  const tries = new Counter({
    name: 'jobs_tries_total',
    help: 'Tries of jobs in this process, by name and how they ended.',
    labelNames: ['name', 'outcome'],
    registers: [metrics],
  });
  return {
    batch(name, { jobs, atOnce }) {
      sizes.observe({ name }, jobs);
      overlap.observe({ name }, atOnce);
    },
    tried: (name, outcome, count) => tries.inc({ name, outcome }, count),
  };
}

export { attemptAll } from './attempt-all.ts';
export { type BackgroundPart, createBackground } from './background.ts';
export type { TenantsOf } from './claims.ts';
export { createJobMetrics, type JobMetrics } from './metrics.ts';
export { jobsMigrations } from './migrations.ts';
export { batchesForCores } from './overlap.ts';
export type { Schedule } from './schedule.ts';
export { dailyAt, everyMinutes, monthlyAt } from './schedule.ts';

export type { Job, NewJob } from './store.ts';
export { completeJobs, enqueueJobs, enqueueWithin } from './store.ts';
export type { CronEntry, Handler, Worker, WorkerOptions } from './worker.ts';
export { DRAIN_PATIENCE_MS, startWorker } from './worker.ts';

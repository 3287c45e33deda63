import type { Worker } from '@libs/jobs';
import type { Part } from './parts/base.ts';

/**
 * So long jobs that are under way may go on; then their signal tells them to end. Requests are drained meanwhile, and what
 * is left of the 30 seconds that a process has after SIGTERM is for them to end, and for everything to be closed.
 */
export const JOBS_PATIENCE_MS = 12_000;

/** Side by side: a job that takes long must not keep webhooks from ending what they send, nor wait for it. */
export async function stopWork(
  worker: Pick<Worker, 'drain'>,
  parts: readonly Pick<Part, 'background'>[],
): Promise<void> {
  await Promise.all([worker.drain(JOBS_PATIENCE_MS), ...parts.map(({ background }) => background?.stop())]);
}

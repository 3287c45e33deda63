import { isDatabaseAway } from '@libs/db';

const FAILURES_TOLD_MAX = 10;

/**
 * Does each in turn, also after one that failed, and fails with what failed: otherwise one that fails at every run would
 * keep all behind it from ever being done. A database that is away, or a process that stops, ends it at once.
 */
export async function attemptAll(
  tasks: Iterable<() => Promise<void>>,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const failures: unknown[] = [];
  for (const task of tasks) {
    try {
      await task();
    } catch (error) {
      if (signal.aborted || isDatabaseAway(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1)
    throw new AggregateError(
      failures.slice(0, FAILURES_TOLD_MAX),
      `${failures.length} parts of the job failed`,
    );
}

export type FreshRuns<Result> = (key: string, run: () => Promise<Result>) => Promise<Result>;

interface Runs<Result> {
  current: Promise<Result>;
  /** Begins when the current one has ended; for all who came meanwhile. */
  next: Promise<Result> | null;
}

/**
 * One run at a time for each key. Who asks during one gets the next, together with everybody else who does: its answer is
 * never older than the question, and however many ask, they keep one connection busy.
 */
export function createFreshRuns<Result>(): FreshRuns<Result> {
  const byKey = new Map<string, Runs<Result>>();

  function start(key: string, run: () => Promise<Result>): Promise<Result> {
    const runs: Runs<Result> = { current: run(), next: null };
    byKey.set(key, runs);
    const end = () => {
      if (runs.next === null) byKey.delete(key);
    };
    runs.current.then(end, end);
    return runs.current;
  }

  return (key, run) => {
    const runs = byKey.get(key);
    if (runs === undefined) return start(key, run);
    const begin = () => start(key, run);
    runs.next ??= runs.current.then(begin, begin);
    return runs.next;
  };
}

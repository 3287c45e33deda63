export interface Beats {
  /** Ends with the beat that is under way. */
  settled(): Promise<void>;
  stop(): void;
}

/**
 * The same work again and again, one at a time: what would begin while the last is under way is left out, or all that a
 * database keeps waiting would add up, each on a connection. Keeps no process alive.
 */
export function startBeats(everyMs: number, beat: () => Promise<void>): Beats {
  let underWay = Promise.resolve();
  let isUnderWay = false;
  const timer = setInterval(() => {
    if (isUnderWay) return;
    isUnderWay = true;
    underWay = beat().finally(() => {
      isUnderWay = false;
    });
  }, everyMs).unref();
  return { settled: () => underWay, stop: () => clearInterval(timer) };
}

import type { Logger } from 'pino';

/** A time in which what is tried again and again fails: told when it begins and when it ends, not at every try. */
export interface Outage {
  /** `who` is named where several try for themselves: it lasts until it works for each of those for whom it failed. */
  failed(error: unknown, who?: unknown): void;
  worked(who?: unknown): void;
  /** Who tries no more knows of no end: the next failure is a new beginning. */
  left(who: unknown): void;
}

export interface OutageReport {
  began(error: unknown): void;
  ended(): void;
}

export function createOutage(report: OutageReport): Outage {
  const failing = new Set<unknown>();
  return {
    failed(error, who) {
      if (failing.size === 0) report.began(error);
      failing.add(who);
    },
    worked(who) {
      if (failing.delete(who) && failing.size === 0) report.ended();
    },
    left: (who) => void failing.delete(who),
  };
}

/** One line for the beginning and one for the end. Both are warnings at least: who reads the one waits for the other. */
export function createLoggedOutage(
  log: Pick<Logger, 'warn' | 'error'>,
  lines: { began: string; ended: string; level?: 'warn' | 'error' },
): Outage {
  return createOutage({
    began: (error) => log[lines.level ?? 'error']({ err: error }, lines.began),
    ended: () => log.warn(lines.ended),
  });
}

import type { Database } from '@libs/db';
import { type Outage, startBeats } from '@libs/runtime';
import type { Mode } from '../tenant.ts';
import type { RailLog } from './alert.ts';
import { loadHealth, type StoredHealth, saveHealth } from './health-store.ts';
import type { RailId } from './rail-ids.ts';

/*
 * A rail that fails is not chosen. Nothing would then go over it that could show that it works again, so after a
 * while it is on trial: chosen as if it were up, until the first failure puts it down for another while, or the first
 * success up for good.
 */
const TRIAL_AFTER_MS = 30_000;
/** One lost connection is no outage. */
const FAILURES_MAX = 5;
/** How late another process may learn of a change; the table has a handful of rows. */
const POLL_MS = 1_000;

/** Whether we do not reach the network, or reach it and are told that it, or our bank in it, takes no part. */
export type FailureCause = 'unreachable' | 'signed_off';

export interface RailFailure {
  cause: FailureCause;
  detail: string;
  /** Says all by itself; others count only in a row. */
  decisive: boolean;
}

/** Whether a rail is up right now; kept fresh here, so that asking costs no query. */
export type RailIsUp = (rail: RailId, mode: Mode) => boolean;

export interface RailHealth {
  isUp: RailIsUp;
  reportFailure(rail: RailId, mode: Mode, failure: RailFailure): Promise<void>;
  /** `connection`: something arrived. `network`: the network has answered as it should, which proves more. */
  reportSuccess(rail: RailId, mode: Mode, of: 'connection' | 'network'): Promise<void>;
  close(): void;
}

export interface RailHealthDependencies {
  database: Database;
  now: () => Date;
  log: RailLog;
  /** Lasts while what other processes have seen cannot be read. */
  outage: Outage;
  trialAfterMs?: number;
  failuresMax?: number;
  pollMs?: number;
}

/** Every process decides by what it sees, all of them share the result, and asking costs no query. */
export async function createRailHealth(options: RailHealthDependencies): Promise<RailHealth> {
  const { database, now, log } = options;
  const trialAfterMs = options.trialAfterMs ?? TRIAL_AFTER_MS;
  const failuresMax = options.failuresMax ?? FAILURES_MAX;
  /** In a row, by rail and mode, each cause for itself: a message that arrives does not end a row of refusals. */
  const failures = new Map<string, Partial<Record<FailureCause, number>>>();
  const known = new Map<string, StoredHealth>();

  async function refresh(): Promise<void> {
    for (const stored of await loadHealth(database)) {
      const key = `${stored.rail} ${stored.mode}`;
      const own = known.get(key);
      // What this process has seen meanwhile is newer than what it has just read.
      if (own && own.changedAt > stored.changedAt) continue;
      // Failures in a row end with a success, whoever saw it.
      if (own?.state === 'down' && stored.state === 'up') failures.delete(key);
      known.set(key, stored);
    }
  }

  async function change(health: StoredHealth): Promise<void> {
    known.set(`${health.rail} ${health.mode}`, health);
    await saveHealth(database, health);
    const { rail, mode, state, reason } = health;
    if (state === 'down') log.error({ rail, mode, reason }, 'a rail is down and will not be chosen');
    else log.warn({ rail, mode }, 'a rail is up again');
  }

  const isOnTrial = ({ changedAt }: StoredHealth) => now().getTime() - changedAt.getTime() >= trialAfterMs;

  await refresh();
  const looks = startBeats(options.pollMs ?? POLL_MS, () =>
    refresh().then(() => options.outage.worked(), options.outage.failed),
  );

  return {
    isUp(rail, mode) {
      const health = known.get(`${rail} ${mode}`);
      return health === undefined || health.state === 'up' || isOnTrial(health);
    },

    async reportFailure(rail, mode, { cause, detail, decisive }) {
      const key = `${rail} ${mode}`;
      const health = known.get(key);
      const down: StoredHealth = {
        rail,
        mode,
        state: 'down',
        reason: `${cause}: ${detail}`,
        changedAt: now(),
      };
      if (health?.state === 'down') {
        if (isOnTrial(health)) await change(down);
        return;
      }
      const counts = failures.get(key) ?? {};
      const count = (counts[cause] ?? 0) + 1;
      failures.set(key, { ...counts, [cause]: count });
      if (decisive || count >= failuresMax) await change(down);
    },

    async reportSuccess(rail, mode, of) {
      const key = `${rail} ${mode}`;
      const health = known.get(key);
      const down = health?.state === 'down' ? health : undefined;
      // That messages arrive says nothing about a network that answers that it takes none.
      if (of === 'connection' && down?.reason?.startsWith('signed_off')) return;
      if (of === 'network') failures.delete(key);
      else failures.set(key, { ...failures.get(key), unreachable: 0 });
      if (down) await change({ rail, mode, state: 'up', reason: null, changedAt: now() });
    },

    close() {
      looks.stop();
    },
  };
}

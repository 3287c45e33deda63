import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@libs/db';
import type { CronEntry, Handler } from '@libs/jobs';
import { startBeats } from '@libs/runtime';
import type { NewId } from '@libs/seal';
import { errors } from '../errors.ts';
import { type Checked, createProbes, type ProbesDependencies } from './probes.ts';
import { type HealthReport, isFresh, REPORT_KEEP_MS } from './report.ts';
import { claimReport, extendLease, findReport, type Lease, releaseLease, storeReport } from './store.ts';
import { createWatch } from './watch.ts';

export interface HealthDependencies extends ProbesDependencies {
  database: Database;
  newId: NewId;
  now: () => Date;
}

export interface HealthAnswer {
  report: HealthReport;
  /** Whether the report was there before it was asked for. */
  cached: boolean;
}

export interface Health {
  /** How the customer's accounts are. */
  forCustomer(customerId: string): Promise<HealthAnswer>;
  /** How the platforms are, without a word about any customer. */
  forPlatforms(): Promise<HealthAnswer>;
  readonly jobs: { handlers: readonly Handler[]; cron: readonly CronEntry[] };
}

/** The key of the report on the platforms as such; customers' ids have a prefix. */
const EVERYONE = 'platforms';
/** A process that dies gives its lease back by doing nothing; one that lives extends it. */
const LEASE_MS = 10_000;
const BEAT_MS = 3_000;
const WAIT_STEP_MS = 25;
const WAIT_STEP_MS_MAX = 200;
const WAIT_MS_MAX = 60_000;

/** What a report is about, and how it is made. */
interface Subject {
  key: string;
  accounts(): Promise<string>;
  check(): Promise<Checked>;
}

export function createHealth(deps: HealthDependencies): Health {
  const { database, now, onError } = deps;
  const probes = createProbes(deps);
  const underWay = new Map<string, Promise<HealthReport>>();

  /** Runs with the lease held, and gives it back whatever happens. */
  async function check(subject: Subject, lease: Lease): Promise<HealthReport> {
    const extensions = startBeats(BEAT_MS, () =>
      extendLease(database, lease, LEASE_MS).catch((error: unknown) => onError(error, { platform: 'all' })),
    );
    try {
      const { accounts, platforms } = await subject.check();
      const report = { checkedAt: now(), accounts, platforms };
      await storeReport(database, lease, report);
      return report;
    } catch (error) {
      await releaseLease(database, lease);
      throw error;
    } finally {
      extensions.stop();
    }
  }

  /** Makes a report, or waits for the one that another process makes. */
  async function renew(subject: Subject, accountsAsked: string): Promise<HealthReport> {
    const lease = { customerId: subject.key, id: deps.newId('lse') };
    let accounts = accountsAsked;
    let stepMs = WAIT_STEP_MS;
    for (let waitedMs = 0; waitedMs < WAIT_MS_MAX; waitedMs += stepMs) {
      const madeAfter = new Date(now().getTime() - REPORT_KEEP_MS);
      if (await claimReport(database, lease, { leaseMs: LEASE_MS, accounts, madeAfter })) {
        return check(subject, lease);
      }
      const report = await findReport(database, subject.key);
      if (isFresh(report, accounts, now())) return report;
      await sleep(stepMs);
      stepMs = Math.min(stepMs * 2, WAIT_STEP_MS_MAX);
      accounts = await subject.accounts();
    }
    throw errors.not_ready({ detail: 'Another check of these accounts takes too long; try again.' });
  }

  async function answer(subject: Subject): Promise<HealthAnswer> {
    const accounts = await subject.accounts();
    const known = await findReport(database, subject.key);
    if (isFresh(known, accounts, now())) return { report: known, cached: true };
    // Who asks after a credential has changed must not get what was found out before.
    const key = JSON.stringify([subject.key, accounts]);
    const shared = underWay.get(key);
    if (shared !== undefined) return { report: await shared, cached: false };
    const renewing = renew(subject, accounts).finally(() => underWay.delete(key));
    underWay.set(key, renewing);
    return { report: await renewing, cached: false };
  }

  const forCustomer = (customerId: string) =>
    answer({
      key: customerId,
      accounts: () => probes.accountsOf(customerId),
      check: () => probes.checkAccounts(customerId),
    });

  return {
    forCustomer,
    forPlatforms: () =>
      answer({ key: EVERYONE, accounts: async () => '', check: () => probes.checkPlatforms() }),
    jobs: createWatch({ ...deps, checkCustomer: forCustomer }),
  };
}

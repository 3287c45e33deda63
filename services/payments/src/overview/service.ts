import type { Database } from '@libs/db';
import { attemptAll, type CronEntry, everyMinutes, type Handler } from '@libs/jobs';
import type { Clocks } from '../clock/service.ts';
import { readHorizon } from '../horizon-store.ts';
import type { ByMode, Tenant } from '../tenant.ts';
import { type Attention, lastDays, type Overview, overviewOf, type Span, wholeHours } from './overview.ts';
import {
  countAll,
  countNext,
  findBehind,
  hasOverviewPlace,
  lockOverviewPlace,
  readFigures,
  readSettleTimes,
  removeFigures,
  sumOwed,
} from './store.ts';

/** A request counts what came since the last look, as far as it is quickly done; the job does the rest. */
const EVENTS_PER_REQUEST_MAX = 500;
const EVENTS_PER_TURN_MAX = 2_000;
const TURNS_PER_TENANT_MAX = 500;
const TENANTS_PER_RUN_MAX = 1_000;
const KEPT_DAYS = 400;
const DAY_MS = 86_400_000;

const COUNT_JOB = 'overview.count';

export interface OverviewDependencies {
  database: Database;
  databases: ByMode<Database>;
  /** What became of webhooks in a time. */
  webhooks: {
    countUndelivered(tenant: Tenant, span: Span): Promise<number>;
    countDisabled(tenant: Tenant): Promise<number>;
  };
  clocks: Pick<Clocks, 'timesOf'>;
  now: () => Date;
}

export type OverviewWithAttention = Overview & { span: Span; attention: Attention };

/** The figures of the first page: counted beside the payments, so that they cost the same however many there are. */
export interface Overviews {
  /** Of a time, or of whole days up to the organisation's own. */
  of(tenant: Tenant, asked: Span | { days: number }): Promise<OverviewWithAttention>;
  handler: Handler;
  cron: CronEntry;
  sweep(limit: number): Promise<number>;
}

export function createOverviews(deps: OverviewDependencies): Overviews {
  const { database, databases, webhooks, clocks, now } = deps;

  /** Answers how many events were counted; none where another process is at it. */
  async function countSome(db: Database, tenantId: string, limit: number): Promise<number> {
    const until = await readHorizon(db);
    return db.transaction(async (tx) => {
      const place = await lockOverviewPlace(tx, tenantId);
      return place ? countNext(tx, tenantId, { place, limit, until }) : 0;
    });
  }

  /** Payments have the time of the sandbox's clock, deliveries the real one. */
  async function spansOf(tenant: Tenant, asked: Span | { days: number }) {
    if (!('days' in asked)) return { payments: asked, deliveries: asked };
    const times = await clocks.timesOf(databases[tenant.mode], [tenant.id]);
    return {
      payments: lastDays(times.at(tenant.id), asked.days),
      deliveries: lastDays(times.realNow, asked.days),
    };
  }

  async function catchUpWith(tenantId: string, signal: AbortSignal): Promise<void> {
    for (let turn = 0; turn < TURNS_PER_TENANT_MAX && !signal.aborted; turn += 1) {
      if ((await countSome(database, tenantId, EVENTS_PER_TURN_MAX)) < EVENTS_PER_TURN_MAX) return;
    }
  }

  async function catchUp(signal: AbortSignal): Promise<void> {
    const tenants = await findBehind(database, TENANTS_PER_RUN_MAX);
    await attemptAll(
      tenants.map((tenantId) => () => catchUpWith(tenantId, signal)),
      { signal },
    );
  }

  return {
    async of(tenant, asked) {
      const db = databases[tenant.mode];
      if (await hasOverviewPlace(db, tenant.id)) await countSome(db, tenant.id, EVENTS_PER_REQUEST_MAX);
      // Once for each tenant: what was there before anybody asked.
      else {
        const until = await readHorizon(db);
        await db.transaction((tx) => countAll(tx, tenant.id, until), { report: true });
      }
      const { payments, deliveries } = await spansOf(tenant, asked);
      const span = wholeHours(payments);
      const [figures, times, owed, failedDeliveries, disabledEndpoints] = await Promise.all([
        readFigures(db, tenant.id, span),
        readSettleTimes(db, tenant.id, span),
        sumOwed(db, tenant.id),
        webhooks.countUndelivered(tenant, wholeHours(deliveries)),
        webhooks.countDisabled(tenant),
      ]);
      const attention = { owed, failedDeliveries, disabledEndpoints };
      return { ...overviewOf(figures, times, span), span, attention };
    },
    handler: { name: COUNT_JOB, batchMax: 1, handle: (_jobs, { signal }) => catchUp(signal) },
    cron: { name: COUNT_JOB, schedule: everyMinutes(1) },
    sweep: (limit) => removeFigures(database, new Date(now().getTime() - KEPT_DAYS * DAY_MS), limit),
  };
}

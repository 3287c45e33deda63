import type { Database, Queryable } from '@libs/db';
import { type CronEntry, everyMinutes, type Handler } from '@libs/jobs';
import { baseErrors } from '@libs/runtime';
import type { NewId } from '@libs/seal';
import type { Standing } from '../customers/standing.ts';
import { errors } from '../errors.ts';
import type { EmitEvent } from '../events/event.ts';
import { type CounterState, findCounter, listUntoldCounters } from './counter-store.ts';
import { sweepExpired } from './meter/holder.ts';
import { createMeter, type Meter } from './meter/meter.ts';
import { deleteMeters, markNotified } from './meter/meter-store.ts';
import { dayOf, dayStart, momentAfter, monthOf, nextDayStart, nextMonthStart } from './month.ts';
import { type ChangedPlan, dueThresholds, type Plan, type PlanState, THRESHOLDS_PERCENT } from './plan.ts';
import { createReckoner, type ReckonerDependencies } from './reckoner.ts';
import {
  changePlanSettings,
  countChangesSince,
  findPlanState,
  listPlans,
  lockPlanSettings,
  lockPlans,
  type PlanSettings,
  putPlan,
} from './store.ts';
import { createRollups, type Rollups } from './usage/rollups.ts';

export interface PlanAsker {
  /** A customer unless it says otherwise, who does it so many times a day. */
  by?: 'customer' | 'operator';
  /** Of the customer who asks; an operator needs none. */
  standing?: Standing;
}

export interface BillingService {
  readonly meter: Meter;
  plans(): Promise<Plan[]>;
  /** Makes the plan, or changes it: where it stops at once; what is paid and included, and that it goes on at a price, from everybody's next month on. */
  editPlan(plan: Plan): Promise<Plan>;
  planState(customerId: string): Promise<PlanState>;
  /** `undefined` leaves the cap as it is, null takes it away. */
  changePlan(
    customerId: string,
    wanted: { plan: string; spendCapCents?: number | null },
    asked?: PlanAsker,
  ): Promise<ChangedPlan>;
  /** An admin's limit instead of the plan's; null takes it away. */
  changeLimit(customerId: string, monthlyCalls: number | null): Promise<PlanState>;
  readonly usage: Rollups['usage'];
  /** Gives back what dead processes reserved. */
  sweep(): Promise<number>;
  /** Raises events of thresholds that a process counted past but died before telling. */
  tellUntoldThresholds(): Promise<number>;
  readonly jobs: { handlers: readonly Handler[]; cron: readonly CronEntry[] };
  close(): Promise<void>;
}

export interface BillingDependencies {
  database: Database;
  newId: NewId;
  now: () => Date;
  emitEvent: EmitEvent;
  onError: (error: unknown) => void;
  reckonMonth: ReckonerDependencies['reckonMonth'];
  /** How long a killed process may keep its reservations; tests shorten it. */
  leaseMs?: number;
}

const SWEEP_MINUTES = 1;
const TELL_MINUTES = 10;
const UNTOLD_MAX = 1_000;
/** Far longer than any try of a batch can take. */
const METER_IDLE_MS = 7 * 24 * 60 * 60 * 1000;
const METERS_MAX = 1_000;
/** Thresholds of all the limits that a customer has had in one month. */
const TOLD_PER_MONTH_MAX = 20;
/** All of them are listed on one page. */
const PLANS_MAX = 50;
/** What prices a month goes through all changes of it. */
const CHANGES_PER_DAY_MAX = 100;

export function createBillingService(deps: BillingDependencies): BillingService {
  const { database, now } = deps;
  const telling = new Set<Promise<unknown>>();
  const rollups = createRollups({ database, now });

  /** The mark and the events commit together; a counter that another process told of in between is passed over. */
  function tell(counter: CounterState): Promise<void> {
    return database.transaction(async (tx) => {
      for (const percent of dueThresholds(counter)) {
        if (!(await markNotified(tx, { ...counter, percent, toldMax: TOLD_PER_MONTH_MAX }))) continue;
        await deps.emitEvent(tx, {
          customerId: counter.customerId,
          type: 'usage.threshold',
          data: {
            threshold_percent: percent,
            used: counter.kept,
            limit: counter.limit,
            period: counter.month.slice(0, 7),
          },
        });
      }
    });
  }

  function onCounted(counters: readonly CounterState[]): void {
    const month = monthOf(now());
    for (const counter of counters) {
      // Calls of the month before that end now would be measured against the plan of this one.
      if (counter.month !== month || dueThresholds(counter).length === 0) continue;
      const told = tell(counter)
        .catch(deps.onError)
        .finally(() => telling.delete(told));
      telling.add(told);
    }
  }

  const askReckoned = createReckoner(deps);
  const meter = createMeter({ ...deps, onCounted, askReckoned });

  /** Undefined where it is to be reckoned first where the gate closes today. */
  async function readPlanState(customerId: string): Promise<PlanState | undefined> {
    const moment = now();
    const stored = await findPlanState(database, {
      ...{ id: customerId, month: monthOf(moment), day: dayOf(moment) },
    });
    if (stored === null) throw baseErrors.not_found();
    if (stored.isUnreckoned) return undefined;
    return {
      plan: stored.plan,
      limit: stored.stopAt ?? stored.includedCalls,
      stopsAtLimit: stored.stopAt !== null,
      used: stored.used,
      spendCapCents: stored.spendCapCents,
      monthlyCalls: stored.monthlyCalls,
      resetsAt: nextMonthStart(moment),
    };
  }

  const planState = (customerId: string): Promise<PlanState> =>
    askReckoned(customerId, () => readPlanState(customerId));

  /** Asked under the lock of the customer's row, so that changes that arrive together count each other. */
  async function refuseFurtherChanges(tx: Queryable, customerId: string): Promise<void> {
    const moment = now();
    const changes = await countChangesSince(tx, { customerId, since: dayStart(moment) });
    if (changes < CHANGES_PER_DAY_MAX) return;
    const waitMs = nextDayStart(moment).getTime() - moment.getTime();
    throw errors.too_many_plan_changes({ retryAfterSeconds: waitMs / 1000 });
  }

  async function change(
    customerId: string,
    edit: (before: PlanSettings) => PlanSettings,
    { by = 'customer', standing }: PlanAsker,
  ): Promise<ChangedPlan> {
    const previousPlan = await database.transaction(async (tx) => {
      await standing?.(tx);
      const locked = await lockPlanSettings(tx, customerId);
      if (locked === null) throw baseErrors.not_found();
      const { settings: previous, changedAt } = locked;
      const next = edit(previous);
      // Asked for again and again, it would only lengthen the history that every call of the customer looks into.
      if (areSame(previous, next)) return previous.plan;
      if (by === 'customer') await refuseFurtherChanges(tx, customerId);
      const at = momentAfter(changedAt, now());
      await changePlanSettings(tx, { customerId, id: deps.newId('plc'), at, previous, next });
      return previous.plan;
    });
    // Thresholds are told of the limit that the reckoning of it leaves.
    const state = await planState(customerId);
    const counter = await findCounter(database, { customerId, month: monthOf(now()) });
    if (counter !== null) await tell(counter);
    return { ...state, previousPlan };
  }

  async function tellUntoldThresholds(): Promise<number> {
    const query = { month: monthOf(now()), thresholds: THRESHOLDS_PERCENT, limit: UNTOLD_MAX };
    const counters = await listUntoldCounters(database, query);
    for (const counter of counters) await tell(counter);
    return counters.length;
  }

  async function sweepAll(): Promise<void> {
    await sweepExpired(database);
    await deleteMeters(database, { idleMs: METER_IDLE_MS, limit: METERS_MAX });
  }

  return {
    meter,
    plans: () => listPlans(database),
    editPlan: (plan) =>
      database.transaction(async (tx) => {
        const known = await lockPlans(tx);
        if (!known.has(plan.id) && known.size >= PLANS_MAX) throw errors.too_many_plans();
        await putPlan(tx, plan);
        return plan;
      }),
    planState,
    async changePlan(customerId, wanted, asked = {}) {
      const plans = await listPlans(database);
      if (!plans.some(({ id }) => id === wanted.plan)) {
        const detail = `Must be one of ${plans.map(({ id }) => id).join(', ')}.`;
        throw errors.unknown_plan({ errors: [{ pointer: '/plan', code: 'not_allowed', detail }] });
      }
      const { plan, spendCapCents } = wanted;
      const edit = (before: PlanSettings): PlanSettings => ({
        ...{ ...before, plan },
        ...(spendCapCents === undefined ? {} : { spendCapCents }),
      });
      return change(customerId, edit, asked);
    },
    changeLimit: (customerId, monthlyCalls) =>
      change(customerId, (before) => ({ ...before, monthlyCalls }), { by: 'operator' }),
    usage: rollups.usage,
    sweep: () => sweepExpired(database),
    tellUntoldThresholds,
    jobs: {
      handlers: [
        { name: 'billing.sweep', handle: sweepAll },
        { name: 'billing.thresholds', handle: async () => void (await tellUntoldThresholds()) },
        ...rollups.jobs.handlers,
      ],
      cron: [
        { name: 'billing.sweep', schedule: everyMinutes(SWEEP_MINUTES) },
        { name: 'billing.thresholds', schedule: everyMinutes(TELL_MINUTES) },
        ...rollups.jobs.cron,
      ],
    },
    async close() {
      await meter.close();
      await Promise.all(telling);
    },
  };
}

function areSame(a: PlanSettings, b: PlanSettings): boolean {
  return a.plan === b.plan && a.spendCapCents === b.spendCapCents && a.monthlyCalls === b.monthlyCalls;
}

import type { Queryable } from '@libs/db';
import { idBorder } from '@libs/seal';
import { includedCalls, isUnreckoned, joinPlan, stopAt } from './counter-store.ts';
import type { CapReckoning, Plan } from './plan.ts';

interface PlanRow {
  id: string;
  name: string;
  price_cents: number;
  included_calls: number;
  overage_cents_per_1000: number;
  hard_stop: boolean;
}

export async function listPlans(db: Queryable): Promise<Plan[]> {
  const { rows } = await db.query<PlanRow>('select * from plans order by position');
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    priceCents: row.price_cents,
    includedCalls: row.included_calls,
    overageCentsPer1000: row.overage_cents_per_1000,
    hardStop: row.hard_stop,
  }));
}

/** Only one edit at a time: a new plan takes the next place of the list. */
export async function lockPlans(tx: Queryable): Promise<Set<string>> {
  await tx.query('lock table plans in share row exclusive mode');
  return new Set((await listPlans(tx)).map(({ id }) => id));
}

export async function putPlan(tx: Queryable, plan: Plan): Promise<void> {
  const { rows } = await tx.query<{ position: number }>(
    'select coalesce(max(position), 0) + 1 as position from plans',
  );
  await tx.query(
    `insert into plans (id, position, name, price_cents, included_calls, overage_cents_per_1000, hard_stop)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (id) do update set name = excluded.name, price_cents = excluded.price_cents,
       included_calls = excluded.included_calls, overage_cents_per_1000 = excluded.overage_cents_per_1000,
       hard_stop = excluded.hard_stop`,
    [
      ...[plan.id, rows[0]?.position, plan.name, plan.priceCents, plan.includedCalls],
      ...[plan.overageCentsPer1000, plan.hardStop],
    ],
  );
  // On one server a trigger does it.
  if (tx.isSpread) await putTerms(tx, plan);
}

/** What the plan costs and gives from now on; the terms that held before stay. Beyond a plan that stops nothing is charged. */
async function putTerms(tx: Queryable, plan: Plan): Promise<void> {
  await tx.query(
    `insert into plan_terms (plan, effective_at, name, price_cents, included_calls, overage_cents_per_1000, hard_stop)
     values ($1, statement_timestamp(), $2, $3, $4, $5, $6)
     on conflict (plan, effective_at) do update set name = excluded.name, price_cents = excluded.price_cents,
       included_calls = excluded.included_calls, overage_cents_per_1000 = excluded.overage_cents_per_1000,
       hard_stop = excluded.hard_stop`,
    [
      ...[plan.id, plan.name, plan.priceCents, plan.includedCalls],
      ...[plan.hardStop ? 0 : plan.overageCentsPer1000, plan.hardStop],
    ],
  );
}

export interface StoredPlanState {
  plan: string;
  stopAt: number | null;
  /** By the terms of the invoice. */
  includedCalls: number;
  used: number;
  spendCapCents: number | null;
  monthlyCalls: number | null;
  /** `stopAt` is not known before it is reckoned what the spend cap has to pay for today. */
  isUnreckoned: boolean;
}

interface PlanStateRow {
  plan: string;
  stop_at: number | null;
  included_calls: number;
  used: number | null;
  spend_cap_cents: number | null;
  monthly_calls: number | null;
  is_unreckoned: boolean;
}

export async function findPlanState(
  db: Queryable,
  customer: { id: string; month: string; day: string },
): Promise<StoredPlanState | null> {
  const { rows } = await db.query<PlanStateRow>(
    {
      name: 'billing.plan_state',
      text: `select c.plan, ${includedCalls} as included_calls, u.used, s.spend_cap_cents, s.monthly_calls,
               ${stopAt({ day: '$3::date' })} as stop_at,
               ${isUnreckoned({ month: '$2::date', day: '$3::date' })} as is_unreckoned
             from customers c ${joinPlan({ month: '$2::date' }, { customer: '$1' })}
             left join usage_counters u on u.customer_id = c.id and u.month = $2
             where c.id = $1`,
    },
    [customer.id, customer.month, customer.day],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    plan: row.plan,
    stopAt: row.stop_at,
    includedCalls: row.included_calls,
    used: row.used ?? 0,
    spendCapCents: row.spend_cap_cents,
    monthlyCalls: row.monthly_calls,
    isUnreckoned: row.is_unreckoned,
  };
}

/**
 * Locks what is reckoned until the transaction ends: whoever changes the plan, or counts a call of an earlier day, comes before,
 * and is reckoned with, or afterwards takes away what was stored. False where there is no cap, or none any more.
 */
export async function lockReckoning(tx: Queryable, customerId: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    'select customer_id from billing_settings where customer_id = $1 and spend_cap_cents is not null for no key update',
    [customerId],
  );
  return rowCount === 1;
}

/** Null where the month has had one plan so far. What was reckoned for a later day stays. */
export async function storeReckoning(
  tx: Queryable,
  { customerId, day, reckoning }: { customerId: string; day: string; reckoning: CapReckoning | null },
): Promise<void> {
  await tx.query(
    `update billing_settings set reckoned_day = $2, reckoned_change = updated_at, reckoned_plan = $3,
       reckoned_free_calls = $4, reckoned_cents_per_1000 = $5, reckoned_millicents = $6
     where customer_id = $1 and not coalesce(reckoned_day >= $2 and reckoned_change = updated_at, false)`,
    [
      ...[customerId, day, reckoning?.plan ?? null, reckoning?.freeCalls ?? null],
      ...[reckoning?.overageCentsPer1000 ?? null, reckoning?.spentMillicents ?? null],
    ],
  );
}

/** After a call of an earlier day was counted: it is part of what the cap has to pay for. */
export async function forgetReckoning(tx: Queryable, customerId: string): Promise<void> {
  await tx.query(
    'update billing_settings set reckoned_day = null where customer_id = $1 and spend_cap_cents is not null',
    [customerId],
  );
}

export interface PlanSettings {
  plan: string;
  spendCapCents: number | null;
  monthlyCalls: number | null;
}

export interface LockedPlanSettings {
  settings: PlanSettings;
  /** When the latest of the changes so far was made. */
  changedAt: Date | null;
}

/**
 * Locks the customer's row, so that two changes at once come one after the other. What lies in other tables is read by
 * statements after it: the one that waits for the lock would see them as they were before it waited.
 */
export async function lockPlanSettings(
  tx: Queryable,
  customerId: string,
): Promise<LockedPlanSettings | null> {
  const { rows: customers } = await tx.query<{ plan: string }>(
    'select plan from customers where id = $1 for no key update',
    [customerId],
  );
  const [customer] = customers;
  if (customer === undefined) return null;
  const { rows } = await tx.query<{
    spend_cap_cents: number | null;
    monthly_calls: number | null;
    updated_at: Date;
  }>('select spend_cap_cents, monthly_calls, updated_at from billing_settings where customer_id = $1', [
    customerId,
  ]);
  const [settings] = rows;
  return {
    settings: {
      plan: customer.plan,
      spendCapCents: settings?.spend_cap_cents ?? null,
      monthlyCalls: settings?.monthly_calls ?? null,
    },
    // Every change writes it; the latest of the changes themselves would be looked for among all of them.
    changedAt: settings?.updated_at ?? null,
  };
}

/** Nothing tells any more that the account ever had another plan than the one it has. */
export async function deletePlanChanges(tx: Queryable, customerId: string): Promise<void> {
  await tx.query('delete from plan_changes where customer_id = $1', [customerId]);
}

/** Changes of the plan and its cap, by ids, which begin with their moment; the limits that operators gave beside them are none. */
export async function countChangesSince(
  tx: Queryable,
  { customerId, since }: { customerId: string; since: Date },
): Promise<number> {
  const { rows } = await tx.query<{ changes: number }>(
    `select count(*)::int as changes from (
       select plan <> previous_plan or spend_cap_cents is distinct from lag(spend_cap_cents) over (order by id)
         as is_change, id
       from plan_changes where customer_id = $1 and id >= coalesce(
         (select max(id) from plan_changes where customer_id = $1 and id < $2), $2)
     ) as changes where is_change and id >= $2`,
    [customerId, idBorder('plc', since.getTime())],
  );
  return rows[0]?.changes ?? 0;
}

export interface NewPlanChange {
  customerId: string;
  id: string;
  at: Date;
  previous: PlanSettings;
  next: PlanSettings;
}

/** Stores the new settings and the change itself. */
export async function changePlanSettings(tx: Queryable, change: NewPlanChange): Promise<void> {
  const { customerId, previous, next, at } = change;
  await tx.query('update customers set plan = $2 where id = $1', [customerId, next.plan]);
  await tx.query(
    `insert into billing_settings (customer_id, spend_cap_cents, monthly_calls, updated_at) values ($1, $2, $3, $4)
     on conflict (customer_id) do update set spend_cap_cents = excluded.spend_cap_cents,
       monthly_calls = excluded.monthly_calls, updated_at = excluded.updated_at, reckoned_day = null`,
    [customerId, next.spendCapCents, next.monthlyCalls, at],
  );
  await tx.query(
    `insert into plan_changes (customer_id, id, at, previous_plan, plan, spend_cap_cents, monthly_calls)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [customerId, change.id, at, previous.plan, next.plan, next.spendCapCents, next.monthlyCalls],
  );
}

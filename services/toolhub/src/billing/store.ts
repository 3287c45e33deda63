import type { Queryable } from '@libs/db';
import type { Plan } from './plan.ts';

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

/** What the plan costs and gives from now on; the terms that held before stay. */
async function putTerms(tx: Queryable, plan: Plan): Promise<void> {
  await tx.query(
    `insert into plan_terms (plan, effective_at, name, price_cents, included_calls, overage_cents_per_1000)
     values ($1, statement_timestamp(), $2, $3, $4, $5)
     on conflict (plan, effective_at) do update set name = excluded.name, price_cents = excluded.price_cents,
       included_calls = excluded.included_calls, overage_cents_per_1000 = excluded.overage_cents_per_1000`,
    [plan.id, plan.name, plan.priceCents, plan.includedCalls, plan.overageCentsPer1000],
  );
}

export interface StoredPlanState {
  plan: string;
  stopAt: number | null;
  includedCalls: number;
  used: number;
  spendCapCents: number | null;
  monthlyCalls: number | null;
}

interface PlanStateRow {
  plan: string;
  stop_at: number | null;
  included_calls: number;
  used: number | null;
  spend_cap_cents: number | null;
  monthly_calls: number | null;
}

export async function findPlanState(
  db: Queryable,
  customer: { id: string; month: string },
): Promise<StoredPlanState | null> {
  const { rows } = await db.query<PlanStateRow>(
    {
      name: 'billing.plan_state',
      text: `select c.plan, p.included_calls, u.used, s.spend_cap_cents, s.monthly_calls,
               calls_stop_at(s.monthly_calls, s.spend_cap_cents, p.hard_stop, p.included_calls, p.price_cents,
                 p.overage_cents_per_1000) as stop_at
             from customers c
             join plans p on p.id = c.plan
             left join billing_settings s on s.customer_id = c.id
             left join usage_counters u on u.customer_id = c.id and u.month = $2
             where c.id = $1`,
    },
    [customer.id, customer.month],
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
  };
}

export interface PlanSettings {
  plan: string;
  spendCapCents: number | null;
  monthlyCalls: number | null;
}

/** Locks the customer's row, so that two changes at once come one after the other. */
export async function lockPlanSettings(tx: Queryable, customerId: string): Promise<PlanSettings | null> {
  const { rows } = await tx.query<{
    plan: string;
    spend_cap_cents: number | null;
    monthly_calls: number | null;
  }>(
    `select c.plan, s.spend_cap_cents, s.monthly_calls
     from customers c left join billing_settings s on s.customer_id = c.id
     where c.id = $1 for no key update of c`,
    [customerId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { plan: row.plan, spendCapCents: row.spend_cap_cents, monthlyCalls: row.monthly_calls };
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
       monthly_calls = excluded.monthly_calls, updated_at = excluded.updated_at`,
    [customerId, next.spendCapCents, next.monthlyCalls, at],
  );
  await tx.query(
    `insert into plan_changes (customer_id, id, at, previous_plan, plan, spend_cap_cents, monthly_calls)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [customerId, change.id, at, previous.plan, next.plan, next.spendCapCents, next.monthlyCalls],
  );
}

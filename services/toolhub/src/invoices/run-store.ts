import type { Queryable } from '@libs/db';
import type { BillingDetails } from './parties.ts';
import { endOf, firstDayOf, type Period, startOf } from './period.ts';
import type { PlanChange, PlanVersion } from './prices/timeline.ts';

export interface Candidate {
  id: string;
  name: string;
  email: string;
  plan: string;
  details: BillingDetails;
  createdAt: Date;
  /** Whether the address is the customer's, so that it may be mailed to. */
  isVerified: boolean;
  /** Whether there is an invoice for the period already. */
  hasInvoice: boolean;
}

interface CandidateRow {
  id: string;
  name: string;
  email: string;
  plan: string;
  company: string | null;
  address: string | null;
  tax_id: string | null;
  created_at: Date;
  is_verified: boolean;
  has_invoice: boolean;
}

/** By the id itself where there is only one: spread tables are asked on one server then. */
const candidates = (
  customer = 'c.id',
) => `select c.id, c.name, c.email, c.plan, c.created_at, d.company, d.address, d.tax_id,
    c.email_verified_at is not null as is_verified,
    exists (select from invoices i where i.customer_id = ${customer} and i.period = $1) as has_invoice
  from customers c left join billing_details d on d.customer_id = c.id`;

function fromCandidateRow(row: CandidateRow): Candidate {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    plan: row.plan,
    details: { company: row.company, address: row.address, taxId: row.tax_id },
    createdAt: row.created_at,
    isVerified: row.is_verified,
    hasInvoice: row.has_invoice,
  };
}

/** Customers that existed in the period, by id. */
export async function listCandidates(
  db: Queryable,
  query: { period: Period; after: string; limit: number },
): Promise<Candidate[]> {
  const { rows } = await db.query<CandidateRow>(
    `${candidates()} where c.id > $2 and c.created_at < $3 order by c.id limit $4`,
    [firstDayOf(query.period), query.after, endOf(query.period), query.limit],
  );
  return rows.map(fromCandidateRow);
}

export async function findCandidate(
  db: Queryable,
  query: { period: Period; customerId: string },
): Promise<Candidate | undefined> {
  const { rows } = await db.query<CandidateRow>(`${candidates('$2')} where c.id = $2`, [
    firstDayOf(query.period),
    query.customerId,
  ]);
  return rows[0] && fromCandidateRow(rows[0]);
}

export interface CustomerChange extends PlanChange {
  customerId: string;
}

/** Changes of the plan itself since the period began, in order. */
export async function listPlanChanges(
  db: Queryable,
  query: { customerIds: readonly string[]; period: Period },
): Promise<CustomerChange[]> {
  const { rows } = await db.query<{ customer_id: string; at: Date; previous_plan: string; plan: string }>(
    `select customer_id, at, previous_plan, plan from plan_changes
     where customer_id = any($1) and at >= $2 and plan <> previous_plan
     order by customer_id, at, id`,
    [query.customerIds, startOf(query.period)],
  );
  return rows.map((row) => ({
    customerId: row.customer_id,
    at: row.at,
    previousPlan: row.previous_plan,
    plan: row.plan,
  }));
}

export async function listPlanVersions(db: Queryable): Promise<PlanVersion[]> {
  const { rows } = await db.query<{
    plan: string;
    effective_at: Date;
    name: string;
    price_cents: number;
    included_calls: number;
    overage_cents_per_1000: number;
  }>('select * from plan_terms order by plan, effective_at');
  return rows.map((row) => ({
    plan: row.plan,
    effectiveAt: row.effective_at,
    name: row.name,
    priceCents: row.price_cents,
    includedCalls: row.included_calls,
    overageCentsPer1000: row.overage_cents_per_1000,
  }));
}

/**
 * Locks the series until the transaction ends. Every invoice is written under this lock, so a look for existing ones
 * that comes after it is true until the commit, and no number is taken that is not used.
 */
export async function lockSeries(tx: Queryable): Promise<number> {
  const { rows } = await tx.query<{ last_number: number }>(
    `select last_number from invoice_series where name = 'invoices' for update`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the series of invoice numbers is missing');
  return row.last_number;
}

export async function advanceSeries(tx: Queryable, lastNumber: number): Promise<void> {
  await tx.query(`update invoice_series set last_number = $1 where name = 'invoices'`, [lastNumber]);
}

/** Which of these customers have an invoice for the period. */
export async function findInvoiced(
  tx: Queryable,
  query: { customerIds: readonly string[]; period: Period },
): Promise<Set<string>> {
  const { rows } = await tx.query<{ customer_id: string }>(
    'select customer_id from invoices where customer_id = any($1) and period = $2',
    [query.customerIds, firstDayOf(query.period)],
  );
  return new Set(rows.map((row) => row.customer_id));
}

/** Undefined where there is no customer. */
export async function findFirstCustomerAt(db: Queryable): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date | null }>('select min(created_at) as at from customers');
  return rows[0]?.at ?? undefined;
}

export async function markFinished(db: Queryable, period: Period, at: Date): Promise<void> {
  await db.query(
    'insert into invoice_periods (period, finished_at) values ($1, $2) on conflict (period) do nothing',
    [firstDayOf(period), at],
  );
}

/** The earliest month that a run went through, and those from `since` on, in order. */
export async function listFinished(db: Queryable, since: Period): Promise<Period[]> {
  const { rows } = await db.query<{ period: string }>(
    `select period from invoice_periods
     where period >= $1 or period = (select min(period) from invoice_periods) order by period`,
    [firstDayOf(since)],
  );
  return rows.map(({ period }) => period.slice(0, 7));
}

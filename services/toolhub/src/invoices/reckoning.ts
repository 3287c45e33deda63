import type { Queryable } from '@libs/db';
import { baseErrors } from '@libs/runtime';
import type { CapReckoning } from '../billing/plan.ts';
import { firstDayOf, periodOf } from './period.ts';
import { reckonCap } from './prices/cap.ts';
import { presentTerms, termsByDay } from './prices/timeline.ts';
import { findCandidate, listPlanChanges, listPlanVersions } from './run-store.ts';
import { readUsage } from './usage-store.ts';

/** What the customer's spend cap has to pay for beside the calls of today; null where the month has had one plan so far. */
export async function reckonMonth(
  db: Queryable,
  { customerId, at }: { customerId: string; at: Date },
): Promise<CapReckoning | null> {
  const period = periodOf(at);
  const customerIds = [customerId];
  const changes = await listPlanChanges(db, { customerIds, period });
  if (changes.length === 0) return null;
  const customer = await findCandidate(db, { period, customerId });
  if (customer === undefined) throw baseErrors.not_found();
  const versions = await listPlanVersions(db);
  const today = at.toISOString().slice(0, 10);
  const usage = await readUsage(db, { customerIds, from: firstDayOf(period), to: today });
  // Where clocks differ, who signed up a moment ago is not older than now.
  const createdAt = customer.createdAt < at ? customer.createdAt : at;
  const history = { plan: customer.plan, createdAt, changes };
  return reckonCap({
    ...{ period, usage, day: at.getUTCDate() },
    days: termsByDay(period, history, versions),
    present: presentTerms(period, history, versions),
  });
}

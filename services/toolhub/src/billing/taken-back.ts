import type { Queryable } from '@libs/db';
import type { NewId } from '@libs/seal';
import { FIRST_PLAN } from '../customers/customer.ts';
import { momentAfter } from './month.ts';
import { changePlanSettings, deletePlanChanges, lockPlanSettings } from './store.ts';

/**
 * In the transaction in which the owner of an address takes it back: the account has the plan that it began with, and no
 * invoice finds another one in its past. The limit is an admin's, and stays.
 */
export async function forgetOrders(
  tx: Queryable,
  { customerId, newId, now }: { customerId: string; newId: NewId; now: () => Date },
): Promise<void> {
  const locked = await lockPlanSettings(tx, customerId);
  if (locked === null) return;
  const { settings, changedAt } = locked;
  if (changedAt === null && settings.plan === FIRST_PLAN) return;
  const first = { ...settings, plan: FIRST_PLAN };
  await deletePlanChanges(tx, customerId);
  await changePlanSettings(tx, {
    ...{ customerId, id: newId('plc'), at: momentAfter(changedAt, now()) },
    ...{ previous: first, next: { ...first, spendCapCents: null } },
  });
}

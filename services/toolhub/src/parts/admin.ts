import { registerAdminRoutes } from '../admin/routes.ts';
import { createAdminService } from '../admin/service.ts';
import type { BillingService } from '../billing/service.ts';
import type { Accounts } from './accounts.ts';
import type { Base } from './base.ts';

/** What the operator sees and does. */
export function addAdmin(
  { database, now }: Base,
  { accounts, billing }: { accounts: Accounts; billing: BillingService },
): void {
  const admin = createAdminService({ database, billing, suspensions: accounts.suspensions, now });
  registerAdminRoutes(accounts.routes, { admin });
}

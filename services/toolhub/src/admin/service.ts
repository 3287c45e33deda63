import type { Database } from '@libs/db';
import { emailKeys } from '@libs/login';
import { baseErrors } from '@libs/runtime';
import type { PlanState, UsageGroup } from '../billing/plan.ts';
import type { BillingService } from '../billing/service.ts';
import type { AdminCustomer, FailedJob, JobSummary } from './overview.ts';
import {
  findCustomerByEmail,
  findListedCustomer,
  listCustomers,
  listFailedJobs,
  retryJob,
  summarizeJobs,
} from './store.ts';
import type { Suspensions } from './suspensions.ts';

export interface CustomerDetails {
  customer: AdminCustomer;
  plan: PlanState;
  /** Of the current month. */
  usage: { from: string; to: string; groups: readonly UsageGroup[]; totalCalls: number };
}

export interface AdminService {
  customers(query: {
    email: string | undefined;
    before: string | undefined;
    limit: number;
  }): Promise<AdminCustomer[]>;
  details(customerId: string): Promise<CustomerDetails>;
  /** Repeats of both change nothing. */
  suspend(customer: { customerId: string; reason: string | null }): Promise<AdminCustomer>;
  resume(customerId: string): Promise<AdminCustomer>;
  readonly changePlan: BillingService['changePlan'];
  jobs(): Promise<JobSummary[]>;
  failedJobs(query: { before: number | undefined; limit: number }): Promise<FailedJob[]>;
  /** Begins a job anew that was given up. */
  retryJob(id: number): Promise<void>;
}

export interface AdminDependencies {
  database: Database;
  billing: Pick<BillingService, 'planState' | 'usage' | 'changePlan'>;
  suspensions: Pick<Suspensions, 'suspend' | 'resume'>;
  now: () => Date;
}

const DAY_MS = 24 * 60 * 60_000;

export function createAdminService(deps: AdminDependencies): AdminService {
  const { database, billing, suspensions, now } = deps;

  async function find(customerId: string): Promise<AdminCustomer> {
    const customer = await findListedCustomer(database, customerId);
    if (customer === undefined) throw baseErrors.not_found();
    return customer;
  }

  return {
    async customers({ email, before, limit }) {
      if (email === undefined) return listCustomers(database, { before, limit });
      const customer = await findCustomerByEmail(database, emailKeys(email));
      return customer === undefined ? [] : [customer];
    },
    async details(customerId) {
      const customer = await find(customerId);
      const today = now();
      const from = `${today.toISOString().slice(0, 7)}-01`;
      const to = new Date(today.getTime() + DAY_MS).toISOString().slice(0, 10);
      const [plan, usage] = await Promise.all([
        billing.planState(customerId),
        billing.usage({ customerId, from, to, group: 'platform' }),
      ]);
      return { customer, plan, usage: { from, to, ...usage } };
    },
    async suspend(customer) {
      await find(customer.customerId);
      await suspensions.suspend(customer);
      return find(customer.customerId);
    },
    async resume(customerId) {
      await find(customerId);
      await suspensions.resume(customerId);
      return find(customerId);
    },
    changePlan: (customerId, wanted) => billing.changePlan(customerId, wanted, { by: 'operator' }),
    // Both are reports over a whole table.
    jobs: () => database.transaction((tx) => summarizeJobs(tx), { readOnly: true, report: true }),
    failedJobs: (query) => listFailedJobs(database, query),
    async retryJob(id) {
      if (!(await database.transaction((tx) => retryJob(tx, id))))
        throw baseErrors.not_found({ detail: 'No job of this id was given up.' });
    },
  };
}

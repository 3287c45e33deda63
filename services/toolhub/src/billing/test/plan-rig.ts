import { randomBytes } from 'node:crypto';
import { type Database, openDatabase } from '@libs/db';
import { createTestDatabase } from '@libs/db/testing';
import { createIdFactory } from '@libs/seal';
import { createEmitEvent } from '../../events/service.ts';
import { previewPlan } from '../../invoices/preview.ts';
import { reckonMonth } from '../../invoices/reckoning.ts';
import { readUsage } from '../../invoices/usage-store.ts';
import { migrationSource, SCHEMA } from '../../schema.ts';
import type { LimitCheck } from '../meter/reserving.ts';
import type { Reservation } from '../meter/settlement.ts';
import type { Plan } from '../plan.ts';
import { type BillingService, createBillingService } from '../service.ts';

export const wasReserved = (check: LimitCheck): check is Extract<LimitCheck, { kind: 'reserved' }> =>
  check.kind === 'reserved';

export async function settle(
  service: BillingService,
  reservation: Reservation,
  isKept: boolean,
): Promise<void> {
  await service.meter.settle({
    ...{ customerId: reservation.customerId, reservation, platform: 'alpha', tool: 'alpha_send_note' },
    ...{ succeeded: isKept, unit: isKept ? 'kept' : 'given_back', durationMs: 3 },
  });
}

/** So many calls at once; those that pass are kept, unless they are said to do nothing. */
export async function call(service: BillingService, customerId: string, count: number, isKept = true) {
  const checks = await Promise.all(Array.from({ length: count }, () => service.meter.checkLimit(customerId)));
  const reserved = checks.filter(wasReserved);
  await Promise.all(reserved.map(({ reservation }) => settle(service, reservation, isKept)));
  return reserved.length;
}

export type PlanRig = Awaited<ReturnType<typeof createPlanRig>>;

/** Two processes: one with the statements for one server, one with those for spread tables, which one server takes, too. */
export async function createPlanRig() {
  const db = await createTestDatabase(migrationSource);
  const pool = await openDatabase({ url: db.url, schema: SCHEMA, connectionsMax: 4 });
  const spread: Database = {
    ...pool,
    isSpread: true,
    transaction: (work, options) => pool.transaction((tx) => work({ ...tx, isSpread: true }), options),
  };
  const clock = { now: new Date('2026-10-01T00:00:00Z') };
  const now = () => clock.now;
  const newId = createIdFactory({ now, randomBytes });
  const failures: unknown[] = [];
  const newService = (database: Database) =>
    createBillingService({
      ...{ database, newId, reckonMonth, now, emitEvent: createEmitEvent({ newId, now }) },
      onError: (error) => void failures.push(error),
    });
  const services: [BillingService, BillingService] = [newService(pool), newService(spread)];

  return {
    ...{ database: db.database, clock, failures, services },

    /** By an operator, at the moment of the clock; the database takes its own for it, which is later than any of the tests. */
    async editPlan(service: BillingService, plan: Plan, at = clock.now): Promise<void> {
      await service.editPlan(plan);
      const { rows } = await db.database.query<{ newest: string }>(
        'select max(effective_at)::text as newest from plan_terms where plan = $1',
        [plan.id],
      );
      await db.database.query(
        'delete from plan_terms where plan = $1 and effective_at >= $2 and effective_at < $3',
        [plan.id, at, rows[0]?.newest],
      );
      await db.database.query(
        'update plan_terms set effective_at = $2 where plan = $1 and effective_at = $3',
        [...[plan.id, at, rows[0]?.newest]],
      );
    },

    async newCustomer(planId: string): Promise<string> {
      const id = newId('cus');
      await db.database.query(
        `insert into customers (id, email, name, password_hash, plan, created_at) values ($1, $1, 'x', 'x', $2, '2026-01-01')`,
        [id, planId],
      );
      return id;
    },

    /** As the gate and the meter would have left it. */
    async addCalls(customerId: string, day: string, calls: number): Promise<void> {
      await db.database.query(
        `insert into usage_daily (customer_id, day, tool, duration_class, platform, calls, errors)
         values ($1, $2, 'alpha_send_note', 1, 'alpha', $3, 0)`,
        [customerId, day, calls],
      );
      await db.database.query(
        `insert into usage_counters as u (customer_id, month, used, kept)
         values ($1, date_trunc('month', $2::date), $3, $3)
         on conflict (customer_id, month) do update set used = u.used + $3, kept = u.kept + $3`,
        [customerId, day, calls],
      );
    },

    /** What the invoice of the month says so far: the plans if nothing changes, and calls beyond them. */
    async invoiced(customerId: string, planId: string): Promise<{ total: number; overage: number }> {
      const { asItIs } = await previewPlan(
        {
          ...{ database: db.database, usageOf: (query) => readUsage(db.database, query), now },
          platformTitle: (platform) => platform,
        },
        { customerId, plan: planId },
      );
      const ofCalls = asItIs.lines.filter(({ platform }) => platform !== null);
      return {
        total: asItIs.totalCents,
        overage: ofCalls.reduce((sum, { amountCents }) => sum + amountCents, 0),
      };
    },

    async close(): Promise<void> {
      for (const service of services) await service.close();
      await pool.close();
      await db.drop();
    },
  };
}

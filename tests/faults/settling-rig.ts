import { randomBytes } from 'node:crypto';
import type { Database } from '@libs/db';
import { createTestDatabase } from '@libs/db/testing';
import { createIdFactory, createSealer } from '@libs/seal';
import {
  createMeter,
  type Meter,
  type MeterDependencies,
} from '../../services/toolhub/src/billing/meter/meter.ts';
import type { Reservation } from '../../services/toolhub/src/billing/meter/settlement.ts';
import { createReckoner } from '../../services/toolhub/src/billing/reckoner.ts';
import { createArgumentsMarks } from '../../services/toolhub/src/calls/arguments-mark.ts';
import { reckonMonth } from '../../services/toolhub/src/invoices/reckoning.ts';
import { migrationSource } from '../../services/toolhub/src/schema.ts';

const now = () => new Date();
export const newId = createIdFactory({ now, randomBytes });
export const marks = createArgumentsMarks(createSealer({ keys: [Buffer.alloc(32, 7)] }));

/** The statements for tables that are spread over servers; one server takes them, too. */
export const spread = (database: Database): Database => ({
  ...database,
  isSpread: true,
  transaction: (work, options) => database.transaction((tx) => work({ ...tx, isSpread: true }), options),
});

export const callOf = (customerId: string) => ({
  ...{ customerId, platform: 'alpha', tool: 'alpha_send_note', durationMs: 3 },
});
export const keptCallOf = (customerId: string) => ({
  ...{ ...callOf(customerId), succeeded: true, unit: 'kept' as const },
});

export async function reserveFor(meter: Meter, customerId: string): Promise<Reservation> {
  const check = await meter.checkLimit(customerId);
  if (check.kind !== 'reserved') throw new Error('there is no limit to reach here');
  return check.reservation;
}

/** Of one call of a customer: what is counted while it runs, and when it has ended well. */
export const RESERVED = { used: 1, kept: 0, open: 1, calls: 0 };
export const ONCE = { used: 1, kept: 1, open: 0, calls: 1 };

export type SettlingRig = Awaited<ReturnType<typeof createSettlingRig>>;

export async function createSettlingRig() {
  const db = await createTestDatabase(migrationSource);
  const failures: unknown[] = [];
  const meters: Meter[] = [];
  return {
    ...{ db, failures },

    newMeter(database: Database, options: Partial<MeterDependencies> = {}): Meter {
      const meter = createMeter({
        // No renewal of a lease may meet a cut: that it failed is reported.
        ...{ database, newId, now, onCounted: () => {}, leaseMs: 3_600_000, awayPauseMs: 50 },
        askReckoned: createReckoner({ database, now, reckonMonth }),
        onError: (error) => void failures.push(error),
        ...options,
      });
      meters.push(meter);
      return meter;
    },

    async newCustomer(): Promise<string> {
      const id = newId('cus');
      await db.database.query(
        `insert into customers (id, email, name, password_hash, plan, created_at) values ($1, $1, 'x', 'x', 'free', now())`,
        [id],
      );
      return id;
    },

    /** What is counted of the customer: units used and kept, those open, and calls by day. */
    async countedOf(customerId: string) {
      const { rows } = await db.database.query<typeof ONCE>(
        `select coalesce((select used from usage_counters where customer_id = $1), 0) as used,
           coalesce((select kept from usage_counters where customer_id = $1), 0) as kept,
           coalesce((select sum(units) from usage_reservations where customer_id = $1), 0)::bigint as open,
           coalesce((select sum(calls) from usage_daily where customer_id = $1), 0)::bigint as calls`,
        [customerId],
      );
      return rows[0];
    },

    closeMeters: async () => {
      for (const meter of meters) await meter.close();
    },
  };
}

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '@libs/db';
import { createTestDatabase } from '@libs/db/testing';
import { createIdFactory } from '@libs/seal';
import { createEmitEvent } from '../../events/service.ts';
import { reckonMonth } from '../../invoices/reckoning.ts';
import { migrationSource, SCHEMA } from '../../schema.ts';
import type { LimitCheck } from '../meter/reserving.ts';
import { type BillingService, createBillingService } from '../service.ts';

/** A month that does not end while the tests count. */
export const MIDMONTH = new Date('2026-11-16T12:00:00Z');

const PROCESS = fileURLToPath(new URL('./meter-process.ts', import.meta.url));

export type MeterRig = Awaited<ReturnType<typeof createMeterRig>>;

/** The gate on a database of its own, as several processes have it. */
export async function createMeterRig() {
  const { database, url, drop } = await createTestDatabase(migrationSource);
  const open = () => openDatabase({ url, schema: SCHEMA, connectionsMax: 4 });
  const pools = [await open(), await open()] as const;
  const clock = { now: MIDMONTH };
  const now = () => clock.now;
  const newId = createIdFactory({ now, randomBytes });
  const failures: unknown[] = [];
  const services: BillingService[] = [];
  let customers = 0;

  /** One process' worth: own pool, own lease. */
  function newService(pool: 0 | 1 = 0, leaseMs?: number): BillingService {
    const service = createBillingService({
      ...{ database: pools[pool], newId, now, reckonMonth, emitEvent: createEmitEvent({ newId, now }) },
      onError: (error) => void failures.push(error),
      ...(leaseMs === undefined ? {} : { leaseMs }),
    });
    services.push(service);
    return service;
  }

  return {
    ...{ database, pools, clock, newId, failures, newService },

    async newCustomer(limit: number | null, plan = 'free'): Promise<string> {
      customers += 1;
      const id = `cus_${String(customers).padStart(4, '0')}`;
      await database.query(
        `insert into customers (id, email, name, password_hash, plan, created_at) values ($1, $1, 'x', 'x', $2, now())`,
        [id, plan],
      );
      if (limit !== null) await newService().changeLimit(id, limit);
      return id;
    },

    async counter(customerId: string) {
      const { rows } = await database.query<{ used: number; kept: number }>(
        'select used, kept from usage_counters where customer_id = $1',
        [customerId],
      );
      return rows[0];
    },

    async openUnits(customerId: string): Promise<number> {
      const { rows } = await database.query<{ units: number }>(
        'select coalesce(sum(units), 0)::bigint as units from usage_reservations where customer_id = $1',
        [customerId],
      );
      return rows[0]?.units ?? 0;
    },

    async settle(service: BillingService, check: LimitCheck, succeeded: boolean): Promise<void> {
      if (check.kind !== 'reserved') throw new Error('only what was reserved is settled');
      const { reservation } = check;
      await service.meter.settle({
        ...{ customerId: reservation.customerId, reservation, platform: 'alpha', tool: 'alpha_send_note' },
        ...{ succeeded, unit: succeeded ? 'kept' : 'given_back', durationMs: 3 },
      });
    },

    startProcess(mode: string, customerId: string, calls: number) {
      const args = [PROCESS, mode, url, customerId, String(calls), now().toISOString()];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const reserved = once(child.stdout, 'data').then(([line]) => Number(String(line)));
      return { child, reserved };
    },

    async close(): Promise<void> {
      for (const service of services) await service.close();
      for (const pool of pools) await pool.close();
      await drop();
    },
  };
}

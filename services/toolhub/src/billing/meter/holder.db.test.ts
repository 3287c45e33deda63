// What calls of a process hold: kept while it lives, given back when it is gone, and counted once though it was only slow.
import { once } from 'node:events';
import type { Database } from '@libs/db';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMeterRig, type MeterRig } from '../test/meter-rig.ts';
import { createHolder } from './holder.ts';

let rig: MeterRig;

beforeAll(async () => {
  rig = await createMeterRig();
});

afterAll(async () => {
  await rig.close();
  expect(rig.failures).toEqual([]);
});

describe('what a process holds', () => {
  test('is given up for good when it ends while it renews its lease', async () => {
    const renewal = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const order: string[] = [];
    const query = async (text: string, values?: unknown[]) => {
      const isRenewal = text.includes('update call_holders set expires_at = statement_timestamp()');
      if (isRenewal) {
        asked.resolve();
        await renewal.promise;
      }
      order.push(isRenewal ? 'renewed' : 'made or ended');
      return rig.database.query(text, values);
    };
    const database = { ...rig.database, query } as Database;
    const holder = createHolder({
      database,
      newId: rig.newId,
      onError: (error) => rig.failures.push(error),
      leaseMs: 40,
    });
    const id = await holder.current();
    await asked.promise;
    const closed = holder.close();
    setImmediate(renewal.resolve);
    await closed;
    expect(order).toEqual(['made or ended', 'renewed', 'made or ended']);
    const { rows } = await rig.database.query('select id from call_holders where id = $1', [id]);
    expect(rows).toEqual([]);
  });

  test('[TH-7.3] a kill gives it back within the lease', async () => {
    const id = await rig.newCustomer(40);
    const { child, reserved } = rig.startProcess('hang', id, 60);
    expect(await reserved).toBe(40);
    const service = rig.newService();
    const leaseEndMs = async () =>
      (
        await rig.database.query<{ ms: number }>(
          'select extract(epoch from max(expires_at))::float8 * 1000 as ms from call_holders',
        )
      ).rows[0]?.ms ?? 0;
    const first = await leaseEndMs();
    // Alive, it moves the end of its lease on, and so keeps them.
    await expect.poll(leaseEndMs).toBeGreaterThan(first);
    await service.sweep();
    expect(await rig.counter(id)).toEqual({ used: 40, kept: 0 });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const swept = async () => {
      await service.sweep();
      return rig.counter(id);
    };
    await expect.poll(swept, { interval: 100 }).toEqual({ used: 0, kept: 0 });
    expect((await service.meter.checkLimit(id)).kind).toBe('reserved');
  });

  test('a process that was only slow counts what it kept, once', async () => {
    const id = await rig.newCustomer(10);
    const slow = rig.newService(0, 100_000);
    const checks = await Promise.all(Array.from({ length: 4 }, () => slow.meter.checkLimit(id)));
    await rig.database.query(`update call_holders set expires_at = now() - interval '1 second'`);
    await rig.newService(1).sweep();
    expect(await rig.counter(id)).toEqual({ used: 0, kept: 0 });
    await Promise.all(checks.map((check, n) => rig.settle(slow, check, n < 3)));
    expect(await rig.counter(id)).toEqual({ used: 3, kept: 3 });
    // It goes on under a new lease.
    const next = await slow.meter.checkLimit(id);
    await rig.settle(slow, next, true);
    expect(await rig.counter(id)).toEqual({ used: 4, kept: 4 });
    expect(await rig.openUnits(id)).toBe(0);
  });

  test('settling and sweeping at the same moment counts once', async () => {
    const id = await rig.newCustomer(1_000);
    for (let round = 0; round < 10; round += 1) {
      const service = rig.newService(0, 100_000);
      const checks = await Promise.all(Array.from({ length: 5 }, () => service.meter.checkLimit(id)));
      await rig.database.query(`update call_holders set expires_at = now() - interval '1 second'`);
      await Promise.all([
        rig.newService(1).sweep(),
        ...checks.map((check) => rig.settle(service, check, true)),
      ]);
      await rig.newService(1).sweep();
      expect(await rig.counter(id)).toEqual({ used: 5 * (round + 1), kept: 5 * (round + 1) });
    }
  });

  test('a lease that the sweep took is made anew, and one that is good outlives the end of an older one', async () => {
    const database = rig.pools[0];
    const holder = createHolder({
      database,
      newId: rig.newId,
      onError: (error) => void rig.failures.push(error),
      leaseMs: 200,
    });
    const first = await holder.current();
    holder.abandon('hld_older');
    expect(await holder.current()).toBe(first);
    await rig.database.query('delete from call_holders where id = $1', [first]);
    await expect.poll(() => holder.current()).not.toBe(first);
    await holder.close();
  });

  test('a lease that could not be made is tried again by the next call', async () => {
    const id = await rig.newCustomer(5);
    const service = rig.newService();
    await rig.database.query('alter table call_holders rename to away');
    await expect(service.meter.checkLimit(id)).rejects.toThrow(/call_holders/);
    await rig.database.query('alter table away rename to call_holders');
    expect((await service.meter.checkLimit(id)).kind).toBe('reserved');
  });

  test('[TH-7.3] a sweep, and the end of another process, leave what a live process holds', async () => {
    const id = await rig.newCustomer(5);
    const [service, other] = [rig.newService(0), rig.newService(1)];
    await service.meter.checkLimit(id);
    await other.meter.checkLimit(await rig.newCustomer(5));
    await other.sweep();
    await other.close();
    expect(await rig.openUnits(id)).toBe(1);
    expect(await rig.counter(id)).toEqual({ used: 1, kept: 0 });
  });

  test('[TH-7.3] a call that cannot be counted gives its unit back with the lease under which it was reserved', async () => {
    const id = await rig.newCustomer(5);
    const service = rig.newService();
    const check = await service.meter.checkLimit(id);
    const holder = await service.meter.holder.current();
    await rig.database.query('alter table usage_recent rename to away');
    await rig.settle(service, check, true);
    await rig.database.query('alter table away rename to usage_recent');
    expect(rig.failures.splice(0)).toHaveLength(1);
    expect(await service.meter.holder.current()).not.toBe(holder);
  });

  test('a database that fails gives the error to the callers, and nothing stays reserved', async () => {
    const id = await rig.newCustomer(5);
    const service = rig.newService();
    await service.meter.checkLimit(id);
    const holder = await service.meter.holder.current();
    await rig.database.query('alter table usage_reservations rename to away');
    await expect(service.meter.checkLimit(id)).rejects.toThrow(/usage_reservations/);
    await rig.database.query('alter table away rename to usage_reservations');
    expect((await service.meter.checkLimit(id)).kind).toBe('reserved');
    expect(await service.meter.holder.current()).not.toBe(holder);
  });

  const leaseEndMs = async (holder: string) =>
    (
      await rig.database.query<{ ms: number }>(
        'select extract(epoch from expires_at)::float8 * 1000 as ms from call_holders where id = $1',
        [holder],
      )
    ).rows[0]?.ms;

  test('[TH-7.2] a reservation that failed takes nothing from the calls that run: their lease lasts as long as they can', async () => {
    const id = await rig.newCustomer(1);
    const service = rig.newService(0, 8_000);
    const check = await service.meter.checkLimit(id);
    const holder = await service.meter.holder.current();
    await rig.database.query('alter table usage_reservations rename to away');
    await expect(service.meter.checkLimit(id)).rejects.toThrow(/usage_reservations/);
    await rig.database.query('alter table away rename to usage_reservations');
    const end = await leaseEndMs(holder);
    await expect.poll(() => leaseEndMs(holder)).toBeGreaterThan(end ?? Number.POSITIVE_INFINITY);
    await service.sweep();
    expect((await service.meter.checkLimit(id)).kind).toBe('limit_exceeded');
    await rig.settle(service, check, true);
    expect(await rig.counter(id)).toEqual({ used: 1, kept: 1 });
    expect(await rig.openUnits(id)).toBe(0);
  });

  const newHolder = (times: { leaseMs: number; runOnMs?: number }) =>
    createHolder({
      ...{ database: rig.pools[0], newId: rig.newId, onError: (error) => void rig.failures.push(error) },
      ...times,
    });

  test('[TH-7.3] an abandoned lease ends when no call can run under it any more, and with its process', async () => {
    const short = newHolder({ leaseMs: 100, runOnMs: 0 });
    const ending = await short.current();
    short.abandon(ending);
    expect(await short.current()).not.toBe(ending);
    const other = rig.newService(1);
    const swept = async () => {
      await other.sweep();
      return leaseEndMs(ending);
    };
    await expect.poll(swept, { interval: 100 }).toBeUndefined();
    await short.close();
    const long = newHolder({ leaseMs: 100_000 });
    const closing = await long.current();
    long.abandon(closing);
    await long.close();
    expect(await leaseEndMs(closing)).toBeUndefined();
  });
});

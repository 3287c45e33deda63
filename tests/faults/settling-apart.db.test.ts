// The server of one customer is away for longer than callers wait, where tables are spread over several: those of others do not.
import type { Database } from '@libs/db';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Meter } from '../../services/toolhub/src/billing/meter/meter.ts';
import type { Reservation } from '../../services/toolhub/src/billing/meter/settlement.ts';
import { createIdempotency } from '../../services/toolhub/src/calls/idempotency.ts';
import {
  createSettlingRig,
  keptCallOf,
  marks,
  newId,
  ONCE,
  RESERVED,
  reserveFor,
  type SettlingRig,
  spread,
} from './settling-rig.ts';

let rig: SettlingRig;
let customerId = '';
const reserve = (meter: Meter) => reserveFor(meter, customerId);
const kept = () => keptCallOf(customerId);
const counted = () => rig.countedOf(customerId);

beforeAll(async () => {
  rig = await createSettlingRig();
});

beforeEach(async () => {
  customerId = await rig.newCustomer();
});

afterAll(async () => {
  await rig.closeMeters();
  await rig.db.drop();
  expect(rig.failures).toEqual([]);
});

/** What the statements of the customer meet, as a code of Postgres. */
let fault: string | null = null;
let told: unknown[] = [];
/** What the next statement of the customer waits for. */
let hanging: (() => Promise<void>) | undefined;

function hangNext() {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  hanging = () => {
    reached.resolve();
    return released.promise;
  };
  return { reached: reached.promise, release: released.resolve };
}

/** By which the first server tells that another one is away, and not itself. */
const MESSAGES = new Map([
  [
    '08006',
    'connection to the remote node toolhub@10.0.0.2:5432 failed with the following error: Connection refused',
  ],
]);

/** Of a list, and of what is looked up within a join, the first server knows no tenant, by whom it could tell which of the others to ask. */
const goesToAll = (text: string) =>
  (text.includes('unnest(') && !text.includes('($1::text[])[1]')) || text.includes('d.customer_id = c.id');

function newPartlyMeter(unreachable: string): Meter {
  [fault, told] = [null, []];
  const refuse = async (statement: string | { text: string }, values: readonly unknown[] = []) => {
    const text = typeof statement === 'string' ? statement : statement.text;
    const isReached = goesToAll(text) || [values[0]].flat().includes(unreachable);
    if (fault === null || !isReached) return;
    const hang = hanging;
    hanging = undefined;
    await hang?.();
    if (fault !== null) throw Object.assign(new Error(MESSAGES.get(fault) ?? fault), { code: fault });
  };
  const over = spread(rig.db.database);
  const partly: Database = {
    ...over,
    serverOf: async (tenantId) => (tenantId === unreachable ? 'away' : 'there'),
    transaction: (work, options) =>
      over.transaction((tx) => {
        const query: typeof tx.query = async (statement, values) => {
          await refuse(statement, values);
          return tx.query(statement, values);
        };
        return work({ ...tx, query });
      }, options),
  };
  const onError = (error: unknown) => void told.push(error);
  return rig.newMeter(partly, { awayMsMax: 50, awayPauseMs: 10, onError });
}

const internal = (tool: string) => ({ ...kept(), customerId: 'internal', tool, reservation: null });
const callsOf = async (tool: string) => {
  const { rows } = await rig.db.database.query<{ calls: number }>(
    'select sum(calls)::int as calls from usage_daily where tool = $1',
    [tool],
  );
  return rows[0]?.calls ?? 0;
};

test('[TH-7.7] the calls of others are counted meanwhile', async () => {
  const meter = newPartlyMeter(customerId);
  const reservation = await reserve(meter);
  fault = 'XX000';
  await meter.settle({ ...kept(), reservation });
  await meter.settle(internal('beta_send_note'));
  expect(await callsOf('beta_send_note')).toBe(1);
  expect(await counted()).toEqual(RESERVED);
  fault = null;
  await expect.poll(() => counted()).toEqual(ONCE);
});

test('[TH-7.2] calls of others pass the gate, and are counted, meanwhile', async () => {
  const meter = newPartlyMeter('cus_elsewhere');
  fault = 'XX000';
  await meter.settle({ ...kept(), reservation: await reserve(meter) });
  const meanwhile = await counted();
  fault = null;
  expect(meanwhile).toEqual(ONCE);
  expect(told).toEqual([]);
});

test('[TH-7.2] a call that comes to the gate together with one of theirs passes it', async () => {
  const meter = newPartlyMeter(customerId);
  const other = await rig.newCustomer();
  const holder = await meter.holder.current();
  fault = 'XX000';
  const checks = await Promise.allSettled([customerId, other, customerId].map(meter.checkLimit));
  fault = null;
  expect(checks.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
  expect([await rig.countedOf(other), await counted()]).toEqual([
    RESERVED,
    { ...RESERVED, used: 0, open: 0 },
  ]);
  expect(await meter.holder.current()).toBe(holder);
});

test('[TH-5.9] what becomes of the keys of others is stored meanwhile', async () => {
  const meter = newPartlyMeter(customerId);
  const claim = (key: string) =>
    createIdempotency({
      ...{ database: spread(rig.db.database), holder: meter.holder, marks, newId, waitMs: 0 },
      onError: (error) => void rig.failures.push(error),
    }).claim({
      ...{ customerId: 'internal', tool: 'zeta_send_note', key, args: {} },
      signal: new AbortController().signal,
    });
  const [done, freed] = [await claim('done'), await claim('freed')];
  if (done.kind !== 'claimed' || freed.kind !== 'claimed') throw new Error('nobody else has the keys');
  fault = 'XX000';
  await Promise.all([
    meter.settle({ ...internal('zeta_send_note'), alongside: done.ending('{"content":[]}') }),
    meter.settle({ ...internal('zeta_send_note'), alongside: freed.ending(null) }),
  ]);
  const kinds = [(await claim('done')).kind, (await claim('freed')).kind];
  fault = null;
  expect(kinds).toEqual(['replay', 'claimed']);
  expect(told).toEqual([]);
});

test('[TH-7.7] what it then refuses is written apart from what was to be counted with it', async () => {
  const meter = newPartlyMeter(customerId);
  const reservation = await reserve(meter);
  fault = 'XX000';
  await Promise.all([meter.settle({ ...kept(), reservation }), meter.settle(internal('gamma_send_note'))]);
  expect(told).toMatchObject([{ code: 'XX000' }]);
  fault = '22003';
  await expect.poll(() => told).toMatchObject([{ code: 'XX000' }, { code: '22003' }]);
  await expect.poll(() => callsOf('gamma_send_note')).toBe(1);
  expect(await counted()).toEqual(RESERVED);
});

test('[TH-7.7] what it then refuses is given up once, and the rest counted, also where more of the customer waits', async () => {
  const meter = newPartlyMeter(customerId);
  const reservations = [];
  for (let number = 0; number < 6; number += 1) reservations.push(await reserve(meter));
  fault = 'XX000';
  for (const three of [reservations.slice(0, 3), reservations.slice(3)])
    await Promise.all(
      three.map((reservation, number) =>
        meter.settle({ ...kept(), reservation, ...(number === 1 ? { tool: 'no\0tool' } : {}) }),
      ),
    );
  [fault, told] = [null, []];
  await expect.poll(() => counted()).toEqual({ used: 6, kept: 4, open: 2, calls: 4 });
  await expect.poll(() => told).toMatchObject([{ code: '22021' }, { code: '22021' }]);
  await meter.close();
  // What was given up goes back with the lease, which ends with the process.
  expect([await counted(), told.length]).toEqual([{ used: 4, kept: 4, open: 0, calls: 4 }, 2]);
});

test('[TH-7.7] calls of others are counted while a server that stands still keeps its own waiting', async () => {
  const meter = newPartlyMeter(customerId);
  const [other, reservation] = [await rig.newCustomer(), await reserve(meter)];
  fault = '57014';
  const hung = hangNext();
  const waiting = meter.settle({ ...kept(), reservation });
  await hung.reached;
  await meter.settle({ ...keptCallOf(other), reservation: await reserveFor(meter, other) });
  expect(await rig.countedOf(other)).toEqual(ONCE);
  hung.release();
  await waiting;
  fault = null;
  await expect.poll(() => counted()).toEqual(ONCE);
  await meter.close();
  expect(await rig.countedOf(other)).toEqual(ONCE);
});

test.each(['XX000', '08006', '57014'])(
  '[TH-7.7] calls of others that were to be counted with it are counted meanwhile, once (%s)',
  async (code) => {
    const tool = `delta_${code}`;
    const meter = newPartlyMeter(customerId);
    const reservations = [await reserve(meter), await reserve(meter)];
    fault = code;
    const together = reservations.map((reservation) => meter.settle({ ...kept(), reservation }));
    await Promise.all([...together, meter.settle(internal(tool))]);
    await expect.poll(() => callsOf(tool)).toBe(1);
    expect(await counted()).toEqual({ ...RESERVED, used: 2, open: 2 });
    fault = null;
    await expect.poll(() => counted()).toEqual({ used: 2, kept: 2, open: 0, calls: 2 });
    await meter.close();
    expect(await callsOf(tool)).toBe(1);
  },
);

test('[TH-7.7] a server that does not answer keeps the calls of others waiting once and no more', async () => {
  const meter = newPartlyMeter(customerId);
  const reservations = [await reserve(meter), await reserve(meter)];
  fault = 'XX000';
  await meter.settle({ ...kept(), reservation: reservations[0] as Reservation });
  const { reached, release } = hangNext();
  await reached;
  // Its caller goes on, and whoever comes after it does not meet that server.
  await meter.settle({ ...kept(), reservation: reservations[1] as Reservation });
  await meter.settle(internal('epsilon_send_note'));
  expect(await callsOf('epsilon_send_note')).toBe(1);
  [fault, told] = [null, []];
  release();
  await expect.poll(() => counted()).toEqual({ used: 2, kept: 2, open: 0, calls: 2 });
});

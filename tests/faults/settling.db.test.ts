// The connection breaks while a call is counted: whether the database had committed or not, it is counted once.
import { randomBytes } from 'node:crypto';
import { type Database, openDatabase } from '@libs/db';
import { connectionTo, createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { until } from '@libs/runtime/testing';
import { createIdFactory } from '@libs/seal';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sweepExpired } from '../../services/toolhub/src/billing/meter/holder.ts';
import {
  createMeter,
  type Meter,
  type MeterDependencies,
} from '../../services/toolhub/src/billing/meter/meter.ts';
import { deleteMeters, settleUnits } from '../../services/toolhub/src/billing/meter/meter-store.ts';
import type { Reservation } from '../../services/toolhub/src/billing/meter/settlement.ts';
import { createReckoner } from '../../services/toolhub/src/billing/reckoner.ts';
import { createIdempotency, type KeyClaim } from '../../services/toolhub/src/calls/idempotency.ts';
import { reckonMonth } from '../../services/toolhub/src/invoices/reckoning.ts';
import { migrationSource, SCHEMA } from '../../services/toolhub/src/schema.ts';
import { type DatabaseWire, startDatabaseWire, type WireStep } from './database-wire.ts';

const now = () => new Date();
const newId = createIdFactory({ now, randomBytes });
const failures: unknown[] = [];
const meters: Meter[] = [];
let db: TestDatabase;
let wire: DatabaseWire;
let wired: Database;
/** At this step the wire is cut, and stays closed. */
let cutAt: ((step: WireStep) => boolean) | undefined;

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  // `npm run pooled` puts PgBouncer behind the wire.
  const { url, directUrl } = connectionTo(db.url);
  wire = await startDatabaseWire(url, {
    isStopped(step) {
      if (!cutAt?.(step)) return false;
      cutAt = undefined;
      wire.isOpen = false;
      wire.cut();
      return true;
    },
  });
  wired = await openDatabase({ url: wire.url, directUrl, schema: SCHEMA, connectionsMax: 4 });
});

afterAll(async () => {
  for (const meter of meters) await meter.close();
  await wired.close();
  await wire.stop();
  await db.drop();
  expect(failures).toEqual([]);
});

let customerId = '';
beforeEach(async () => {
  customerId = newId('cus');
  await db.database.query(
    `insert into customers (id, email, name, password_hash, plan, created_at) values ($1, $1, 'x', 'x', 'free', now())`,
    [customerId],
  );
});

function newMeter(database: Database, options: Partial<MeterDependencies> = {}): Meter {
  const meter = createMeter({
    // No renewal of a lease may meet a cut: that it failed is reported.
    ...{ database, newId, now, onCounted: () => {}, leaseMs: 3_600_000, awayPauseMs: 50 },
    askReckoned: createReckoner({ database, now, reckonMonth }),
    onError: (error) => void failures.push(error),
    ...options,
  });
  meters.push(meter);
  return meter;
}

/** The statements for tables that are spread over servers; one server takes them, too. */
const spread = (database: Database): Database => ({
  ...database,
  isSpread: true,
  transaction: (work, options) => database.transaction((tx) => work({ ...tx, isSpread: true }), options),
});

async function reserve(meter: Meter): Promise<Reservation> {
  const check = await meter.checkLimit(customerId);
  if (check.kind !== 'reserved') throw new Error('there is no limit to reach here');
  return check.reservation;
}

const call = () => ({ customerId, platform: 'alpha', tool: 'alpha_send_note', durationMs: 3 });
const kept = () => ({ ...call(), succeeded: true, unit: 'kept' as const });

/** What is counted of the customer: units used and kept, those open, and calls by day. */
async function counted(of = customerId) {
  const { rows } = await db.database.query<{ used: number; kept: number; open: number; calls: number }>(
    `select coalesce((select used from usage_counters where customer_id = $1), 0) as used,
       coalesce((select kept from usage_counters where customer_id = $1), 0) as kept,
       coalesce((select sum(units) from usage_reservations where customer_id = $1), 0)::bigint as open,
       coalesce((select sum(calls) from usage_daily where customer_id = $1), 0)::bigint as calls`,
    [of],
  );
  return rows[0];
}

const RESERVED = { used: 1, kept: 0, open: 1, calls: 0 };
const ONCE = { used: 1, kept: 1, open: 0, calls: 1 };

const isSettling = ({ name }: WireStep) =>
  name.startsWith('with batch as ( insert into meters') || name.startsWith('commit after');
const cutWhen = (when: WireStep['when']) => {
  cutAt = (step) => step.when === when && isSettling(step);
};
const cutDone = () => until('the wire is cut', () => !wire.isOpen);

describe.each([
  { tables: 'on one server', over: (database: Database) => database },
  { tables: 'spread', over: spread },
])('tables $tables', ({ over }) => {
  test.each([
    { when: 'before', meanwhile: RESERVED },
    { when: 'after', meanwhile: ONCE },
  ] as const)('[TH-7.7] cut $when the commit, a call is counted once', async ({ when, meanwhile }) => {
    const meter = newMeter(over(wired));
    const reservation = await reserve(meter);
    cutWhen(when);
    const settling = meter.settle({ ...kept(), reservation });
    await cutDone();
    await until('the database is done', async () => (await counted())?.kept === meanwhile.kept);
    expect(await counted()).toEqual(meanwhile);
    wire.isOpen = true;
    await settling;
    expect(await counted()).toEqual(ONCE);
    await meter.settle({ ...kept(), reservation: await reserve(meter) });
    expect(await counted()).toEqual({ used: 2, kept: 2, open: 0, calls: 2 });
  });

  test('cut after the commit, also where its lease was swept meanwhile', async () => {
    const meter = newMeter(over(wired));
    const reservation = await reserve(meter);
    cutWhen('after');
    const settling = meter.settle({ ...kept(), reservation });
    await cutDone();
    await until('the database is done', async () => (await counted())?.kept === 1);
    await db.database.query('delete from usage_reservations where holder = $1', [reservation.holder]);
    await db.database.query('delete from call_holders where id = $1', [reservation.holder]);
    wire.isOpen = true;
    await settling;
    expect(await counted()).toEqual(ONCE);
  });

  test('cut after the commit, a key that the call freed stays with who took it next', async () => {
    const database = over(wired);
    const meter = newMeter(database);
    const claim = (by: Database): Promise<KeyClaim> =>
      createIdempotency({
        ...{ database: by, holder: { ...meter.holder, current: async () => reservation.holder }, newId },
        onError: (error) => void failures.push(error),
      }).claim({
        ...{ customerId, tool: 'alpha_send_note', key: 'key', args: {} },
        signal: new AbortController().signal,
      });
    const reservation = await reserve(meter);
    const first = await claim(wired);
    if (first.kind !== 'claimed') throw new Error('nobody else has the key');
    cutWhen('after');
    const settling = meter.settle({
      ...{ ...call(), reservation, succeeded: false, unit: 'given_back' },
      alongside: first.ending(null),
    });
    await cutDone();
    expect((await claim(db.database)).kind).toBe('claimed');
    wire.isOpen = true;
    await settling;
    expect(await counted()).toEqual({ used: 0, kept: 0, open: 0, calls: 1 });
    const { rows } = await db.database.query('select result from idempotent_calls where customer_id = $1', [
      customerId,
    ]);
    expect(rows).toEqual([{ result: null }]);
  });

  test('cut while it waits for a lock, the first try and the second count it once between them', async () => {
    const meter = newMeter(over(wired));
    const reservation = await reserve(meter);
    let settling = Promise.resolve();
    await db.database.transaction(async (tx) => {
      await tx.query('select from usage_counters where customer_id = $1 for update', [customerId]);
      const waiting = async () => {
        // A transaction sees the activity as it was when it first looked.
        await tx.query('select pg_stat_clear_snapshot()');
        const { rowCount } = await tx.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rowCount;
      };
      settling = meter.settle({ ...kept(), reservation });
      await until('the first try waits', async () => (await waiting()) === 1);
      wire.cut();
      await until('the second waits, too', async () => (await waiting()) === 2);
    });
    await settling;
    expect(await counted()).toEqual(ONCE);
  });

  describe('away for longer than its caller waits', () => {
    /** What was told of calls that are counted late or never. */
    let told: unknown[] = [];
    const impatient = (database: Database) => {
      told = [];
      return newMeter(database, { awayMsMax: 100, onError: (error) => void told.push(error) });
    };

    test.each(['before', 'after'] as const)(
      '[TH-7.7] cut %s the commit, a call is counted once',
      async (when) => {
        const meter = impatient(over(wired));
        const reservation = await reserve(meter);
        cutWhen(when);
        await meter.settle({ ...kept(), reservation });
        expect(wire.isOpen).toBe(false);
        expect(told).toHaveLength(1);
        wire.isOpen = true;
        await expect.poll(() => counted()).toEqual(ONCE);
        await meter.settle({ ...kept(), reservation: await reserve(meter) });
        await meter.close();
        expect(await counted()).toEqual({ used: 2, kept: 2, open: 0, calls: 2 });
        expect(told).toHaveLength(1);
      },
    );

    test('[TH-7.7] a lease that was swept meanwhile changes nothing, nor does a second batch', async () => {
      const meter = impatient(over(wired));
      const reservations = [await reserve(meter), await reserve(meter)];
      cutWhen('before');
      for (const reservation of reservations) await meter.settle({ ...kept(), reservation });
      await db.database.query(`update call_holders set expires_at = '-infinity' where id = $1`, [
        reservations[0]?.holder,
      ]);
      await sweepExpired(db.database);
      expect(await counted()).toEqual({ used: 0, kept: 0, open: 0, calls: 0 });
      wire.isOpen = true;
      await expect.poll(() => counted()).toEqual({ used: 2, kept: 2, open: 0, calls: 2 });
    });

    test('[TH-5.9] the result of a key is stored late, too, also of an internal session', async () => {
      const meter = impatient(over(wired));
      const key = newId('key');
      const claim = () =>
        createIdempotency({
          ...{ database: db.database, holder: meter.holder, newId, waitMs: 0 },
          onError: (error) => void failures.push(error),
        }).claim({
          ...{ customerId: 'internal', tool: 'alpha_send_note', key, args: {} },
          signal: new AbortController().signal,
        });
      const first = await claim();
      if (first.kind !== 'claimed') throw new Error('nobody else has the key');
      cutWhen('before');
      const alongside = first.ending('{"content":[]}');
      await meter.settle({ ...kept(), customerId: 'internal', reservation: null, alongside });
      expect((await claim()).kind).toBe('running');
      wire.isOpen = true;
      await expect.poll(async () => (await claim()).kind).toBe('replay');
    });

    test('the end of the process waits for it, for a bounded time, and gives the unit back then', async () => {
      const meter = impatient(over(wired));
      const reservation = await reserve(meter);
      cutWhen('before');
      await meter.settle({ ...kept(), reservation });
      const closing = meter.close();
      wire.isOpen = true;
      await closing;
      expect(await counted()).toEqual(ONCE);

      const other = newMeter(over(wired), {
        ...{ awayMsMax: 100, lateCloseMsMax: 100, onError: (error) => void told.push(error) },
      });
      const lost = await reserve(other);
      cutWhen('before');
      await other.settle({ ...kept(), reservation: lost });
      told = [];
      await other.close();
      wire.isOpen = true;
      expect(told).not.toEqual([]);
      expect((await counted())?.kept).toBe(1);
    });
  });

  test('calls of internal sessions, which hold no unit, are counted once, too', async () => {
    const before = (await counted('internal'))?.calls ?? 0;
    cutWhen('after');
    const settling = newMeter(over(wired)).settle({ ...kept(), customerId: 'internal', reservation: null });
    await cutDone();
    wire.isOpen = true;
    await settling;
    expect((await counted('internal'))?.calls).toBe(before + 1);
  });

  test('of one batch that comes twice at the same moment, one is counted', async () => {
    const month = '2026-03-01';
    const meter = newId('mtr');
    const batch = (number: number) => ({
      ...{ meter, number, usage: [] },
      settled: [{ customerId, month, holder: 'hld_gone', kept: 1, returned: 0 }],
    });
    for (const number of [1, 2, 3]) {
      const answers = await Promise.all([1, 2].map(() => settleUnits(over(wired), batch(number))));
      expect(answers.filter((counters) => counters === null)).toHaveLength(1);
    }
    expect((await counted())?.kept).toBe(3);
    // One that was given up, and comes after a later one, was reported as not counted.
    expect(await settleUnits(over(wired), batch(2))).toBeNull();
    expect((await counted())?.kept).toBe(3);
  });
});

describe('where the server of one customer is away for longer than callers wait', () => {
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
    const over = spread(db.database);
    const partly: Database = {
      ...over,
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
    return newMeter(partly, { awayMsMax: 50, awayPauseMs: 10, onError });
  }

  const internal = (tool: string) => ({ ...kept(), customerId: 'internal', tool, reservation: null });
  const callsOf = async (tool: string) => {
    const { rows } = await db.database.query<{ calls: number }>(
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

  test('[TH-5.9] what becomes of the keys of others is stored meanwhile', async () => {
    const meter = newPartlyMeter(customerId);
    const claim = (key: string) =>
      createIdempotency({
        ...{ database: spread(db.database), holder: meter.holder, newId, waitMs: 0 },
        onError: (error) => void failures.push(error),
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
    expect([await counted(), told.length]).toEqual([{ used: 6, kept: 4, open: 2, calls: 4 }, 2]);
  });

  test.each(['XX000', '08006'])(
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
});

test('how far a process had counted is forgotten when it counts no more', async () => {
  await db.database.query(`update meters set counted_at = now() - interval '8 days' where batch > 1`);
  await deleteMeters(db.database, { idleMs: 7 * 24 * 60 * 60 * 1000, limit: 1_000 });
  const { rows } = await db.database.query('select distinct batch from meters');
  expect(rows).toEqual([{ batch: 1 }]);
});

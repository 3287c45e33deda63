// The connection breaks while a call is counted: whether the database had committed or not, it is counted once.
import { type Database, openDatabase } from '@libs/db';
import { connectionTo, type TestDatabase } from '@libs/db/testing';
import { until } from '@libs/runtime/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sweepExpired } from '../../services/toolhub/src/billing/meter/holder.ts';
import type { Meter } from '../../services/toolhub/src/billing/meter/meter.ts';
import { deleteMeters, settleUnits } from '../../services/toolhub/src/billing/meter/meter-store.ts';
import { createIdempotency, type KeyClaim } from '../../services/toolhub/src/calls/idempotency.ts';
import { SCHEMA } from '../../services/toolhub/src/schema.ts';
import { type DatabaseWire, startDatabaseWire, type WireStep } from './database-wire.ts';
import {
  callOf,
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
let db: TestDatabase;
let failures: unknown[];
let wire: DatabaseWire;
let wired: Database;
/** At this step the wire is cut, and stays closed. */
let cutAt: ((step: WireStep) => boolean) | undefined;

beforeAll(async () => {
  rig = await createSettlingRig();
  ({ db, failures } = rig);
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
  await rig.closeMeters();
  await wired.close();
  await wire.stop();
  await db.drop();
  expect(failures).toEqual([]);
});

let customerId = '';
beforeEach(async () => {
  customerId = await rig.newCustomer();
});

const newMeter: SettlingRig['newMeter'] = (database, options) => rig.newMeter(database, options);
const reserve = (meter: Meter) => reserveFor(meter, customerId);
const call = () => callOf(customerId);
const kept = () => keptCallOf(customerId);
const counted = (of = customerId) => rig.countedOf(of);

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
        ...{
          database: by,
          holder: { ...meter.holder, current: async () => reservation.holder },
          marks,
          newId,
        },
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
          ...{ database: db.database, holder: meter.holder, marks, newId, waitMs: 0 },
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

test('how far a process had counted is forgotten when it counts no more', async () => {
  await db.database.query(`update meters set counted_at = now() - interval '8 days' where batch > 1`);
  await deleteMeters(db.database, { idleMs: 7 * 24 * 60 * 60 * 1000, limit: 1_000 });
  const { rows } = await db.database.query('select distinct batch from meters');
  expect(rows).toEqual([{ batch: 1 }]);
});

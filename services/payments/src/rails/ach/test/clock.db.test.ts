// ACH under a sandbox clock: the real windows, weekends and holidays, in the order of their times.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import type { Tenant } from '../../../tenant.ts';
import { readNacha } from '../nacha/read.ts';
import { createHouse, type House, historyOf } from './house.ts';

let house: House;
let worker: Awaited<ReturnType<House['startWorking']>>;
let tenants = 0;

beforeAll(async () => {
  house = await createHouse();
  worker = await house.startWorking();
});
afterAll(() => house.close());

/** An organisation whose clock stands at this time in New York. */
async function tenantAt(date: string, time: string): Promise<Tenant> {
  tenants += 1;
  const tenant = await house.addTenant(`org_clock_${tenants}`);
  await house.moveClock(tenant, fromNewYork(date, time));
  return tenant;
}

async function payOnce(tenant: Tenant, input: Parameters<House['pay']>[1] = {}): Promise<string> {
  const id = await house.pay(tenant, input);
  await house.idle();
  return id;
}

async function history(tenant: Tenant, id: string): Promise<string> {
  return historyOf(await house.get(tenant, id));
}

describe('windows', () => {
  test('a payment waits for its window, and can be canceled until then', async () => {
    const tenant = await tenantAt('2083-03-01', '09:00');
    const stays = await payOnce(tenant);
    const goes = await payOnce(tenant);
    await house.moveClock(tenant, fromNewYork('2083-03-01', '22:29'));
    expect(await history(tenant, stays)).toBe('pending');
    await house.cancel(tenant, stays);
    await house.moveClock(tenant, fromNewYork('2083-03-01', '22:30'));
    expect(await history(tenant, goes)).toBe('pending > processing');
    expect(await history(tenant, stays)).toBe('pending > canceled');
    const { rows } = await house.database.query(
      'select state, trace from ach_entries where payment_id = $1',
      [stays],
    );
    expect(rows).toEqual([{ state: 'canceled', trace: null }]);
  });

  test('debit and credit take a night each, and a frozen clock stamps its own time', async () => {
    const tenant = await tenantAt('2083-03-01', '09:00');
    const id = await payOnce(tenant);
    const expected = fromNewYork('2083-03-03', '08:30');
    expect((await house.get(tenant, id)).estimatedSettlementAt).toEqual(expected);
    await house.moveClock(tenant, fromNewYork('2083-03-02', '23:00'));
    expect(await history(tenant, id)).toBe('pending > processing');
    await house.moveClock(tenant, fromNewYork('2083-03-03', '08:29'));
    expect(await history(tenant, id)).toBe('pending > processing');
    await house.moveClock(tenant, expected);
    const payment = await house.get(tenant, id);
    expect(payment.timeline.at(-1)).toEqual({ status: 'completed', timestamp: expected.toISOString() });
    expect(payment.attempts[0]).toMatchObject({
      submitted_at: fromNewYork('2083-03-01', '22:30').toISOString(),
      settled_at: expected.toISOString(),
    });
  });

  test('the same day where speed is asked for, up to the limit', async () => {
    const tenant = await tenantAt('2083-03-01', '09:00');
    const balance = await house.openBalance(tenant, 5_000_000_00);
    const fast = await payOnce(tenant, { sourceId: balance, prefer: 'speed', amount: 1_000_000_00 });
    const large = await payOnce(tenant, { sourceId: balance, prefer: 'speed', amount: 1_000_000_01 });
    expect((await house.get(tenant, fast)).feeAmount).toBe(50);
    expect((await house.get(tenant, large)).feeAmount).toBe(20);
    await house.moveClock(tenant, fromNewYork('2083-03-01', '13:00'));
    expect(await history(tenant, fast)).toBe('pending > processing > completed');
    expect(await history(tenant, large)).toBe('pending');
    const messages = house.messages;
    const [file] = await messages.list(tenant, fast);
    const read = readNacha(file?.content ?? '');
    expect(read.ok && read.file.batches[0]?.header).toMatchObject({
      descriptiveDate: 'SD1300',
      effectiveDate: '830301',
    });
  });

  test('one jump over many days gives what every day by itself would', async () => {
    const jumping = await tenantAt('2082-11-20', '18:00');
    const walking = await tenantAt('2082-11-20', '18:00');
    const inputs = [
      {},
      { sourceId: 'pm_test_ach_late_return_r01' },
      { destinationId: 'pm_test_ach_return_r02' },
      { destinationId: 'pm_test_ach_noc_c01', prefer: 'speed' as const },
    ];
    const end = fromNewYork('2082-12-04', '12:00');
    const run = async (tenant: Tenant, walk: boolean) => {
      const ids: string[] = [];
      for (const input of inputs) ids.push(await payOnce(tenant, input));
      for (let day = 21; walk && day <= 30; day += 1)
        await house.moveClock(tenant, fromNewYork(`2082-11-${day}`, '23:59'));
      await house.moveClock(tenant, end);
      const payments = await Promise.all(ids.map((id) => house.get(tenant, id)));
      return payments.map((payment) => ({
        history: historyOf(payment),
        submitted: payment.attempts[0]?.submitted_at,
        settled: payment.attempts[0]?.settled_at,
        failure: payment.failure?.code,
      }));
    };
    const jumped = await run(jumping, false);
    expect(jumped).toEqual(await run(walking, true));
    // Friday evening: the debit settles on Monday, the credit on Tuesday, the late return comes on Wednesday.
    expect(jumped[0]?.settled).toBe(fromNewYork('2082-11-24', '08:30').toISOString());
    expect(jumped.map(({ history: text }) => text)).toEqual([
      'pending > processing > completed',
      'pending > processing > completed > returned',
      'pending > processing > failed',
      'pending > processing > completed',
    ]);
  });

  test.each([
    ['a weekend', ['2082-11-20', '20:00'], ['2082-11-23', '08:30']],
    ['Thanksgiving', ['2082-11-25', '20:00'], ['2082-11-27', '08:30']],
    ['the Sunday on which clocks go forward', ['2083-03-12', '20:00'], ['2083-03-15', '08:30']],
    ["the year's end", ['2082-12-31', '20:00'], ['2083-01-04', '08:30']],
  ] as const)('over %s', async (_name, [date, time], [settleDate, settleTime]) => {
    const tenant = await tenantAt(date, time);
    const balance = await house.openBalance(tenant, 100_00);
    const id = await payOnce(tenant, { sourceId: balance });
    const settles = fromNewYork(settleDate, settleTime);
    await house.moveClock(tenant, new Date(settles.getTime() - 1));
    expect(await history(tenant, id)).toBe('pending > processing');
    await house.moveClock(tenant, settles);
    expect(await history(tenant, id)).toBe('pending > processing > completed');
  });
});

describe('late returns', () => {
  test('come with the opening of the second banking day after settlement', async () => {
    const tenant = await tenantAt('2082-11-23', '09:00');
    const balance = await house.openBalance(tenant, 100_00);
    const id = await payOnce(tenant, { sourceId: balance, destinationId: 'pm_test_ach_late_return_r03' });
    // Settles on Tuesday; Thursday is Thanksgiving.
    await house.moveClock(tenant, fromNewYork('2082-11-27', '08:29'));
    expect(await history(tenant, id)).toBe('pending > processing > completed');
    await house.moveClock(tenant, fromNewYork('2082-11-27', '08:30'));
    expect(await history(tenant, id)).toBe('pending > processing > completed > returned');
    expect((await house.methods.get(tenant, balance)).balance).toMatchObject({ posted: 100_00, owed: 0 });
  });
});

describe('the clock', () => {
  test('[P-7.1] set free makes ACH fast again, also for what waits by the calendar, in the order of its hours', async () => {
    const tenant = await tenantAt('2083-03-05', '09:00');
    const balance = await house.openBalance(tenant, 100_00);
    const waits = await payOnce(tenant);
    const ends = [
      { input: { sourceId: balance }, history: 'pending > processing > completed' },
      { input: { destinationId: 'pm_test_ach_return_r02' }, history: 'pending > processing > failed' },
      {
        input: { sourceId: 'pm_test_ach_late_return_r01' },
        history: 'pending > processing > completed > returned',
      },
    ];
    const ids: string[] = [];
    for (const { input } of ends) ids.push(await payOnce(tenant, input));
    await house.moveClock(tenant, fromNewYork('2083-03-05', '22:30'));
    const later = await payOnce(tenant);
    expect(await history(tenant, waits)).toBe('pending > processing');
    const releasedAt = Date.now();
    await house.sandbox.releaseClock(tenant);
    for (const id of [waits, later])
      await expect.poll(() => history(tenant, id)).toBe('pending > processing > completed');
    for (const [index, end] of ends.entries())
      await expect.poll(() => history(tenant, ids[index] ?? '')).toBe(end.history);
    const shows = fromNewYork('2083-03-05', '22:30').getTime() + Date.now() - releasedAt;
    const payment = await house.get(tenant, later);
    const stamps = [
      payment.attempts[0]?.submitted_at,
      payment.attempts[0]?.settled_at,
      ...payment.timeline.map(({ timestamp }) => timestamp),
    ].map((stamp) => Date.parse(stamp ?? ''));
    expect(Math.max(...stamps)).toBeLessThanOrEqual(shows);
    // Messages keep the hours of the calendar, which the clock has not reached.
    for (const [id, directions] of [
      [later, ['out']],
      [ids[1] ?? '', ['out', 'in']],
    ] as const) {
      const ahead = (await house.messages.list(tenant, id)).filter(({ createdAt }) => +createdAt > shows);
      expect(new Set(ahead.map(({ direction }) => direction))).toEqual(new Set(directions));
    }
    expect((await house.check(tenant)).ok).toBe(true);
  });

  test('stopped again is a calendar again, for what is under way and for what comes', async () => {
    const tenant = await tenantAt('2083-03-01', '09:00');
    const early = await payOnce(tenant);
    await house.sandbox.releaseClock(tenant);
    await expect.poll(() => history(tenant, early)).toBe('pending > processing > completed');
    const before = await house.pay(tenant);
    await expect.poll(() => history(tenant, before)).toBe('pending > processing > completed');
    await house.moveClock(tenant, fromNewYork('2083-03-01', '12:00'));
    const after = await payOnce(tenant);
    expect(await history(tenant, after)).toBe('pending');
    await house.moveClock(tenant, fromNewYork('2083-03-03', '08:29'));
    expect(await history(tenant, after)).toBe('pending > processing');
    await house.moveClock(tenant, fromNewYork('2083-03-03', '08:30'));
    expect(await history(tenant, after)).toBe('pending > processing > completed');
    expect((await house.check(tenant)).ok).toBe(true);
  });

  test('moved while payments come in leaves none behind', async () => {
    const tenant = await tenantAt('2083-05-03', '09:00');
    const ids: string[] = [];
    for (let day = 3; day <= 14; day += 1) {
      const pending = Array.from({ length: 5 }, () => house.pay(tenant));
      await house.setClock(tenant, fromNewYork(`2083-05-${String(day).padStart(2, '0')}`, '22:31'));
      ids.push(...(await Promise.all(pending)));
    }
    await house.idle();
    await house.moveClock(tenant, fromNewYork('2083-05-24', '09:00'));
    const payments = await Promise.all(ids.map((id) => house.get(tenant, id)));
    expect(new Set(payments.map((payment) => payment.status))).toEqual(new Set(['completed']));
    expect((await house.check(tenant)).ok).toBe(true);
  });

  test('moved before the payment is handed to its rail carries it all the same', async () => {
    const tenant = await tenantAt('2083-03-01', '09:00');
    await worker.drain();
    const [advanced, sameDay] = [await house.pay(tenant), await house.pay(tenant, { prefer: 'speed' })];
    await house.setClock(tenant, fromNewYork('2083-03-05', '12:00'));
    worker = await house.startWorking();
    await house.idle();
    expect(await history(tenant, advanced)).toBe('pending > processing > completed');
    const { attempts } = await house.get(tenant, advanced);
    expect(attempts[0]).toMatchObject({
      submitted_at: fromNewYork('2083-03-01', '22:30').toISOString(),
      settled_at: fromNewYork('2083-03-03', '08:30').toISOString(),
    });
    expect(await history(tenant, sameDay)).toBe('pending > processing > completed');
    expect((await house.get(tenant, sameDay)).attempts[0]?.submitted_at).toBe(
      fromNewYork('2083-03-01', '10:15').toISOString(),
    );
  });

  test('gone past days whose files have left takes a late one along, under a name of its own', async () => {
    const tenant = await tenantAt('2083-02-26', '09:00');
    await payOnce(tenant, { prefer: 'speed' });
    await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
    const early = await payOnce(tenant, { prefer: 'speed' });
    await payOnce(tenant);
    await worker.drain();
    const late = [await house.pay(tenant), await house.pay(tenant, { prefer: 'speed' })];
    await house.database.query(
      `update jobs set ready_at = now() + interval '1 hour' where name = 'payments.submit'`,
    );
    worker = await house.startWorking();
    await house.moveClock(tenant, fromNewYork('2083-03-02', '12:00'));
    await payOnce(tenant, { prefer: 'speed' });
    await house.moveClock(tenant, fromNewYork('2083-03-02', '14:30'));
    const names = async () => {
      const { rows } = await house.database.query<{ name: string }>(
        'select name from ach_files where scope = $1 order by as_of, id',
        [tenant.id],
      );
      return rows.map(({ name }) => name.replace('ach-110000000-', ''));
    };
    const before = ['20830226-A.ach', '20830226-B.ach'];
    const monday = ['20830301-A.ach', '20830301-B.ach', '20830301-C.ach'];
    expect(await names()).toEqual([...before, ...monday, '20830302-A.ach']);
    await house.database.query(`update jobs set ready_at = now() where name = 'payments.submit'`);
    await house.moveClock(tenant, fromNewYork('2083-03-05', '12:00'));
    for (const id of [early, ...late])
      expect(await history(tenant, id)).toBe('pending > processing > completed');
    const all = await names();
    const days = Map.groupBy(all, (name) => name.slice(0, 8));
    expect(days.get('20830301')).toHaveLength(6);
    for (const ofDay of days.values()) {
      const letters = ofDay.map((name) => name.at(-5)).sort();
      expect(letters.join('')).toBe('ABCDEFGHI'.slice(0, ofDay.length));
    }
    expect((await house.check(tenant)).ok).toBe(true);
  });

  test('set while a payment is under way lets it finish in the time it began in', async () => {
    const tenant = await house.addTenant('org_clock_late');
    const id = await house.pay(tenant);
    await expect.poll(async () => (await house.get(tenant, id)).status, { interval: 5 }).toBe('processing');
    await house.setClock(tenant, fromNewYork('2083-01-01', '12:00'));
    await expect.poll(() => history(tenant, id)).toBe('pending > processing > completed');
    expect((await house.get(tenant, id)).timeline.at(-1)?.timestamp).toBe(
      fromNewYork('2083-01-01', '12:00').toISOString(),
    );
  });
});

test('no error, no alert', () => {
  expect(house.errors).toEqual([]);
  expect(house.alerts).toEqual([]);
});

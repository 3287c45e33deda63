// Nobody is paid with money that can still come back in the ordinary way; what comes back later is owed, and shown.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import { reconcile } from '../../../reconciliation/comparison.ts';
import type { Tenant } from '../../../tenant.ts';
import { achBooks } from '../books/books.ts';
import type { AchLeg } from '../entries/entry.ts';
import { createHouse, type House, historyOf } from './house.ts';
import { legStates, owedBy as owedIn, sendBack as sendBackIn, sendBackTogether } from './sending-back.ts';

const MONDAY = '2083-03-01';
const HOUR_MS = 3_600_000;
const AMOUNT = 10_00;

let house: House;
let organisations = 0;

beforeAll(async () => {
  house = await createHouse({ holdDays: 2 });
  await house.startWorking();
});
afterAll(() => house.close());

async function newTenant(): Promise<Tenant> {
  organisations += 1;
  const tenant = await house.addTenant(`org_good_${organisations}`);
  await house.moveClock(tenant, fromNewYork(MONDAY, '09:00'));
  return tenant;
}

async function pay(tenant: Tenant, input: Parameters<House['pay']>[1] = {}): Promise<string> {
  const id = await house.pay(tenant, { amount: AMOUNT, ...input });
  await house.idle();
  return id;
}

const at = (date: string, time: string) => fromNewYork(date, time);
const statusOf = async (tenant: Tenant, id: string) => historyOf(await house.get(tenant, id));

const entriesOf = (tenant: Tenant, id: string) => legStates(house, tenant, id);
const owedBy = (tenant: Tenant) => owedIn(house, tenant);
const sendBack = (tenant: Tenant, id: string, leg: AchLeg, code: string) =>
  sendBackIn(house, tenant, { id, leg, code });

async function differencesOf(day: string): Promise<(string | null)[][]> {
  const rail = { id: 'ach', books: achBooks } as const;
  const { differences } = await reconcile(house.database, { day, rail, mode: 'test' });
  return differences.map(({ kind, paymentId }) => [kind, paymentId]);
}

describe('a debit is good two banking days after its settlement', () => {
  test('[P-5.11] then the credit leaves, and not before', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant);
    expect((await house.get(tenant, id)).estimatedSettlementAt).toEqual(at('2083-03-05', '08:30'));
    await house.moveClock(tenant, at('2083-03-04', '08:29'));
    expect(await entriesOf(tenant, id)).toEqual({ debit: 'sent' });
    await house.moveClock(tenant, at('2083-03-04', '08:30'));
    expect(await entriesOf(tenant, id)).toEqual({ debit: 'settled', credit: 'queued' });
    await house.moveClock(tenant, at('2083-03-05', '08:30'));
    expect(await statusOf(tenant, id)).toBe('pending > processing > completed');
  });

  test('[P-5.11] then a balance has the money, and not before', async () => {
    const tenant = await newTenant();
    const balance = await house.openBalance(tenant, 1);
    const id = await pay(tenant, { destinationId: balance });
    expect((await house.get(tenant, id)).estimatedSettlementAt).toEqual(at('2083-03-04', '08:30'));
    const available = async () => (await house.methods.get(tenant, balance)).balance?.available;
    await house.moveClock(tenant, at('2083-03-04', '08:29'));
    expect(await available()).toBe(1);
    await house.moveClock(tenant, at('2083-03-04', '08:30'));
    expect(await available()).toBe(1 + AMOUNT);
    expect(await statusOf(tenant, id)).toBe('pending > processing > completed');
  });

  test('[P-5.12] a return on the day after settlement stops the credit: nobody was paid', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant);
    await house.moveClock(tenant, at('2083-03-03', '08:30'));
    expect(await sendBack(tenant, id, 'debit', 'R01')).toBe(true);
    await house.moveClock(tenant, at('2083-03-12', '12:00'));
    expect(await statusOf(tenant, id)).toBe('pending > processing > failed');
    expect(await entriesOf(tenant, id)).toEqual({ debit: 'returned' });
    expect(await owedBy(tenant)).toEqual({});
  });
});

describe('a return after the credit has left', () => {
  test('while it is under way: the payment is made, returned at once, and owed by its source', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant);
    await house.moveClock(tenant, at('2083-03-04', '23:00'));
    expect(await entriesOf(tenant, id)).toEqual({ debit: 'settled', credit: 'sent' });
    expect(await sendBack(tenant, id, 'debit', 'R10')).toBe(true);
    expect((await house.get(tenant, id)).status).toBe('processing');
    await house.moveClock(tenant, at('2083-03-12', '12:00'));
    expect(await statusOf(tenant, id)).toBe('pending > processing > completed > returned');
    expect(await owedBy(tenant)).toEqual({ pm_alice: AMOUNT });
    expect((await house.check(tenant)).ok).toBe(true);
  });

  test('after completion: returned, owed, and in the reconciliation of its day', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant, { sourceId: 'pm_test_ach_late_return_r10' });
    await house.moveClock(tenant, at('2083-03-20', '12:00'));
    const payment = await house.get(tenant, id);
    expect(historyOf(payment)).toBe('pending > processing > completed > returned');
    expect(payment.failure).toMatchObject({ network_code: 'R10' });
    expect(await owedBy(tenant)).toEqual({ pm_test_ach_late_return_r10: AMOUNT });
    expect(await differencesOf(MONDAY)).toContainEqual(['paid_but_debit_returned', id]);
    expect((await house.check(tenant)).ok).toBe(true);
  });

  test('[P-5.12] of a debit that was refunded already: owed once, paid out once, and told by an event', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant, { destinationId: 'pm_test_ach_return_r03' });
    await house.moveClock(tenant, at('2083-03-12', '12:00'));
    expect(await entriesOf(tenant, id)).toEqual({ debit: 'settled', credit: 'returned', refund: 'settled' });
    expect(await sendBack(tenant, id, 'debit', 'R10')).toBe(true);
    expect(await sendBack(tenant, id, 'debit', 'R10')).toBe(false);
    expect(await statusOf(tenant, id)).toBe('pending > processing > failed');
    expect(await owedBy(tenant)).toEqual({ pm_alice: AMOUNT });
    expect(await differencesOf(MONDAY)).toContainEqual(['refunded_but_debit_returned', id]);
    const { rows: events } = await house.database.query<{ type: string; status: string }>(
      `select type, data::json ->> 'status' as status from events where tenant_id = $1 and subject_id = $2 order by id`,
      [tenant.id, id],
    );
    expect(events.map(({ type }) => type)).toEqual([
      ...['payment.pending', 'payment.processing', 'payment.failed', 'payment.owed'],
    ]);
    expect(events.at(-1)?.status).toBe('failed');
    expect((await house.check(tenant)).ok).toBe(true);
  });
});

test.each<[string, AchLeg[]]>([
  ['the debit first', ['debit', 'refund']],
  ['the refund first', ['refund', 'debit']],
])(
  '[P-5.12] a debit and its refund that come back in one file leave nothing owed: %s',
  async (_order, legs) => {
    const tenant = await newTenant();
    const id = await pay(tenant, { destinationId: 'pm_test_ach_return_r03' });
    await house.moveClock(tenant, at('2083-03-12', '12:00'));
    expect(await entriesOf(tenant, id)).toMatchObject({ debit: 'settled', refund: 'settled' });
    await sendBackTogether(house, tenant, { id, legs, code: 'R10' });
    expect(await entriesOf(tenant, id)).toMatchObject({ debit: 'returned', refund: 'returned' });
    expect(Object.values(await owedBy(tenant)).filter((amount) => amount !== 0)).toEqual([]);
    expect((await house.check(tenant)).checks.filter((check) => !check.ok)).toEqual([]);
  },
);

test('[P-5.18] a debit that came back within its hold is presented again, and its hold counts anew', async () => {
  house.context.representmentsWanted = 2;
  try {
    const tenant = await newTenant();
    const id = await pay(tenant);
    // Settled on Tuesday morning, good on Thursday morning; the bank sends it back on Wednesday.
    await house.moveClock(tenant, at('2083-03-03', '12:00'));
    expect(await sendBack(tenant, id, 'debit', 'R01')).toBe(true);
    const again = await house.get(tenant, id);
    expect(historyOf(again)).toBe('pending > processing');
    expect(again.attempts.map(({ status }) => status)).toEqual(['returned', 'waiting']);
    // Wednesday's file, settled on Thursday, good on Monday; the credit takes the night after.
    expect(again.estimatedSettlementAt).toEqual(at('2083-03-09', '08:30'));
    await house.moveClock(tenant, at('2083-03-08', '08:29'));
    expect(await entriesOf(tenant, id)).toEqual({ debit: 'sent' });
    await house.moveClock(tenant, at('2083-03-08', '08:30'));
    expect(await entriesOf(tenant, id)).toEqual({ debit: 'settled', credit: 'queued' });
    await house.moveClock(tenant, at('2083-03-09', '08:30'));
    expect(await statusOf(tenant, id)).toBe('pending > processing > completed');
    expect(await owedBy(tenant)).toEqual({});
    expect((await house.check(tenant)).ok).toBe(true);
  } finally {
    house.context.representmentsWanted = 0;
  }
});

describe('forced outcomes', () => {
  test('a rejection while the credit waits gives the collected money back', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant);
    await house.moveClock(tenant, at('2083-03-04', '12:00'));
    expect(await entriesOf(tenant, id)).toEqual({ debit: 'settled', credit: 'queued' });
    await house.force(tenant, id, 'reject', 'R03');
    expect(await statusOf(tenant, id)).toBe('pending > processing > failed');
    await house.moveClock(tenant, at('2083-03-12', '12:00'));
    expect(await entriesOf(tenant, id)).toEqual({ debit: 'settled', credit: 'canceled', refund: 'settled' });
  });

  test('a return while the credit is under way comes from its bank: failed, and refunded', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant);
    await house.moveClock(tenant, at('2083-03-04', '23:00'));
    await house.force(tenant, id, 'return', 'R23');
    expect(await statusOf(tenant, id)).toBe('pending > processing > failed');
    await house.moveClock(tenant, at('2083-03-16', '12:00'));
    expect(await entriesOf(tenant, id)).toEqual({ debit: 'settled', credit: 'returned', refund: 'settled' });
  });

  const settledMoments: [string, [string, string] | null][] = [
    ['before anything left', null],
    ['while the debit is under way', [MONDAY, '23:00']],
    ['while the credit waits', ['2083-03-04', '12:00']],
    ['while the credit is under way', ['2083-03-04', '23:00']],
  ];

  test.each(settledMoments)(
    '[P-5.12] what was settled %s, and is returned, is owed by its source',
    async (_name, moment) => {
      const tenant = await newTenant();
      const id = await pay(tenant);
      if (moment) await house.moveClock(tenant, at(...moment));
      await house.force(tenant, id, 'settle', null);
      await house.force(tenant, id, 'return', 'R10');
      expect(await statusOf(tenant, id)).toBe('pending > processing > completed > returned');
      expect(await owedBy(tenant)).toEqual({ pm_alice: AMOUNT });
      await house.moveClock(tenant, at('2083-03-16', '12:00'));
      expect(await owedBy(tenant)).toEqual({ pm_alice: AMOUNT });
      expect((await house.check(tenant)).ok).toBe(true);
    },
  );

  test.each(settledMoments)(
    '[P-5.12] what was settled %s, and is returned days later, is owed as well',
    async (_name, moment) => {
      const tenant = await newTenant();
      const id = await pay(tenant);
      if (moment) await house.moveClock(tenant, at(...moment));
      await house.force(tenant, id, 'settle', null);
      await house.moveClock(tenant, at('2083-03-12', '12:00'));
      await house.force(tenant, id, 'return', 'R10');
      expect(await statusOf(tenant, id)).toBe('pending > processing > completed > returned');
      expect(await owedBy(tenant)).toEqual({ pm_alice: AMOUNT });
      expect((await house.check(tenant)).ok).toBe(true);
    },
  );

  test('a return of what is paid comes from the bank of the source: its books and ours agree, and it is owed', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant);
    await house.moveClock(tenant, at('2083-03-12', '12:00'));
    await house.force(tenant, id, 'return', 'R10');
    expect(await statusOf(tenant, id)).toBe('pending > processing > completed > returned');
    expect(await entriesOf(tenant, id)).toEqual({ debit: 'returned', credit: 'settled' });
    expect(await owedBy(tenant)).toEqual({ pm_alice: AMOUNT });
    const kinds = (await house.messages.list(tenant, id)).map(({ kind }) => kind);
    expect(kinds).toEqual(['return', 'nacha', 'nacha']);
  });

  test('a return of what was completed by order takes back the debit that is under way', async () => {
    const tenant = await newTenant();
    const [debited, credited] = [await pay(tenant), await pay(tenant)];
    await house.moveClock(tenant, at('2083-03-01', '23:00'));
    await house.force(tenant, debited, 'settle', null);
    await house.force(tenant, debited, 'return', 'R10');
    expect(await entriesOf(tenant, debited)).toEqual({ debit: 'returned' });
    await house.moveClock(tenant, at('2083-03-04', '23:00'));
    await house.force(tenant, credited, 'settle', null);
    await house.force(tenant, credited, 'return', 'R10');
    expect(await entriesOf(tenant, credited)).toEqual({ debit: 'returned', credit: 'sent' });
    for (const id of [debited, credited])
      expect(await statusOf(tenant, id)).toBe('pending > processing > completed > returned');
  });

  test('are stamped with the time of the organisation', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant);
    await house.moveClock(tenant, at('2083-03-02', '12:00'));
    await house.force(tenant, id, 'settle', null);
    const { attempts, timeline } = await house.get(tenant, id);
    const now = at('2083-03-02', '12:00').toISOString();
    expect([attempts.at(-1)?.settled_at, timeline.at(-1)?.timestamp]).toEqual([now, now]);
    await house.force(tenant, id, 'notify_of_change', 'C01');
    expect((await house.methods.get(tenant, 'pm_alice')).method.updatedAt.toISOString()).toBe(now);
  });
});

test('[P-5.17] a return after its deadline is applied, and flagged', async () => {
  const tenant = await newTenant();
  const [late, inTime] = [await pay(tenant), await pay(tenant)];
  await house.moveClock(tenant, at('2083-03-04', '12:00'));
  await sendBack(tenant, late, 'debit', 'R01');
  await sendBack(tenant, inTime, 'debit', 'R10');
  const { rows } = await house.database.query(
    'select payment_id, code, untimely from ach_replies where tenant_id = $1 order by code',
    [tenant.id],
  );
  expect(rows).toEqual([
    { payment_id: late, code: 'R01', untimely: true },
    { payment_id: inTime, code: 'R10', untimely: false },
  ]);
  const message = 'a return came after its deadline and may be dishonored';
  const told = house.warnings.filter((warning) => warning.message === message);
  // Whoever uses the sandbox can order one, which needs no person: it is no alert.
  expect(told.map(({ fields }) => fields)).toEqual([{ rail: 'ach', paymentId: late, code: 'R01' }]);
});

test('[P-5.12] whenever entries come back, what is paid out is good or owed, and failed means that nobody was paid', async () => {
  const event = fc.record({
    hours: fc.integer({ min: 1, max: 240 }),
    leg: fc.constantFrom<AchLeg>('debit', 'debit', 'credit', 'refund'),
    code: fc.constantFrom('R01', 'R03', 'R10', 'R23', 'R99'),
  });
  const scenario = fc.record({
    events: fc.array(event, { minLength: 1, maxLength: 3 }),
    toBalance: fc.boolean(),
    sameDay: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ events, toBalance, sameDay }) => {
      const tenant = await newTenant();
      const balance = toBalance ? await house.openBalance(tenant, 1) : null;
      const id = await pay(tenant, {
        ...(balance ? { destinationId: balance } : {}),
        prefer: sameDay ? 'speed' : 'cost',
      });
      let now = at(MONDAY, '09:00');
      for (const { hours, leg, code } of events) {
        now = new Date(now.getTime() + hours * HOUR_MS);
        await house.moveClock(tenant, now);
        await sendBack(tenant, id, leg, code === 'R99' ? 'R31' : code);
      }
      await house.moveClock(tenant, new Date(now.getTime() + 20 * 24 * HOUR_MS));
      await expectNoLoss(tenant, id);
    }),
    { numRuns: 25 },
  );
}, 240_000);

async function expectNoLoss(tenant: Tenant, id: string): Promise<void> {
  const { rows } = await house.database.query<{ collected: number; paid: number }>(
    `select coalesce(sum(amount) filter (where direction = 'debit'), 0)::bigint as collected,
       coalesce(sum(amount) filter (where direction = 'credit'), 0)::bigint as paid
     from sandbox_ach_entries where mailbox = $1 and returned_at is null`,
    [tenant.id],
  );
  const { collected = 0, paid = 0 } = rows[0] ?? {};
  const owed = Object.values(await owedBy(tenant)).reduce((sum, amount) => sum + amount, 0);
  expect(paid).toBeLessThanOrEqual(collected + owed);
  const { status } = await house.get(tenant, id);
  if (status === 'failed') {
    const entries = await entriesOf(tenant, id);
    expect(['returned', 'canceled', 'refused', undefined]).toContain(entries.credit);
  }
  expect((await house.check(tenant)).checks.filter((check) => !check.ok)).toEqual([]);
}

// The sandbox is told that a payment settles while its entries are under way: what the network does afterwards is paid or owed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays, fromNewYork } from '../../../clock/new-york.ts';
import type { Tenant } from '../../../tenant.ts';
import { achPaymentDifferences } from '../books/books-store.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import { createHouse, type House, historyOf } from './house.ts';
import { legStates, owedBy, paidOut, sendBack } from './sending-back.ts';

const AMOUNT = 10_00;
const COMPLETED = 'pending > processing > completed';
const RETURNED = `${COMPLETED} > returned`;

let house: House;
let organisations = 0;

beforeAll(async () => {
  house = await createHouse({ holdDays: 2 });
  await house.startWorking();
});
afterAll(() => house.close());

const at = (day: string, time: string) => fromNewYork(`2083-03-${day}`, time);

async function newTenant(): Promise<Tenant> {
  organisations += 1;
  const tenant = await house.addTenant(`org_order_${organisations}`);
  await house.moveClock(tenant, at('01', '09:00'));
  return tenant;
}

async function pay(tenant: Tenant, input: Parameters<House['pay']>[1] = {}): Promise<string> {
  const id = await house.pay(tenant, { amount: AMOUNT, ...input });
  await house.idle();
  return id;
}

/** A payment whose debit is good and whose credit is at the bank. */
async function payOut(): Promise<{ tenant: Tenant; id: string }> {
  const tenant = await newTenant();
  const id = await pay(tenant);
  await house.moveClock(tenant, at('04', '23:00'));
  expect(await legStates(house, tenant, id)).toEqual({ debit: 'settled', credit: 'sent' });
  return { tenant, id };
}

/** How the payment ended, what is owed, and what the network has paid out. */
async function endOf(tenant: Tenant, id: string) {
  await house.moveClock(tenant, at('26', '12:00'));
  expect((await house.check(tenant)).checks.filter((check) => !check.ok)).toEqual([]);
  const { pm_alice: owed = 0 } = await owedBy(house, tenant);
  return [historyOf(await house.get(tenant, id)), { owed, paid: await paidOut(house, tenant) }];
}

describe('[P-5.12] completed by order while its credit is under way', () => {
  test('and then its debit comes back: owed, because the credit is paid', async () => {
    const { tenant, id } = await payOut();
    await house.force(tenant, id, 'settle', null);
    expect(await sendBack(house, tenant, { id, leg: 'debit', code: 'R10' })).toBe(true);
    expect(await endOf(tenant, id)).toEqual([RETURNED, { owed: AMOUNT, paid: AMOUNT }]);
    // Not `overruled`: the reconciliation shall say that it was paid.
    expect(await legStates(house, tenant, id)).toEqual({ debit: 'returned', credit: 'settled' });
  });

  test('and then both come back: owed, and given back', async () => {
    const { tenant, id } = await payOut();
    await house.force(tenant, id, 'settle', null);
    await sendBack(house, tenant, { id, leg: 'debit', code: 'R10' });
    await sendBack(house, tenant, { id, leg: 'credit', code: 'R03' });
    expect(await endOf(tenant, id)).toEqual([RETURNED, { owed: 0, paid: 0 }]);
  });

  test('and then its debit comes back, and the bank rejects the file of the credit: nothing is owed', async () => {
    const { tenant, id } = await payOut();
    await house.force(tenant, id, 'settle', null);
    await sendBack(house, tenant, { id, leg: 'debit', code: 'R10' });
    const entries = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
    const fileId = entries.find(({ leg }) => leg === 'credit')?.sentAs?.fileId ?? '';
    await house.rejectFile(fileId, { reason: 'a test', resend: true });
    expect(await endOf(tenant, id)).toEqual([RETURNED, { owed: 0, paid: 0 }]);
  });

  test('after its debit had come back: owed when the credit settles', async () => {
    const { tenant, id } = await payOut();
    await sendBack(house, tenant, { id, leg: 'debit', code: 'R10' });
    await house.force(tenant, id, 'settle', null);
    expect(historyOf(await house.get(tenant, id))).toBe(COMPLETED);
    expect(await endOf(tenant, id)).toEqual([RETURNED, { owed: AMOUNT, paid: AMOUNT }]);
  });

  test('and then its credit comes back and is refunded, and then its debit: what was refunded is owed', async () => {
    const { tenant, id } = await payOut();
    await house.force(tenant, id, 'settle', null);
    await sendBack(house, tenant, { id, leg: 'credit', code: 'R03' });
    await house.moveClock(tenant, at('12', '12:00'));
    expect(await legStates(house, tenant, id)).toMatchObject({ refund: 'settled' });
    await sendBack(house, tenant, { id, leg: 'debit', code: 'R10' });
    expect(await endOf(tenant, id)).toEqual([RETURNED, { owed: AMOUNT, paid: AMOUNT }]);
  });
});

describe('[P-6.6] completed by order, the books say so and not that money is missing', () => {
  const DAYS_AFTER = 25;
  /** The kinds of the differences that the books of any day have of the payment. */
  async function kindsOf(tenant: Tenant, id: string): Promise<string[]> {
    await endOf(tenant, id);
    const days = Array.from({ length: DAYS_AFTER }, (_, after) => addDays('2083-03-01', after));
    const found = await Promise.all(
      days.map((day) => {
        const query = {
          mode: 'test',
          day,
          from: fromNewYork(day, '00:00'),
          to: fromNewYork(addDays(day, 1), '00:00'),
        } as const;
        return achPaymentDifferences(house.database, query, 100);
      }),
    );
    const own = found.flatMap(({ differences }) => differences).filter(({ paymentId }) => paymentId === id);
    return [...new Set(own.map(({ kind }) => kind))];
  }

  test.each([
    ['a debit to an account, that comes back', {}, 'debit'],
    ['a debit to a balance, that comes back', { destination: true }, 'debit'],
    ['a credit from a balance, that comes back', { source: true }, 'credit'],
  ] as const)('%s', async (_, balances, leg) => {
    const tenant = await newTenant();
    const balance = await house.openBalance(tenant, AMOUNT);
    const id = await pay(tenant, {
      ...('source' in balances && { sourceId: balance }),
      ...('destination' in balances && { destinationId: balance }),
    });
    await house.moveClock(tenant, at('01', '23:00'));
    await house.force(tenant, id, 'settle', null);
    expect(await sendBack(house, tenant, { id, leg, code: 'R03' })).toBe(true);
    expect(await legStates(house, tenant, id)).toEqual({ [leg]: 'returned' });
    expect(await kindsOf(tenant, id)).toEqual(['ended_by_order']);
  });

  test('a credit that waited for its debit never left', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant);
    await house.moveClock(tenant, at('04', '12:00'));
    expect(await legStates(house, tenant, id)).toEqual({ debit: 'settled', credit: 'queued' });
    await house.force(tenant, id, 'settle', null);
    expect(await kindsOf(tenant, id)).toEqual(['ended_by_order']);
    expect(await legStates(house, tenant, id)).toEqual({ debit: 'settled', credit: 'canceled' });
  });

  test('a credit that came back was refunded', async () => {
    const { tenant, id } = await payOut();
    await house.force(tenant, id, 'settle', null);
    await sendBack(house, tenant, { id, leg: 'credit', code: 'R03' });
    expect(await kindsOf(tenant, id)).toEqual(['ended_by_order']);
  });
});

describe('completed by order, from or to a balance', () => {
  const postedOf = async (tenant: Tenant, id: string) =>
    (await house.methods.get(tenant, id)).balance?.posted;

  test.each(['01', '10'])('and returned by order on March %s: the entry comes back as well', async (day) => {
    const tenant = await newTenant();
    const balance = await house.openBalance(tenant, AMOUNT);
    const id = await pay(tenant, { sourceId: balance });
    await house.moveClock(tenant, at('01', '23:00'));
    await house.force(tenant, id, 'settle', null);
    await house.moveClock(tenant, at(day, '23:30'));
    await house.force(tenant, id, 'return', 'R03');
    expect(await endOf(tenant, id)).toEqual([RETURNED, { owed: 0, paid: 0 }]);
    expect(await postedOf(tenant, balance)).toBe(AMOUNT);
  });

  test('a debit that settled and comes back late takes the money back', async () => {
    const tenant = await newTenant();
    const balance = await house.openBalance(tenant, AMOUNT);
    const id = await pay(tenant, { destinationId: balance });
    await house.moveClock(tenant, at('01', '23:00'));
    await house.force(tenant, id, 'settle', null);
    await house.moveClock(tenant, at('10', '12:00'));
    expect(await sendBack(house, tenant, { id, leg: 'debit', code: 'R10' })).toBe(true);
    expect(await endOf(tenant, id)).toEqual([RETURNED, { owed: 0, paid: 0 }]);
    expect(await postedOf(tenant, balance)).toBe(AMOUNT);
  });
});

// The figures against what the payments themselves say, where events come between two looks or move no payment.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromNewYork } from '../clock/new-york.ts';
import { createHouse, type House } from '../rails/ach/test/house.ts';
import { owedBy, sendBack } from '../rails/ach/test/sending-back.ts';
import type { Tenant } from '../tenant.ts';
import {
  countAll,
  countNext,
  findBehind,
  lockOverviewPlace,
  readFigures,
  removeFigures,
  sumOwed,
} from './store.ts';

const EVER = { from: new Date(0), to: new Date('2100-01-01T00:00:00Z') };

let house: House;
let organisations = 0;

beforeAll(async () => {
  house = await createHouse({ holdDays: 2 });
  await house.startWorking();
});
afterAll(() => house.close());

async function newTenant(): Promise<Tenant> {
  organisations += 1;
  const tenant = await house.addTenant(`org_figures_${organisations}`);
  await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
  return tenant;
}

/** No number of a transaction is so large: all have ended, whatever other databases of the server are about. */
const until = { xid: '1000000000000' };

/** Counts everything, in bites of two events. */
async function catchUp({ id }: Tenant): Promise<void> {
  let counted = 0;
  do {
    counted = await house.database.transaction(async (tx) => {
      const place = await lockOverviewPlace(tx, id);
      return place ? countNext(tx, id, { place, limit: 2, until }) : 0;
    });
  } while (counted > 0);
}

async function figures({ id }: Tenant): Promise<[string, number, number][]> {
  const rows = await readFigures(house.database, id, EVER);
  return rows.map(({ status, payments, amount }) => [status, payments, amount]);
}

/** Counts what is there before that number. */
async function begin({ id }: Tenant, xid: string): Promise<void> {
  await house.database.transaction((tx) => countAll(tx, id, { xid }));
}

test('what a transaction did that was open when the counting began is counted once', async () => {
  const tenant = await newTenant();
  const id = await house.pay(tenant);
  await house.pay(tenant);
  await house.idle();
  const xid = await house.database.transaction(async (tx) => {
    await house.payments.cancel(tx, tenant, id);
    const { rows } = await tx.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
    return rows[0]?.xid ?? '';
  });
  // As it is where the horizon was asked for while that transaction was open.
  await begin(tenant, xid);
  expect(await figures(tenant)).toEqual([['pending', 2, 20_00]]);
  await expect.poll(() => findBehind(house.database, 100)).toContain(tenant.id);
  await catchUp(tenant);
  expect(await figures(tenant)).toEqual([
    ['canceled', 1, 10_00],
    ['pending', 1, 10_00],
  ]);
  expect(await findBehind(house.database, 100)).not.toContain(tenant.id);
});

test('that a payment is owed moves it nowhere; what is owed counts until it is repaid', async () => {
  const tenant = await newTenant();
  await begin(tenant, '0');
  const id = await house.pay(tenant, { destinationId: 'pm_test_ach_return_r03' });
  await house.idle();
  await house.moveClock(tenant, fromNewYork('2083-03-12', '12:00'));
  expect(await sendBack(house, tenant, { id, leg: 'debit', code: 'R10' })).toBe(true);
  expect(await owedBy(house, tenant)).toEqual({ pm_alice: 10_00 });
  await catchUp(tenant);
  expect(await figures(tenant)).toEqual([['failed', 1, 10_00]]);
  expect(await sumOwed(house.database, tenant.id)).toBe(10_00);
  expect(await sendBack(house, tenant, { id, leg: 'refund', code: 'R02' })).toBe(true);
  expect(await sumOwed(house.database, tenant.id)).toBe(0);
});

test('what a balance owes counts, too', async () => {
  const tenant = await newTenant();
  const balance = await house.openBalance(tenant, 1);
  const id = await house.pay(tenant, { destinationId: balance });
  await house.idle();
  await house.moveClock(tenant, fromNewYork('2083-03-04', '12:00'));
  await house.pay(tenant, { sourceId: balance, amount: 10_00 });
  await house.idle();
  expect(await sumOwed(house.database, tenant.id)).toBe(0);
  await sendBack(house, tenant, { id, leg: 'debit', code: 'R10' });
  expect(await sumOwed(house.database, tenant.id)).toBe(9_99);
});

test('figures go by their hour, and no younger ones with them', async () => {
  const tenant = await newTenant();
  await begin(tenant, '0');
  await house.pay(tenant);
  await house.idle();
  await catchUp(tenant);
  const hour = fromNewYork('2083-03-01', '09:00');
  const sweep = async (before: Date) => {
    while ((await removeFigures(house.database, before, 1)) > 0);
  };
  await sweep(hour);
  expect(await figures(tenant)).toHaveLength(1);
  await sweep(new Date(hour.getTime() + 1));
  expect(await figures(tenant)).toEqual([]);
});

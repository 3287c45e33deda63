// What was put aside is applied by the operator to a payment, where it can mean one of its entries.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import type { Tenant } from '../../../tenant.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import { applyTo, sendBackGarbled, sendBackSpoiled } from './asides.ts';
import { createHouse, type House, historyOf } from './house.ts';
import { legStates, owedBy, paidOut, sendBack } from './sending-back.ts';

let house: House;
let organisations = 0;

beforeAll(async () => {
  house = await createHouse({ representments: 2 });
  await house.startWorking();
});
afterAll(() => house.close());

async function newTenant(): Promise<Tenant> {
  organisations += 1;
  const tenant = await house.addTenant(`org_aside_${organisations}`);
  await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
  return tenant;
}

/** A payment whose debit came back for want of money and is at the bank once more, with the return. */
async function presentedAgain(): Promise<{ tenant: Tenant; id: string; returned: string }> {
  const tenant = await newTenant();
  const id = await house.pay(tenant, { sourceId: 'pm_test_ach_return_once_r01' });
  await house.idle();
  await house.moveClock(tenant, fromNewYork('2083-03-02', '23:00'));
  const { attempts } = await house.get(tenant, id);
  expect(attempts.map(({ status }) => status)).toEqual(['returned', 'submitted']);
  const messages = await house.messages.list(tenant, id);
  // The lines of the entry alone, as they are put aside.
  const lines = messages.find(({ kind }) => kind === 'return')?.content.split('\n') ?? [];
  return { tenant, id, returned: lines.filter((line) => /^[567]/.test(line)).join('\n') };
}

const apply = (tenant: Tenant, id: string, content: string) => applyTo(house, tenant, { id, content });

test('[P-5.15] a second return of an entry that came back does not mean the presentment that followed', async () => {
  const { tenant, id, returned } = await presentedAgain();
  expect(await apply(tenant, id, returned)).toMatchObject({ ok: false });
  await house.moveClock(tenant, fromNewYork('2083-03-10', '12:00'));
  expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed');
});

test('[P-5.15] what names no trace of the payment means the latest entry that can come back', async () => {
  const { tenant, id, returned } = await presentedAgain();
  const stray = returned.replace(/^799R01\d{15}/m, '799R02110000007777777');
  expect(stray).not.toBe(returned);
  expect(await apply(tenant, id, stray)).toEqual({ ok: true });
  const { status, attempts } = await house.get(tenant, id);
  expect([status, attempts.map(({ code }) => code)]).toEqual(['failed', ['R01', 'R02']]);
});

test('[P-5.15] what banks send each other about returns is no answer to an entry', async () => {
  const { tenant, id, returned } = await presentedAgain();
  const between = returned.replace(/^799R01\d{15}/m, '799R61110000007777777');
  expect(await apply(tenant, id, between)).toEqual({
    ok: false,
    reason: 'R61 answers nothing that we sent.',
  });
  expect((await house.get(tenant, id)).status).toBe('processing');
});

test.each([
  ['is lost', (text: string) => text.replace(/^6.*\n/m, '')],
  ['is spoiled', (text: string) => text.replace(/^6/m, ' ')],
  ['has no amount', (text: string) => text.replace(/^(6.{28}).{10}/m, (_line, before) => before.padEnd(39))],
])(
  '[P-5.15] a return whose entry line %s means the entry with its trace, and no other',
  async (_what, spoil) => {
    const tenant = await newTenant();
    const [id, other] = [await house.pay(tenant), await house.pay(tenant)];
    await house.idle();
    await house.moveClock(tenant, fromNewYork('2083-03-01', '23:00'));
    const [entry] = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
    if (!entry) throw new Error('it has left');
    const aside = await sendBackSpoiled(house, tenant, { entry, code: 'R02' }, spoil);
    expect(await apply(tenant, other, aside)).toMatchObject({ ok: false });
    expect(await apply(tenant, id, aside)).toEqual({ ok: true });
    expect(await apply(tenant, id, aside)).toMatchObject({ ok: false });
    const { status, attempts } = await house.get(tenant, id);
    expect([status, attempts.map(({ code }) => code)]).toEqual(['failed', ['R02']]);
    const messages = await house.messages.list(tenant, id);
    expect(messages.find(({ kind }) => kind === 'return')?.content).toContain(`799R02${entry.sentAs?.trace}`);
    await house.moveClock(tenant, fromNewYork('2083-03-10', '12:00'));
    expect((await house.get(tenant, other)).status).toBe('completed');
    expect(await paidOut(house, tenant)).toBe(10_00);
  },
);

test('[P-5.15] what follows from it happens at its time, also where nobody else wakes the rail', async () => {
  const tenant = await house.addTenant('org_aside_without_clock');
  const id = await house.pay(tenant);
  await expect.poll(() => legStates(house, tenant, id)).toEqual({ debit: 'settled', credit: 'settled' });
  await house.idle();
  const entries = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
  const entry = entries.find(({ leg }) => leg === 'credit');
  const content = entry && (await sendBackGarbled(house, tenant, { entry, code: 'R03' }));
  expect(await apply(tenant, id, content ?? '')).toEqual({ ok: true });
  await expect.poll(() => legStates(house, tenant, id)).toMatchObject({ refund: 'settled' });
});

describe('[P-5.12] [P-5.15] a return by order of what came back already, while that lies aside', () => {
  /** A payment that is completed, and whose debit came back unseen. */
  async function completed(): Promise<{ tenant: Tenant; id: string; aside: string }> {
    const tenant = await newTenant();
    const id = await house.pay(tenant);
    await house.idle();
    await house.moveClock(tenant, fromNewYork('2083-03-05', '12:00'));
    const entries = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
    const debit = entries.find(({ leg }) => leg === 'debit');
    const aside = debit && (await sendBackGarbled(house, tenant, { entry: debit, code: 'R10' }));
    await house.force(tenant, id, 'return', 'R03');
    return { tenant, id, aside: aside ?? '' };
  }

  /** What is owed and what the network has paid out, long after the return of the debit was applied. */
  async function endOf({ tenant, id, aside }: { tenant: Tenant; id: string; aside: string }) {
    expect(await apply(tenant, id, aside)).toEqual({ ok: true });
    await house.moveClock(tenant, fromNewYork('2083-03-26', '12:00'));
    expect((await house.check(tenant)).checks.filter((check) => !check.ok)).toEqual([]);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed > returned');
    const { pm_alice: owed = 0 } = await owedBy(house, tenant);
    return { owed, paid: await paidOut(house, tenant) };
  }

  test('what was paid is owed once it is applied', async () => {
    const returned = await completed();
    expect(await endOf(returned)).toEqual({ owed: 10_00, paid: 10_00 });
  });

  test('nothing is owed where the credit comes back first', async () => {
    const returned = await completed();
    await sendBack(house, returned.tenant, { id: returned.id, leg: 'credit', code: 'R03' });
    expect(await endOf(returned)).toEqual({ owed: 0, paid: 0 });
  });

  test('what was refunded meanwhile is owed', async () => {
    const returned = await completed();
    await sendBack(house, returned.tenant, { id: returned.id, leg: 'credit', code: 'R03' });
    await house.moveClock(returned.tenant, fromNewYork('2083-03-12', '12:00'));
    expect(await legStates(house, returned.tenant, returned.id)).toMatchObject({ refund: 'settled' });
    expect(await endOf(returned)).toEqual({ owed: 10_00, paid: 10_00 });
  });
});

// What was put aside is applied by the operator to a payment, where it can mean one of its entries.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import type { Tenant } from '../../../tenant.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import { applyTo, sendBackGarbled } from './asides.ts';
import { createHouse, type House, historyOf } from './house.ts';
import { legStates } from './sending-back.ts';

let house: House;
let organisations = 0;

beforeAll(async () => {
  house = await createHouse({ representments: 2 });
  await house.startWorking();
});
afterAll(() => house.close());

/** A payment whose debit came back for want of money and is at the bank once more, with the return. */
async function presentedAgain(): Promise<{ tenant: Tenant; id: string; returned: string }> {
  organisations += 1;
  const tenant = await house.addTenant(`org_aside_${organisations}`);
  await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
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

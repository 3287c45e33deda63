// Whatever a sandbox clock shows, the network answers an entry after it came, and what follows happens in the time of its files.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Tenant } from '../../../tenant.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import { findFiles } from '../outgoing/files-store.ts';
import { fileDue } from '../outgoing/filing.ts';
import { settleDue } from '../work/settling.ts';
import { createHouse, type House, historyOf } from './house.ts';
import { legStates, paidOut } from './sending-back.ts';

let house: House;
let organisations = 0;

/** What every file waits for on its way to the operator. */
let gate: Promise<void> = Promise.resolve();

beforeAll(async () => {
  house = await createHouse({
    sandboxMs: 2_000,
    representments: 2,
    wrap: (transport) => ({
      ...transport,
      async send(file) {
        await gate;
        return transport.send(file);
      },
    }),
  });
  await house.startWorking();
});
afterAll(() => house.close());

async function newTenant(): Promise<Tenant> {
  organisations += 1;
  return house.addTenant(`org_hours_${organisations}`);
}

const sent = (tenant: Tenant, id: string, leg = 'debit') =>
  expect
    .poll(async () => (await legStates(house, tenant, id))[leg], { timeout: 15_000, interval: 5 })
    .toBe('sent');

/** Which way the messages of a payment went, in the order of their hours. */
async function messagesInOrder(tenant: Tenant, id: string): Promise<string[]> {
  const list = await house.messages.list(tenant, id);
  // What is of one hour stays in the order in which it came.
  return list
    .toReversed()
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
    .map(({ direction, kind }) => `${direction} ${kind}`);
}

async function filesOf(tenant: Tenant, id: string): Promise<string[]> {
  const entries = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
  return entries.flatMap(({ sentAs }) => sentAs?.fileId ?? []);
}

/** A payment whose file left in real time, later than the clock shows that was stopped meanwhile. */
async function afterTheClockStopped(): Promise<{ tenant: Tenant; id: string }> {
  const tenant = await newTenant();
  const id = await house.pay(tenant);
  const { createdAt } = await house.get(tenant, id);
  await sent(tenant, id);
  await house.setClock(tenant, createdAt);
  return { tenant, id };
}

/** A payment by the calendar that is hurried ahead of a clock that was set free. */
async function aheadOfTheClock(): Promise<{ tenant: Tenant; id: string }> {
  const tenant = await newTenant();
  await house.moveClock(tenant, new Date());
  const id = await house.pay(tenant);
  await house.idle();
  await house.sandbox.releaseClock(tenant);
  await sent(tenant, id);
  return { tenant, id };
}

const ways = [
  ['whose file left after the clock was stopped', afterTheClockStopped],
  ['whose file left ahead of a clock that was set free', aheadOfTheClock],
] as const;
const orders = [
  ['return', 'R03', 'in return'],
  ['reject', null, 'in return'],
  ['notify_of_change', 'C01', 'in noc'],
] as const;
const cases = ways.flatMap(([way, begin]) => orders.map((order) => [way, ...order, begin] as const));

test.each(cases)(
  '[P-7.2] an entry %s is answered after it came, also by order: %s',
  async (_way, outcome, code, answer, begin) => {
    const { tenant, id } = await begin();
    await house.force(tenant, id, outcome, code);
    expect(await messagesInOrder(tenant, id)).toEqual(['out nacha', answer]);
  },
);

test('[P-5.16] what was hurried ahead of the clock and is rejected leaves again after that, by the next window', async () => {
  const { tenant, id } = await aheadOfTheClock();
  const [entry] = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
  const fileId = entry?.sentAs?.fileId ?? '';
  // The entry counts as sent a moment before the file is handed over.
  await expect.poll(() => house.rejectFile(fileId, { reason: 'a test', resend: true })).toEqual({ ok: true });
  const [again] = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
  const [file] = await findFiles(house.database, [fileId]);
  expect(again?.dueAt.getTime()).toBeGreaterThan(file?.asOf.getTime() ?? 0);
});

test('[P-7.2] what follows an order leaves in the time of its files, also where a clock has been set far ahead since', async () => {
  const presented = await newTenant();
  const short = await house.pay(presented);
  await sent(presented, short);
  await house.setClock(presented, new Date('2030-03-01T15:00:00.000Z'));
  await house.force(presented, short, 'return', 'R01');
  await expect
    .poll(async () => historyOf(await house.get(presented, short)), { timeout: 15_000 })
    .toBe('pending > processing > completed');

  const refunded = await newTenant();
  const id = await house.pay(refunded);
  await sent(refunded, id, 'credit');
  await house.setClock(refunded, new Date('2030-03-01T15:00:00.000Z'));
  await house.force(refunded, id, 'return', 'R03');
  await expect
    .poll(() => legStates(house, refunded, id), { timeout: 15_000 })
    .toEqual({ debit: 'settled', credit: 'returned', refund: 'settled' });
});

test.each(['return', 'reject'] as const)(
  '[P-7.2] what is ordered while the file is on its way is said by the operator, and nobody keeps the money: %s',
  async (outcome) => {
    const tenant = await newTenant();
    await house.moveClock(tenant, new Date('2031-03-03T15:00:00.000Z'));
    const balance = await house.openBalance(tenant, 50_00);
    const id = await house.pay(tenant, { sourceId: balance });
    await house.idle();
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    await house.setClock(tenant, new Date('2031-03-04T03:30:00.000Z'));
    await sent(tenant, id, 'credit');
    await house.force(tenant, id, outcome, 'R03');
    resolve();
    await house.moveClock(tenant, new Date('2031-03-10T15:00:00.000Z'));
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    expect(await legStates(house, tenant, id)).toEqual({ credit: 'returned' });
    expect(await paidOut(house, tenant)).toBe(0);
    expect(await messagesInOrder(tenant, id)).toEqual(['out nacha', 'in return']);
    expect((await house.check(tenant)).checks.filter((check) => !check.ok)).toEqual([]);
  },
);

test('[P-7.1] a payment from before a clock was stopped shows no time that is later than the clock', async () => {
  const tenant = await newTenant();
  const id = await house.pay(tenant);
  await sent(tenant, id);
  const { createdAt } = await house.get(tenant, id);
  await house.setClock(tenant, createdAt);
  await expect.poll(async () => (await house.get(tenant, id)).status, { timeout: 15_000 }).toBe('completed');
  const { timeline, attempts } = await house.get(tenant, id);
  const shown = Date.parse(timeline.at(-1)?.timestamp ?? '');
  expect(Date.parse(attempts[0]?.settled_at ?? '')).toBeLessThanOrEqual(shown);
});

test('[P-7.1] a clock that is stopped while its entries are hurried keeps what is later than it shows', async () => {
  const { tenant, id } = await aheadOfTheClock();
  await house.moveClock(tenant, (await house.sandbox.readClock(tenant)).now);
  const stopped = await house.pay(tenant);
  await house.idle();
  const far = new Date(Date.now() + 40 * 86_400_000);
  expect(await fileDue(house.context, tenant.id, far)).toBe(0);
  expect(
    await settleDue(house.context, { scope: tenant.id, asOf: far, fileIds: await filesOf(tenant, id) }),
  ).toBe(0);
  expect(await legStates(house, tenant, stopped)).toEqual({ debit: 'queued' });
});

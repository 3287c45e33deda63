// A bank takes nothing of a file after all, and the debit whose money it was to hand on came back meanwhile.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, fromNewYork } from '../../../clock/new-york.ts';
import { reconcile } from '../../../reconciliation/comparison.ts';
import type { Tenant } from '../../../tenant.ts';
import { achBooks } from '../books/books.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import type { AchLeg } from '../entries/entry.ts';
import { readNacha } from '../nacha/read.ts';
import { whileScopeIsBusy } from './busy-scope.ts';
import { createHouse, type House, historyOf } from './house.ts';
import { legStates, owedBy, paidOut, sendBack } from './sending-back.ts';

let house: House;
let organisations = 0;

beforeAll(async () => {
  house = await createHouse({ holdDays: 2 });
  await house.startWorking();
});
afterAll(() => house.close());

interface OfTenant {
  tenant: Tenant;
  id: string;
}

/** A payment whose debit is good and whose credit is at the bank, with a tenant of its own. */
async function payOut(): Promise<OfTenant> {
  organisations += 1;
  const tenant = await house.addTenant(`org_rejected_${organisations}`);
  await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
  const id = await house.pay(tenant);
  await house.idle();
  await house.moveClock(tenant, fromNewYork('2083-03-04', '23:00'));
  expect(await legStates(house, tenant, id)).toEqual({ debit: 'settled', credit: 'sent' });
  return { tenant, id };
}

/** The file that this leg left in. */
async function fileOf({ tenant, id }: OfTenant, leg: AchLeg): Promise<string> {
  const entries = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
  return entries.find((entry) => entry.leg === leg)?.sentAs?.fileId ?? '';
}

async function rejectFileOf(payment: OfTenant, leg: AchLeg, resend: boolean): Promise<void> {
  const fileId = await fileOf(payment, leg);
  expect(await house.rejectFile(fileId, { reason: 'a test', resend })).toEqual({ ok: true });
  await house.idle();
}

async function comeToAnEnd(tenant: Tenant): Promise<void> {
  await house.moveClock(tenant, fromNewYork('2083-03-20', '12:00'));
}

test.each([true, false])(
  '[P-5.12] [P-5.16] a credit whose debit came back does not leave again (resend: %s)',
  async (resend) => {
    const { tenant, id } = await payOut();
    expect(await sendBack(house, tenant, { id, leg: 'debit', code: 'R10' })).toBe(true);
    expect((await house.get(tenant, id)).status).toBe('processing');
    await rejectFileOf({ tenant, id }, 'credit', resend);
    await comeToAnEnd(tenant);
    expect(await legStates(house, tenant, id)).toEqual({ debit: 'returned', credit: 'refused' });
    const payment = await house.get(tenant, id);
    expect(historyOf(payment)).toBe('pending > processing > failed');
    expect(payment.failure).toMatchObject({ network_code: 'R10' });
    expect([await paidOut(house, tenant), await owedBy(house, tenant)]).toEqual([0, {}]);
    expect((await house.check(tenant)).ok).toBe(true);
  },
);

test.each([true, false])(
  '[P-5.12] [P-5.16] a refund whose debit came back does not leave again, and nothing is owed (resend: %s)',
  async (resend) => {
    const { tenant, id } = await payOut();
    expect(await sendBack(house, tenant, { id, leg: 'credit', code: 'R03' })).toBe(true);
    await house.moveClock(tenant, fromNewYork('2083-03-05', '23:00'));
    expect(await legStates(house, tenant, id)).toMatchObject({ debit: 'settled', refund: 'sent' });
    expect(await sendBack(house, tenant, { id, leg: 'debit', code: 'R10' })).toBe(true);
    expect(await owedBy(house, tenant)).toEqual({ pm_alice: 10_00 });
    await rejectFileOf({ tenant, id }, 'refund', resend);
    await comeToAnEnd(tenant);
    const states = { debit: 'returned', credit: 'returned', refund: 'refused' };
    expect(await legStates(house, tenant, id)).toEqual(states);
    expect([await paidOut(house, tenant), await owedBy(house, tenant)]).toEqual([0, { pm_alice: 0 }]);
    expect((await house.check(tenant)).ok).toBe(true);
  },
);

test('[P-5.16] a credit whose debit is good leaves again, and a refused one gives the money back', async () => {
  const [again, failed] = [await payOut(), await payOut()];
  await rejectFileOf(again, 'credit', true);
  await comeToAnEnd(again.tenant);
  expect(await legStates(house, again.tenant, again.id)).toEqual({ debit: 'settled', credit: 'settled' });
  await rejectFileOf(failed, 'credit', false);
  await comeToAnEnd(failed.tenant);
  const states = { debit: 'settled', credit: 'refused', refund: 'settled' };
  expect(await legStates(house, failed.tenant, failed.id)).toEqual(states);
  expect((await house.get(failed.tenant, failed.id)).failure).toMatchObject({ code: 'file_refused' });
});

test('[P-5.16] a debit whose file is rejected days later leaves in the window that comes then', async () => {
  organisations += 1;
  const tenant = await house.addTenant(`org_rejected_${organisations}`);
  await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
  const id = await house.pay(tenant);
  await house.idle();
  await house.moveClock(tenant, fromNewYork('2083-03-03', '12:00'));
  await rejectFileOf({ tenant, id }, 'debit', true);
  const [debit] = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
  expect(debit).toMatchObject({ state: 'queued', dueAt: fromNewYork('2083-03-03', '22:30'), sentAs: null });
  await comeToAnEnd(tenant);
  expect(await legStates(house, tenant, id)).toEqual({ debit: 'settled', credit: 'settled' });
});

test('[P-5.16] a file is rejected while nothing else works on its scope', async () => {
  const { tenant, id } = await payOut();
  const fileId = await fileOf({ tenant, id }, 'credit');
  const rejected = await whileScopeIsBusy(house, tenant.id, () =>
    house.rejectFile(fileId, { reason: 'a test', resend: false }),
  );
  expect(rejected).toEqual({ ok: true });
});

test('[P-5.16] a file whose entry was paid although its payment was ended by order is not rejected', async () => {
  const { tenant, id } = await payOut();
  await house.force(tenant, id, 'settle', null);
  await comeToAnEnd(tenant);
  expect(await legStates(house, tenant, id)).toMatchObject({ credit: 'overruled' });
  const fileId = await fileOf({ tenant, id }, 'credit');
  const result = await house.rejectFile(fileId, { reason: 'a test', resend: false });
  expect(result).toEqual({ ok: false, reason: 'settled' });
});

test.each([true, false])(
  '[P-5.16] [P-6.6] what came back of a file before it was rejected is in both books (resend: %s)',
  async (resend) => {
    organisations += 1;
    const tenant = await house.addTenant(`org_rejected_${organisations}`);
    // A day of its own: books are compared by the day.
    const day = resend ? '2083-05-03' : '2083-05-10';
    await house.moveClock(tenant, fromNewYork(day, '09:00'));
    const id = await house.pay(tenant);
    const returned = await house.pay(tenant, { sourceId: 'pm_test_ach_return_r01' });
    await house.idle();
    await house.moveClock(tenant, fromNewYork(addDays(day, 1), '12:00'));
    expect((await house.get(tenant, returned)).status).toBe('failed');
    await rejectFileOf({ tenant, id }, 'debit', resend);
    expect((await house.get(tenant, id)).status).toBe(resend ? 'processing' : 'failed');
    const rail = { id: 'ach', books: achBooks } as const;
    const report = await reconcile(house.database, { day, rail, mode: 'test' });
    expect([report.differences, report.ours]).toEqual([[], report.network]);
  },
);

/** The files that its owner sees, newest first, by the day on which each takes effect. */
async function filesShown({ tenant, id }: OfTenant): Promise<string[]> {
  const messages = await house.messages.list(tenant, id);
  return messages.map(({ kind, content }) => {
    const read = readNacha(content);
    return `${kind} ${read.ok ? read.file.batches[0]?.header.effectiveDate : 'unreadable'}`;
  });
}

test('[P-5.16] a payment whose file was rejected keeps the message, and says when it settles now', async () => {
  organisations += 1;
  const tenant = await house.addTenant(`org_rejected_${organisations}`);
  await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
  const id = await house.pay(tenant);
  await house.idle();
  await house.moveClock(tenant, fromNewYork('2083-03-01', '23:00'));
  const [first] = await house.messages.list(tenant, id);
  expect((await house.get(tenant, id)).estimatedSettlementAt).toEqual(fromNewYork('2083-03-05', '08:30'));
  await house.moveClock(tenant, fromNewYork('2083-03-03', '12:00'));
  await rejectFileOf({ tenant, id }, 'debit', true);
  // Until it leaves again, no file is under way that a reference could name.
  const waiting = await house.get(tenant, id);
  expect(waiting.attempts).toMatchObject([
    { status: 'waiting', network_reference: null, submitted_at: null },
  ]);
  expect(waiting.estimatedSettlementAt).toEqual(fromNewYork('2083-03-09', '08:30'));
  expect(await house.messages.list(tenant, id)).toEqual([first]);
  await house.moveClock(tenant, fromNewYork('2083-03-03', '23:00'));
  expect(await filesShown({ tenant, id })).toEqual(['nacha 830304', 'nacha 830302']);
  expect((await house.messages.list(tenant, id)).at(-1)).toEqual(first);
  const sentAgain = await house.get(tenant, id);
  const [debit] = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
  expect(sentAgain.attempts).toMatchObject([
    {
      status: 'submitted',
      network_reference: debit?.sentAs?.trace,
      submitted_at: '2083-03-04T03:30:00.000Z',
    },
  ]);
  await comeToAnEnd(tenant);
  const completed = await house.get(tenant, id);
  expect(historyOf(completed)).toBe('pending > processing > completed');
  expect(completed.attempts[0]?.settled_at).toBe(completed.estimatedSettlementAt.toISOString());
});

test('[P-5.16] a credit that leaves again moves the estimate, and the reference of its debit stays', async () => {
  const { tenant, id } = await payOut();
  const before = await house.get(tenant, id);
  expect(before.estimatedSettlementAt).toEqual(fromNewYork('2083-03-05', '08:30'));
  await house.moveClock(tenant, fromNewYork('2083-03-05', '07:00'));
  await rejectFileOf({ tenant, id }, 'credit', true);
  const after = await house.get(tenant, id);
  expect(after.attempts).toEqual(before.attempts);
  expect(after.estimatedSettlementAt).toEqual(fromNewYork('2083-03-08', '08:30'));
  await comeToAnEnd(tenant);
  expect((await filesShown({ tenant, id })).length).toBe(3);
});

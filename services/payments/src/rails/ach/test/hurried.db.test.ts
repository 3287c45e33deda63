// ACH in a sandbox without a clock: real files, a real worker, and a few hundred milliseconds for the whole way.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_ROUTING_NUMBER_WITHOUT_RTP } from '../../../payment-methods/test-accounts.ts';
import type { Tenant } from '../../../tenant.ts';
import type { RailMessages } from '../../messages.ts';
import { readNacha } from '../nacha/read.ts';
import { createHouse, type House, historyOf } from './house.ts';

const SANDBOX_MS = 300;

let house: House;
let tenant: Tenant;
let messages: RailMessages;

beforeAll(async () => {
  house = await createHouse({ sandboxMs: SANDBOX_MS });
  tenant = await house.addTenant('org_hurried');
  messages = house.messages;
  await house.startWorking();
});
afterAll(() => house.close());

const REACH_MS_MAX = 15_000;

/** Tests run side by side here, which `expect.poll` does not support. */
async function reach(id: string, history: string): Promise<void> {
  const end = Date.now() + REACH_MS_MAX;
  while (Date.now() < end && historyOf(await house.get(tenant, id)) !== history)
    await new Promise((done) => setTimeout(done, 10));
  expect(historyOf(await house.get(tenant, id))).toBe(history);
}

function msBetween(from: string | undefined, to: string | undefined): number {
  return Date.parse(to ?? '') - Date.parse(from ?? '');
}

async function stamps(id: string): Promise<string[]> {
  return (await house.get(tenant, id)).timeline.map((entry) => entry.timestamp);
}

describe('ordinary payments', () => {
  test('from outside to outside: a debit, then a credit, within the set time', async () => {
    const id = await house.pay(tenant, { amount: 123_45, description: 'Invoice 7 – Zoë' });
    await reach(id, 'pending > processing > completed');
    const [created, , completed] = await stamps(id);
    expect(msBetween(created, completed)).toBeGreaterThanOrEqual(SANDBOX_MS);
    const list = await messages.list(tenant, id);
    expect(list.map(({ direction, kind }) => [direction, kind])).toEqual([
      ['out', 'nacha'],
      ['out', 'nacha'],
    ]);
    const files = list.map(({ content }) => {
      const read = readNacha(content);
      if (!read.ok) throw new Error(JSON.stringify(read.faults));
      return read.file;
    });
    expect(files.map((file) => file.batches.map(({ header }) => [header.sec, header.serviceClass]))).toEqual([
      [['PPD', '220']],
      [['WEB', '225']],
    ]);
    const debit = files[1]?.batches[0]?.entries[0];
    expect(debit).toMatchObject({
      transactionCode: '27',
      amountCents: 123_45,
      addenda: [{ type: '05', text: 'Invoice 7 - Zoe' }],
    });
    expect((await house.get(tenant, id)).attempts).toMatchObject([
      { status: 'settled', network_reference: debit?.trace },
    ]);
  });

  test('from a balance: only a credit; to a balance: only a debit', async () => {
    const balance = await house.openBalance(tenant, 50_00);
    const out = await house.pay(tenant, { amount: 20_00, sourceId: balance });
    const into = await house.pay(tenant, { amount: 5_00, destinationId: balance });
    await reach(out, 'pending > processing > completed');
    await reach(into, 'pending > processing > completed');
    const kinds = async (id: string) => (await messages.list(tenant, id)).map(({ kind }) => kind);
    expect(await kinds(out)).toEqual(['nacha']);
    expect(await kinds(into)).toEqual(['nacha']);
    expect((await house.methods.get(tenant, balance)).balance).toMatchObject({
      posted: 35_00,
      available: 35_00,
    });
  });

  test('many at once share files', async () => {
    const other = await house.addTenant('org_neighbour');
    const ids = await Promise.all(
      Array.from({ length: 60 }, (_, n) => house.pay(n % 2 ? tenant : other, { amount: n + 1 })),
    );
    // By one question: to ask for each of them took the machine from the worker that they wait for.
    const completed = async () =>
      (
        await house.database.query(`select 1 from payments where id = any($1) and status = 'completed'`, [
          ids,
        ])
      ).rowCount;
    await expect.poll(completed).toBe(ids.length);
    const { rows } = await house.database.query<{ entries: number }>(
      `select count(*)::int as entries from ach_entries
       where payment_id = any($1) group by file_id order by 1 desc limit 1`,
      [ids],
    );
    expect(rows[0]?.entries).toBeGreaterThan(5);
  });
});

test('a clock that was set free: payments of different moments share files, as without a clock', async () => {
  // Slow, so that also on a busy machine many moments fall into what is done together.
  const slow = await createHouse({ sandboxMs: 2_400 });
  try {
    const owner = await slow.addTenant('org_free');
    await slow.setClock(owner, new Date(Date.now() + 86_400_000));
    await slow.sandbox.releaseClock(owner);
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await slow.pay(owner, { amount: n + 1 }));
    await slow.startWorking();
    const { rows } = await slow.database.query<{ moments: number }>(
      'select count(distinct created_at)::int as moments from payments where id = any($1)',
      [ids],
    );
    expect(rows[0]?.moments).toBeGreaterThan(10);
    for (const id of ids) await expect.poll(async () => (await slow.get(owner, id)).status).toBe('completed');
    const files = await slow.database.query('select from ach_files where scope = $1', [`${owner.id}~free`]);
    expect(files.rowCount).toBeLessThan(20);
  } finally {
    await slow.close();
  }
});

describe('returns', () => {
  test.concurrent.each([
    ['the source', { sourceId: 'pm_test_ach_return_r01' }, 'R01', 'insufficient_funds'],
    ['the destination', { destinationId: 'pm_test_ach_return_r03' }, 'R03', 'account_not_found'],
  ])('of %s before settlement: failed', async (_side, input, networkCode, code) => {
    const id = await house.pay(tenant, input);
    await reach(id, 'pending > processing > failed');
    const payment = await house.get(tenant, id);
    expect(payment.failure).toMatchObject({ code, network_code: networkCode });
    expect(payment.attempts).toMatchObject([{ status: 'returned', code: networkCode }]);
    const [answer] = await messages.list(tenant, id);
    expect(answer).toMatchObject({ direction: 'in', kind: 'return' });
    const read = readNacha(answer?.content ?? '');
    expect(read.ok && read.file.batches[0]?.entries[0]?.addenda).toMatchObject([
      { type: '99', code: networkCode },
    ]);
  });

  test.concurrent.each([
    ['the source', { sourceId: 'pm_test_ach_late_return_r10' }],
    ['the destination', { destinationId: 'pm_test_ach_late_return_r02' }],
  ])('of %s after completion: returned, as long again after it', async (_side, input) => {
    const id = await house.pay(tenant, input);
    await reach(id, 'pending > processing > completed > returned');
    // By the network's time, which a busy machine cannot stretch.
    const { attempts } = await house.get(tenant, id);
    const [answer] = await messages.list(tenant, id);
    const waited = msBetween(attempts[0]?.settled_at ?? '', answer?.createdAt.toISOString());
    expect(waited).toBeGreaterThan(SANDBOX_MS * 0.8);
    expect(waited).toBeLessThan(SANDBOX_MS * 1.5);
  });

  test('of a credit whose debit was collected: the money goes back to the source', async () => {
    const id = await house.pay(tenant, { amount: 77_00, destinationId: 'pm_test_ach_return_r02' });
    await reach(id, 'pending > processing > failed');
    const legs = async () =>
      (
        await house.database.query(
          'select leg, state, amount from ach_entries where payment_id = $1 order by leg',
          [id],
        )
      ).rows;
    await expect.poll(legs).toEqual([
      { leg: 'credit', state: 'returned', amount: 77_00 },
      { leg: 'debit', state: 'settled', amount: 77_00 },
      { leg: 'refund', state: 'settled', amount: 77_00 },
    ]);
    const refund = (await messages.list(tenant, id))[0];
    const read = readNacha(refund?.content ?? '');
    expect(read.ok && read.file.batches[0]).toMatchObject({
      header: { entryDescription: 'REFUND', serviceClass: '220' },
      entries: [{ amountCents: 77_00 }],
    });
    expect(await house.get(tenant, id)).toMatchObject({ status: 'failed' });
  });

  test('of a balance that the money has left already: it is owed', async () => {
    const balance = await house.openBalance(tenant, 0 + 1);
    const id = await house.pay(tenant, {
      amount: 9_00,
      sourceId: 'pm_test_ach_late_return_r01',
      destinationId: balance,
    });
    await reach(id, 'pending > processing > completed');
    await house.pay(tenant, { amount: 9_00, sourceId: balance });
    await reach(id, 'pending > processing > completed > returned');
    expect((await house.methods.get(tenant, balance)).balance?.owed).toBeGreaterThan(0);
  });
});

describe('notifications of change', () => {
  test.concurrent.each(['c01', 'c02', 'c03', 'c04', 'c05', 'c06', 'c07'])(
    '%s: the stored method is put right and works on',
    async (code) => {
      const methodId = `pm_test_ach_noc_${code}`;
      const id = await house.pay(tenant, { destinationId: methodId });
      await reach(id, 'pending > processing > completed');
      const details = async () => {
        const [method] = await house.methods.find(house.database, [{ tenantId: tenant.id, id: methodId }]);
        if (!method?.bank) throw new Error('no such account');
        const { routingNumber, accountType, holderName } = method.bank;
        const accountNumber = house.methods.openAccountNumber(method);
        return { routingNumber, accountType, holderName, accountNumber };
      };
      const first = await details();
      const updates = async () =>
        (
          await house.database.query(
            `select 1 from events where subject_id = $1 and type = 'payment_method.updated'`,
            [methodId],
          )
        ).rowCount;
      expect(await updates()).toBe(1);
      expect((await messages.list(tenant, id)).map(({ kind }) => kind)).toContain('noc');
      const again = await house.pay(tenant, { destinationId: methodId });
      await reach(again, 'pending > processing > completed');
      expect(await updates()).toBe(2);
      expect(await details()).not.toEqual(first);
    },
  );

  test.concurrent.each(['c09', 'c13'])('%s changes nothing that is stored, and is kept', async (code) => {
    const methodId = `pm_test_ach_noc_${code}`;
    const id = await house.pay(tenant, { sourceId: methodId });
    await reach(id, 'pending > processing > completed');
    expect((await messages.list(tenant, id)).map(({ kind }) => kind)).toContain('noc');
    const { rowCount } = await house.database.query(
      `select 1 from events where subject_id = $1 and type = 'payment_method.updated'`,
      [methodId],
    );
    expect(rowCount).toBe(0);
  });
});

describe('forced outcomes', () => {
  test('a notification on demand is a file that is read like any other', async () => {
    const id = await house.pay(tenant, { destinationId: 'pm_to_be_notified' });
    await reach(id, 'pending > processing > completed');
    await house.force(tenant, id, 'notify_of_change', 'c05');
    const { method } = await house.methods.get(tenant, 'pm_to_be_notified');
    expect(method.bank?.accountType).toBe('savings');
    await house.force(tenant, id, 'notify_of_change', 'C01');
    const list = await messages.list(tenant, id);
    expect(list.filter(({ kind }) => kind === 'noc')).toHaveLength(2);
    await expect(house.force(tenant, id, 'notify_of_change', 'C99')).rejects.toThrow();
  });

  test('an account that is now at a bank without RTP is paid over ACH alone', async () => {
    const id = await house.pay(tenant, { destinationId: 'pm_moved_later' });
    await reach(id, 'pending > processing > completed');
    const key = { tenantId: tenant.id, id: 'pm_moved_later' };
    const correction = { routingNumber: TEST_ROUTING_NUMBER_WITHOUT_RTP };
    await house.database.transaction((tx) => house.methods.applyCorrection(tx, key, correction, new Date()));
    const { method } = await house.methods.get(tenant, 'pm_moved_later');
    expect([method.railsSend, method.railsReceive]).toEqual([['ach'], ['ach']]);
  });

  test('a notification for an account that was deleted changes nothing in it', async () => {
    const id = await house.pay(tenant, { destinationId: 'pm_deleted_later' });
    await reach(id, 'pending > processing > completed');
    await house.methods.remove(tenant, 'pm_deleted_later');
    const key = { tenantId: tenant.id, id: 'pm_deleted_later' };
    const before = await house.methods.find(house.database, [key]);
    await house.force(tenant, id, 'notify_of_change', 'C05');
    expect(await house.methods.find(house.database, [key])).toEqual(before);
  });

  test('a payment that was ended by order is left alone by the network', async () => {
    const id = await house.pay(tenant, { sourceId: 'pm_test_ach_return_r01' });
    await expect.poll(async () => (await house.get(tenant, id)).status, { interval: 5 }).toBe('processing');
    await house.force(tenant, id, 'settle', null);
    await expect
      .poll(
        async () =>
          (await house.database.query('select state from ach_entries where payment_id = $1', [id])).rows,
      )
      .toEqual([{ state: 'returned' }]);
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed');
  });
});

test('nothing was quarantined, nothing failed, and the books hold', async () => {
  await house.idle();
  expect(house.alerts).toEqual([]);
  expect(house.errors).toEqual([]);
  expect((await house.check(tenant)).checks.filter((check) => !check.ok)).toEqual([]);
  const { rows } = await house.database.query('select count(*)::int as kept from rail_quarantine');
  expect(rows).toEqual([{ kept: 0 }]);
});

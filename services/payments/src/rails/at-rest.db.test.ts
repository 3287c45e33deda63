// What is kept of files and messages holds no account number that can be read in the database, in whatever table.
import type { Database } from '@libs/db';
import { createSealer, SealError } from '@libs/seal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountNumberFor } from '../payment-methods/test-accounts.ts';
import type { Payment } from '../payments/payment.ts';
import { createQuarantine } from '../quarantine/service.ts';
import { createHouse, type House } from './ach/test/house.ts';
import { createMessageVault } from './message-vault.ts';
import { createHarness, type Harness, testTenant } from './rtp/test/harness.ts';

const SOURCE = 'pm_someone_to_hide';
const DESTINATION = 'pm_someone_else';
const numbers = [SOURCE, DESTINATION].map(accountNumberFor);
const sealer = createSealer({ keys: [Buffer.alloc(32, 7)] });

let harness: Harness;
let house: House;

beforeAll(async () => {
  [harness, house] = await Promise.all([createHarness(), createHouse()]);
  await Promise.all([harness.work(), house.startWorking()]);
});
afterAll(() => Promise.all([harness.stop(), house.close()]));

/** Tables in which a text stands, written as it is or as bytes. */
async function tablesWith(database: Database, text: string): Promise<string[]> {
  const { rows: tables } = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = $1 and table_type = 'BASE TABLE' order by 1`,
    [database.schema],
  );
  expect(tables.length).toBeGreaterThan(20);
  const hex = Buffer.from(text).toString('hex');
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await database.query<{ n: number }>(
      `select count(*)::int as n from ${name} as t where t::text like '%' || $1 || '%' or t::text like '%' || $2 || '%'`,
      [text, hex],
    );
    if (rows[0]?.n) found.push(name);
  }
  return found;
}

async function payByRtp(): Promise<Payment> {
  const [payment] = await harness.pay([{ source: SOURCE, destination: DESTINATION }]);
  const status = async () => (await harness.payment(payment as Payment)).status;
  await expect.poll(status).toBe('completed');
  return payment as Payment;
}

describe('RTP', () => {
  test('no table shows an account number, and the owner reads the messages as they were', async () => {
    const payment = await payByRtp();
    // The search works: it finds what stands there in the clear.
    expect(await tablesWith(harness.database, payment.id)).toContain('payments');
    for (const number of numbers) expect(await tablesWith(harness.database, number)).toEqual([]);
    const messages = harness.shown;
    const list = await messages.list(testTenant, payment.id);
    expect(list.map(({ kind }) => kind)).toEqual(['pacs.002', 'pacs.008']);
    for (const number of numbers) expect(list[1]?.content).toContain(number);
    expect(list[0]?.content).toContain('pacs.002.001.10');
  });

  test('what was kept in the clear or unpacked before can still be read', async () => {
    const payment = await payByRtp();
    const messages = harness.shown;
    const before = await messages.list(testTenant, payment.id);
    await harness.database.query(
      `update rail_messages set content = $2, packed_sealed = null where payment_id = $1 and kind = 'pacs.008'`,
      [payment.id, before[1]?.content],
    );
    expect(await messages.list(testTenant, payment.id)).toEqual(before);
    const sealed = sealer.seal(before[1]?.content ?? '', `rail_message ${testTenant.id} ${before[1]?.id}`);
    await harness.database.query(
      `update rail_messages set content = null, content_sealed = $2 where payment_id = $1 and kind = 'pacs.008'`,
      [payment.id, sealed],
    );
    expect(await messages.list(testTenant, payment.id)).toEqual(before);
    await harness.database.query('delete from rail_messages where payment_id = $1', [payment.id]);
  });

  test('an envelope opens in its own place alone', async () => {
    const [one, other] = [await payByRtp(), await payByRtp()];
    await harness.database.query(
      `update rail_messages m set packed_sealed = o.packed_sealed
       from rail_messages o where m.payment_id = $1 and o.payment_id = $2 and m.kind = 'pacs.008' and o.kind = m.kind`,
      [one.id, other.id],
    );
    const messages = harness.shown;
    await expect(messages.list(testTenant, one.id)).rejects.toBeInstanceOf(SealError);
    await harness.database.query('delete from rail_messages where payment_id = $1', [one.id]);
  });

  test('what is put aside is sealed too, and the operator reads it', async () => {
    const message = `<nonsense>${numbers[0]}</nonsense>`;
    await harness.read('test', [message]);
    await expect.poll(() => harness.quarantine()).toHaveLength(1);
    await expect.poll(() => harness.jobsLeft()).toBe(0);
    expect(await tablesWith(harness.database, numbers[0] as string)).toEqual([]);
    const quarantine = createQuarantine({ database: harness.database, sealer, now: () => new Date() });
    const [item] = await quarantine.list({ rail: null, mode: null, status: null, before: null, limit: 10 });
    expect(await quarantine.get(item?.id ?? '')).toMatchObject({ rail: 'rtp', content: message });
  });
});

test('ACH: no table shows an account number, and the owner reads the lines as they were', async () => {
  const tenant = await house.addTenant('org_at_rest');
  const id = await house.pay(tenant, { sourceId: SOURCE, destinationId: DESTINATION });
  const status = async () => (await house.get(tenant, id)).status;
  await expect.poll(status).toBe('completed');
  for (const number of numbers) expect(await tablesWith(house.database, number)).toEqual([]);
  const messages = house.messages;
  const lines = (await messages.list(tenant, id)).map(({ content }) => content).join('\n');
  for (const number of numbers) expect(lines).toContain(number);
});

describe('the vault', () => {
  const vault = createMessageVault(sealer);
  const key = { tenantId: 'org_1.live', id: 'msg_1' };

  test('seals transfers, and everything that a live network writes', () => {
    const sealed = (tenantId: string, kind: string) =>
      vault.keep({ ...key, tenantId, kind }, 'text').packedSealed !== null;
    expect([sealed('org_1.test', 'pacs.008'), sealed('org_1.test', 'pacs.002')]).toEqual([true, false]);
    expect([sealed('org_1.live', 'pacs.028'), sealed('org_1.live', 'pacs.002')]).toEqual([true, true]);
    const kept = vault.keep({ ...key, kind: 'pacs.002' }, 'text');
    expect(vault.open(key, kept)).toBe('text');
    expect(() => vault.open({ ...key, tenantId: 'org_2.live' }, kept)).toThrow(SealError);
  });

  test('has a text at hand once, and forgets the oldest of too many', () => {
    vault.remember('msg_0', 'zero');
    expect([vault.recall('msg_0'), vault.recall('msg_0')]).toEqual(['zero', undefined]);
    for (let count = 0; count <= 4_000; count += 1) vault.remember(`msg_${count}`, `${count}`);
    expect([vault.recall('msg_0'), vault.recall('msg_1'), vault.recall('msg_4000')]).toEqual([
      undefined,
      '1',
      '4000',
    ]);
  });
});

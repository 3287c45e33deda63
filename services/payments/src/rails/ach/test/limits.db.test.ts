// The limits of a bank's day, and a bank whose answers cannot be fetched: what must leave leaves, or somebody is told.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import type { Tenant } from '../../../tenant.ts';
import type { AchTransport, OutboundFile } from '../bank/transport.ts';
import { LIVE_SCOPE } from '../entries/scope.ts';
import { readNacha } from '../nacha/read.ts';
import { tick } from '../work/tick.ts';
import { createHouse, type House, historyOf } from './house.ts';
import { anOriginator } from './legs.ts';

const LARGEST = 9_999_999_999;
const FILE_TOTAL_MAX = 999_999_999_999;

/** A bank that takes every file, and whose folder of answers can be closed. */
const sent: Pick<OutboundFile, 'name' | 'content' | 'isUploaded'>[] = [];
let isListable = true;
const bank: AchTransport = {
  async send({ name, content, isUploaded, noteUploaded }) {
    sent.push({ name, content, isUploaded });
    await noteUploaded();
    return { ok: true };
  },
  async collect() {
    if (!isListable) throw new Error('inbound: permission denied');
    return { files: [], isAll: true };
  },
  acknowledge: async () => {},
  nextAnswerAt: async () => null,
};

let house: House;
let tenant: Tenant;
let balance: string;
let account: string;
let now = fromNewYork('2083-03-01', '09:00');

beforeAll(async () => {
  house = await createHouse({ now: () => now, live: { transport: bank, originator: anOriginator } });
  tenant = await house.addTenant('org_limits', 'live');
  balance = await house.openBalance(tenant, 120 * LARGEST);
  account = await house.addAccount(tenant, {
    ...{ routingNumber: '021000021', accountNumber: '000111222333', accountType: 'checking' },
    ...{ holderName: 'Maria Müller', holderType: 'business' },
  });
  await house.startWorking();
});
afterEach(() => {
  sent.length = 0;
  house.alerts.length = 0;
  isListable = true;
});
afterAll(() => house.close());

async function payOut(count: number, amount: number): Promise<string[]> {
  const input = { sourceId: balance, destinationId: account, amount, prefer: 'cost' as const };
  const ids = await Promise.all(Array.from({ length: count }, () => house.pay(tenant, input)));
  await house.idle();
  return ids;
}

async function tickAt(date: string, time: string): Promise<Date | null> {
  now = fromNewYork(date, time);
  return tick(house.context, LIVE_SCOPE);
}

async function histories(ids: readonly string[]): Promise<string[]> {
  const all = await Promise.all(ids.map(async (id) => historyOf(await house.get(tenant, id))));
  return [...new Set(all)];
}

test('[P-5.19] sums beyond ten digits of a batch and twelve of a file are split, and every cent is in one of them', async () => {
  now = fromNewYork('2083-03-01', '09:00');
  const count = 101;
  const ids = await payOut(count, LARGEST);
  await tickAt('2083-03-01', '22:30');
  const files = sent.map(({ content }) => {
    const read = readNacha(content);
    if (!read.ok) throw new Error(JSON.stringify(read.faults));
    return read.file.batches.map(({ entries }) => entries.reduce((sum, entry) => sum + entry.amountCents, 0));
  });
  expect(sent.map(({ name }) => name.at(-5))).toEqual(['A', 'B']);
  expect(sent.map(({ isUploaded }) => isUploaded)).toEqual([false, false]);
  expect(Math.max(...files.flat())).toBe(LARGEST);
  for (const batches of files)
    expect(batches.reduce((sum, total) => sum + total, 0)).toBeLessThanOrEqual(FILE_TOTAL_MAX);
  expect(files.flat().reduce((sum, total) => sum + total, 0)).toBe(count * LARGEST);
  expect(await histories(ids)).toEqual(['pending > processing']);
  await tickAt('2083-03-02', '08:30');
  expect(await histories(ids)).toEqual(['pending > processing > completed']);
});

test('[P-5.19] a day whose 36 files are used up: what is left leaves on the next, and somebody is told', async () => {
  now = fromNewYork('2083-03-03', '09:00');
  const ids = await payOut(2, 5_00);
  await house.database.query(`update ach_counters set day = '2083-03-03', files = 36 where scope = $1`, [
    LIVE_SCOPE,
  ]);
  expect(await tickAt('2083-03-03', '22:30')).toEqual(fromNewYork('2083-03-04', '22:30'));
  expect(sent).toEqual([]);
  expect(house.alerts).toMatchObject([
    { fields: { alert: 'ach_files_used_up', entries: 2, filesMax: 36 }, message: expect.any(String) },
  ]);
  expect(await histories(ids)).toEqual(['pending']);
  await tickAt('2083-03-04', '22:30');
  expect(sent.map(({ name }) => name)).toEqual([expect.stringMatching(/20830304-A\.ach$/)]);
  await tickAt('2083-03-05', '08:30');
  expect(await histories(ids)).toEqual(['pending > processing > completed']);
});

test('an inbound folder that cannot be listed: files leave all the same, and nothing settles blindly', async () => {
  now = fromNewYork('2083-03-08', '09:00');
  const ids = await payOut(1, 7_00);
  isListable = false;
  await expect(tickAt('2083-03-08', '22:30')).rejects.toThrow('permission denied');
  expect(sent).toHaveLength(1);
  expect(await histories(ids)).toEqual(['pending > processing']);
  await expect(tickAt('2083-03-09', '08:30')).rejects.toThrow('permission denied');
  expect(await histories(ids)).toEqual(['pending > processing']);
  expect(house.failures.length).toBeGreaterThanOrEqual(2);
  isListable = true;
  await tickAt('2083-03-09', '09:00');
  expect(await histories(ids)).toEqual(['pending > processing > completed']);
  expect(sent).toHaveLength(1);
});

test('[P-5.19] traces that run out begin again in one piece, and the file keeps the rules', async () => {
  now = fromNewYork('2083-03-10', '09:00');
  await house.database.query('update ach_counters set last_trace = 9999998 where scope = $1', [LIVE_SCOPE]);
  const ids = await payOut(3, 9_00);
  await tickAt('2083-03-10', '22:30');
  const read = readNacha(sent[0]?.content ?? '');
  const traces = read.ok ? read.file.batches.flatMap(({ entries }) => entries.map(({ trace }) => trace)) : [];
  expect(traces.map((trace) => trace.slice(8))).toEqual(['0000001', '0000002', '0000003']);
  await tickAt('2083-03-11', '08:30');
  expect(await histories(ids)).toEqual(['pending > processing > completed']);
});

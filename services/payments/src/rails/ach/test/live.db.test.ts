// Live payments over a real SFTP server: files at the windows of the day, answers from the bank's folder.
import { readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import type { Tenant } from '../../../tenant.ts';
import { type AchSftp, createAchSftp } from '../bank/sftp.ts';
import { nextEntryAt } from '../entries/entries-store.ts';
import { LIVE_SCOPE } from '../entries/scope.ts';
import { readNacha } from '../nacha/read.ts';
import { writeNacha } from '../nacha/write.ts';
import { answerFile } from '../operator/answers.ts';
import type { Originator } from '../outgoing/files.ts';
import type { AchContext } from '../work/context.ts';
import { createAchHandlers } from '../work/handlers.ts';
import { LIVE_JOB, UNSERVED_JOB } from '../work/jobs.ts';
import { tick } from '../work/tick.ts';
import { createHouse, type House, historyOf } from './house.ts';
import { type SftpBank, startSftpBank } from './sftp-bank.ts';

const ORIGINATOR: Originator = {
  odfi: '12104288',
  companyName: 'HOUSE INC',
  companyId: '1987654321',
  entryDescription: 'PAYMENT',
  immediateDestination: '121042882',
  immediateOrigin: '1987654321',
  destinationName: 'OUR BANK',
  originName: 'HOUSE INC',
};

let bank: SftpBank;
let line: AchSftp;
let house: House;
let tenant: Tenant;
let now: Date;

beforeEach(async () => {
  bank = await startSftpBank();
  now = fromNewYork('2083-03-01', '09:00');
  line = createAchSftp({
    url: bank.url,
    privateKeyPath: bank.privateKeyPath,
    hostKeyFingerprint: bank.fingerprint,
    now: () => now,
    log: { error: () => {}, warn: () => {} },
  });
  house = await createHouse({ now: () => now, live: { transport: line, originator: ORIGINATOR } });
  tenant = await house.addTenant('org_live', 'live');
  await house.startWorking();
});
afterEach(async () => {
  await line.close();
  await house.close();
  await bank.close();
});

async function payOut(prefer: 'cost' | 'speed' = 'cost'): Promise<string> {
  const balance = await house.openBalance(tenant, 500_00);
  const account = await house.addAccount(tenant, {
    routingNumber: '021000021',
    accountNumber: '000111222333',
    accountType: 'checking',
    holderName: 'Maria Müller',
    holderType: 'individual',
  });
  const id = await house.pay(tenant, { sourceId: balance, destinationId: account, amount: 250_00, prefer });
  await house.idle();
  return id;
}

async function tickAt(date: string, time: string): Promise<Date | null> {
  now = fromNewYork(date, time);
  return tick(house.context, LIVE_SCOPE);
}

const outbound = () => readdir(join(bank.folder, 'outbound'));
const history = async (id: string) => historyOf(await house.get(tenant, id));
const estimate = async (id: string) => (await house.get(tenant, id)).estimatedSettlementAt;

/** The bank's answer to the one entry in the one file. */
async function answerWith(code: string): Promise<void> {
  const [name] = await outbound();
  const read = readNacha(await readFile(join(bank.folder, 'outbound', name as string), 'latin1'));
  const batch = read.ok ? read.file.batches[0] : undefined;
  const entry = batch?.entries[0];
  if (!batch || !entry) throw new Error('there is no entry to answer');
  const answer = { id: 7, kind: 'return' as const, code, original: { header: batch.header, entry } };
  const file = answerFile([answer], { asOf: now, originator: ORIGINATOR, sequence: 1 });
  await writeFile(join(bank.folder, 'inbound', 'returns.ach'), writeNacha(file).replaceAll('\n', '\r\n'));
}

test('a payment waits for its window, leaves as a file, and settles in the morning', async () => {
  const id = await payOut();
  expect(await tickAt('2083-03-01', '22:00')).toEqual(fromNewYork('2083-03-01', '22:30'));
  expect(await outbound()).toEqual([]);
  expect(await tickAt('2083-03-01', '22:30')).toEqual(fromNewYork('2083-03-02', '08:30'));
  expect(await history(id)).toBe('pending > processing');
  expect(await outbound()).toEqual(['ach-1987654321-20830301-A.ach']);
  const text = await readFile(join(bank.folder, 'outbound', 'ach-1987654321-20830301-A.ach'), 'latin1');
  const read = readNacha(text);
  expect(read.ok && read.file.batches[0]).toMatchObject({
    header: { sec: 'PPD', effectiveDate: '830302', companyId: '1987654321', odfi: '12104288' },
    entries: [{ routingNumber: '021000021', accountNumber: '000111222333', individualName: 'Maria Muller' }],
  });
  expect(await tickAt('2083-03-02', '08:30')).toBeNull();
  expect(await history(id)).toBe('pending > processing > completed');
});

test('[P-5.12] a live debit that comes back after its money was paid out is owed, and somebody is alarmed', async () => {
  const account = (accountNumber: string) =>
    house.addAccount(tenant, {
      ...{ routingNumber: '021000021', accountNumber, accountType: 'checking' },
      ...{ holderName: 'Maria Muller', holderType: 'individual' },
    });
  const [sourceId, destinationId] = [await account('111'), await account('222')];
  const id = await house.pay(tenant, { sourceId, destinationId, amount: 250_00 });
  await house.idle();
  for (const day of ['2083-03-01', '2083-03-02']) await tickAt(day, '22:30');
  await tickAt('2083-03-03', '08:30');
  expect(await history(id)).toBe('pending > processing > completed');
  await answerWith('R10');
  await tickAt('2083-03-04', '09:00');
  expect(await history(id)).toBe('pending > processing > completed > returned');
  expect(house.alerts).toMatchObject([{ fields: { alert: 'ach_owed', paymentId: id, returnCode: 'R10' } }]);
});

test('[P-5.17] a live return after its deadline is an alert', async () => {
  const id = await payOut();
  await tickAt('2083-03-01', '22:30');
  await tickAt('2083-03-02', '08:30');
  await answerWith('R03');
  await tickAt('2083-03-15', '09:00');
  expect(await history(id)).toBe('pending > processing > completed > returned');
  expect(house.warnings).toMatchObject([{ fields: { alert: 'ach_untimely', paymentId: id, code: 'R03' } }]);
});

test('answers that cannot be fetched stop no file whose window has come', async () => {
  const id = await payOut();
  const { context } = house;
  const { transportFor } = context;
  context.transportFor = (scope) => {
    const transport = transportFor(scope);
    return transport && { ...transport, collect: () => Promise.reject(new Error('no answers')) };
  };
  await expect(tickAt('2083-03-01', '22:30')).rejects.toThrow('no answers');
  expect(await outbound()).toHaveLength(1);
  expect(await history(id)).toBe('pending > processing');
  await expect(tickAt('2083-03-02', '08:30')).rejects.toThrow('no answers');
  expect(await history(id)).toBe('pending > processing');
});

test('what is kept of a file at rest holds no account number', async () => {
  await payOut();
  await tickAt('2083-03-01', '22:30');
  const { rows } = await house.database.query<{ content: Buffer }>(
    'select content_sealed as content from ach_files',
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]?.content.includes('000111222333')).toBe(false);
});

test('a return is fetched, applied and archived; before settlement it fails the payment', async () => {
  const id = await payOut();
  await tickAt('2083-03-01', '22:30');
  await answerWith('R03');
  await tickAt('2083-03-02', '08:00');
  expect(await history(id)).toBe('pending > processing > failed');
  expect((await house.get(tenant, id)).failure).toMatchObject({ network_code: 'R03' });
  expect(await readdir(join(bank.folder, 'inbound'))).toEqual(['archive']);
  expect(await readdir(join(bank.folder, 'inbound', 'archive'))).toEqual(['returns.ach']);
});

test('[P-5.13] a file that the bank keeps where it is keeps no other from being read, and is read once', async () => {
  const id = await payOut();
  await tickAt('2083-03-01', '22:30');
  const control = `9${'000000'}${'000001'}${'0'.repeat(42)}`;
  const nothing = `${'101 '.padEnd(94)}\n${control.padEnd(94)}\n`;
  await writeFile(join(bank.folder, 'inbound', 'nothing.ach'), nothing);
  await answerWith('R03');
  const { aroundRename } = bank;
  bank.aroundRename = () => Promise.reject(new Error('somebody has it open'));
  for (const time of ['08:00', '08:10']) {
    await expect(tickAt('2083-03-02', time)).rejects.toThrow(/rename/i);
    expect(await history(id)).toBe('pending > processing > failed');
  }
  bank.aroundRename = aroundRename;
  await tickAt('2083-03-02', '08:20');
  expect(await readdir(join(bank.folder, 'inbound'))).toEqual(['archive']);
  expect(house.alerts).toEqual([]);
});

test('[P-5.12] nothing settles before the last file of the bank is read, however many lie before it', async () => {
  const id = await payOut();
  await tickAt('2083-03-01', '22:30');
  for (let n = 100; n < 220; n += 1)
    await writeFile(join(bank.folder, 'inbound', `a-${n}.ach`), `a note of the bank, ${n}`);
  await answerWith('R03');
  // Notes have no end, so they are read when they were seen to lie still.
  await line.collect(now);
  await tickAt('2083-03-02', '08:30');
  expect(await history(id)).toBe('pending > processing > failed');
  expect(await readdir(join(bank.folder, 'inbound'))).toEqual(['archive']);
});

test('[P-5.12] a bank whose files never end holds up what settles, and nothing that leaves', async () => {
  const [settling, leaving] = [await payOut(), await payOut()];
  const sent = (await tickAt('2083-03-01', '22:30')) as Date;
  expect(sent).toEqual(fromNewYork('2083-03-02', '08:30'));
  const third = await payOut();
  let files = 0;
  const endless = {
    ...line,
    collect: async () => ({
      files: [{ name: `note-${files}.ach`, content: `a note of the bank, ${files++}` }],
      isAll: false,
    }),
  };
  now = fromNewYork('2083-03-02', '22:30');
  const again = await tick({ ...house.context, transportFor: () => endless }, LIVE_SCOPE);
  expect(again).toEqual(new Date(now.getTime() + 30_000));
  for (const id of [settling, leaving, third]) expect(await history(id)).toBe('pending > processing');
  expect(await outbound()).toHaveLength(2);
  expect(await tick(house.context, LIVE_SCOPE)).toEqual(fromNewYork('2083-03-03', '08:30'));
  expect(await history(settling)).toBe('pending > processing > completed');
});

test('[P-5.12] nothing settles while a file of the bank lies there that is too young to be read', async () => {
  const settling = await payOut();
  await tickAt('2083-03-01', '22:30');
  const leaving = await payOut('speed');
  await answerWith('R03');
  const written = fromNewYork('2083-03-02', '10:14');
  await utimes(join(bank.folder, 'inbound', 'returns.ach'), written, new Date(written.getTime() + 55_000));
  expect(await tickAt('2083-03-02', '10:15')).toEqual(new Date(now.getTime() + 30_000));
  expect(await history(settling)).toBe('pending > processing');
  expect(await history(leaving)).toBe('pending > processing');
  expect(await outbound()).toHaveLength(2);
  now = new Date(now.getTime() + 30_000);
  await tick(house.context, LIVE_SCOPE);
  expect(await history(settling)).toBe('pending > processing > failed');
  expect(await history(leaving)).toBe('pending > processing');
});

test('[P-5.12] nothing settles while the bank writes a file under another name', async () => {
  const settling = await payOut();
  await tickAt('2083-03-01', '22:30');
  await answerWith('R03');
  const inbound = join(bank.folder, 'inbound');
  await rename(join(inbound, 'returns.ach'), join(inbound, 'returns.ach.part'));
  const written = fromNewYork('2083-03-02', '08:29');
  await utimes(join(inbound, 'returns.ach.part'), written, new Date(written.getTime() + 45_000));
  expect(await tickAt('2083-03-02', '08:30')).toEqual(new Date(now.getTime() + 30_000));
  expect(await history(settling)).toBe('pending > processing');
  await rename(join(inbound, 'returns.ach.part'), join(inbound, 'returns.ach'));
  now = new Date(now.getTime() + 30_000);
  await tick(house.context, LIVE_SCOPE);
  expect(await history(settling)).toBe('pending > processing > failed');
});

test('a late return takes back a completed payment', async () => {
  const id = await payOut();
  await tickAt('2083-03-01', '22:30');
  await tickAt('2083-03-02', '08:30');
  await answerWith('R02');
  await tickAt('2083-03-03', '09:00');
  expect(await history(id)).toBe('pending > processing > completed > returned');
});

test('whoever slept over a window takes the next', async () => {
  const id = await payOut('speed');
  // The file should have left at 10:15, and the network closed at 10:30.
  expect(await estimate(id)).toEqual(fromNewYork('2083-03-01', '13:00'));
  expect(await tickAt('2083-03-01', '10:31')).toEqual(fromNewYork('2083-03-01', '14:30'));
  expect(await history(id)).toBe('pending');
  expect(await estimate(id)).toEqual(fromNewYork('2083-03-01', '17:00'));
  await tickAt('2083-03-01', '14:30');
  expect(await history(id)).toBe('pending > processing');
  expect(await tickAt('2083-03-01', '16:59')).toEqual(fromNewYork('2083-03-01', '17:00'));
});

test('a file that reaches the bank too late settles with the next window, and the rail is reported', async () => {
  const id = await payOut('speed');
  bank.cutAfterBytes = 0;
  await expect(tickAt('2083-03-01', '10:15')).rejects.toThrow();
  expect(house.failures).toHaveLength(1);
  expect(await history(id)).toBe('pending > processing');
  await expect(tickAt('2083-03-01', '13:00')).rejects.toThrow();
  bank.cutAfterBytes = null;
  // 13:00 has passed, but nothing was at the bank then.
  expect(await tickAt('2083-03-01', '13:30')).toEqual(fromNewYork('2083-03-01', '17:00'));
  expect(await history(id)).toBe('pending > processing');
  expect(await estimate(id)).toEqual(fromNewYork('2083-03-01', '17:00'));
  await tickAt('2083-03-01', '17:00');
  expect(await history(id)).toBe('pending > processing > completed');
  expect(await outbound()).toHaveLength(1);
});

test('the line to the bank is used by one process at a time; the other looks again soon', async () => {
  let letGo = () => {};
  const held = new Promise<void>((done) => {
    letGo = done;
  });
  let collecting = 0;
  const slow: AchContext = {
    ...house.context,
    transportFor: () => ({
      ...line,
      collect: async () => {
        collecting += 1;
        await held;
        return { files: [], isAll: true };
      },
    }),
  };
  const { handlers, cron } = createAchHandlers(slow);
  expect(cron.map(({ name }) => name)).toEqual([LIVE_JOB]);
  const live = handlers.find(({ name }) => name === LIVE_JOB);
  if (!live) throw new Error('there is no job for live files');
  await house.database.query('delete from jobs');
  const signal = AbortSignal.timeout(10_000);
  const first = live.handle([], { signal });
  await expect.poll(() => collecting).toBe(1);
  await live.handle([], { signal });
  expect(collecting).toBe(1);
  const { rows } = await house.database.query('select key, ready_at from jobs where name = $1', [LIVE_JOB]);
  expect(rows).toEqual([{ key: LIVE_SCOPE, ready_at: new Date(now.getTime() + 5_000) }]);
  letGo();
  await first;
  await live.handle([], { signal });
  expect(collecting).toBe(2);
});

test('a worker that was not told of the bank leaves its line to others, and says so where nobody has it', async () => {
  const { handlers, cron } = createAchHandlers({ ...house.context, transportFor: () => null });
  // What it completed would not be planted again, and its failures would take the rail from those who have the line.
  expect(handlers.map(({ name }) => name)).not.toContain(LIVE_JOB);
  expect(cron.map(({ name }) => name)).toEqual([UNSERVED_JOB]);
  const look = async () =>
    handlers.find(({ name }) => name === UNSERVED_JOB)?.handle([], { signal: AbortSignal.timeout(10_000) });
  await look();
  await payOut();
  const due = (await nextEntryAt(house.database, LIVE_SCOPE)) as Date;
  now = due;
  await look();
  now = new Date(due.getTime() + 15 * 60_000);
  await expect(look()).rejects.toThrow('PAYMENTS_ACH_SFTP_URL');
  expect(house.failures).toEqual([]);
});

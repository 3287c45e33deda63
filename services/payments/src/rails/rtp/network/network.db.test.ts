/** The sandbox's network by itself: what it takes, what it books, what it answers. */
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createSealer } from '@libs/seal';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { paymentsMigrations } from '../../../migrations.ts';
import { accountNumberFor, behaviourOf } from '../../../payment-methods/test-accounts.ts';
import { businessMessageId, instructionId, messageId } from '../identifiers.ts';
import { buildCreditTransfer, type CreditTransfer } from '../messages/credit-transfer.ts';
import { type BusinessHeader, markAsDuplicate } from '../messages/envelope.ts';
import { readStatusReport } from '../messages/read.ts';
import { buildStatusReport, reportOn, type StatusReport } from '../messages/status-report.ts';
import { buildStatusRequest } from '../messages/status-request.ts';
import { accountMarks } from './account-marks.ts';
import { ANSWER_JOB, createSandboxRtpNetwork, type SandboxRtpNetwork } from './network.ts';

const NETWORK = '990000001T1';
const BANK = '110000026T1';
const AT = '2026-11-16T09:30:00';

let testDatabase: TestDatabase;
let network: SandboxRtpNetwork;
let delivered: string[];
let serial = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase(paymentsMigrations());
});
afterAll(() => testDatabase.drop());

beforeEach(() => {
  delivered = [];
  network = createSandboxRtpNetwork({
    database: testDatabase.database,
    participant: NETWORK,
    behaviourOf,
    marks: accountMarks(createSealer({ keys: [Buffer.alloc(32, 7)] })),
    now: () => new Date(),
  });
});

function transferTo(method: string, changes: Partial<CreditTransfer> = {}): CreditTransfer {
  serial += 1;
  const date = AT.slice(0, 10);
  const instruction = instructionId({ date, participant: BANK, system: 'TEST', serial });
  return {
    messageId: messageId({ date, participant: BANK, source: 'B', serial }),
    createdAt: AT,
    instructionId: instruction,
    transactionId: instruction,
    amountCents: 2_500,
    settlementDate: date,
    instructingAgent: '110000026',
    instructedAgent: '110000000',
    endToEndId: `pay_${serial}`,
    uetr: null,
    clearingReference: null,
    categoryPurpose: 'BUSINESS',
    debtor: { name: 'A', accountNumber: '1', routingNumber: '110000026' },
    creditor: { name: 'B', accountNumber: accountNumberFor(method), routingNumber: '110000000' },
    remittance: null,
    ...changes,
  };
}

function header(changes: Partial<BusinessHeader> = {}): BusinessHeader {
  const id = { date: AT.slice(0, 10), participant: BANK, source: 'B', serial } as const;
  return {
    from: BANK,
    to: NETWORK,
    businessMessageId: businessMessageId(id),
    createdAt: AT,
    copy: null,
    ...changes,
  };
}

const write = (transfer: CreditTransfer) => buildCreditTransfer(header(), transfer);

function request(transfer: CreditTransfer): string {
  serial += 1;
  const id = { date: AT.slice(0, 10), participant: BANK, source: 'B', serial } as const;
  return buildStatusRequest(header(), {
    messageId: messageId(id),
    createdAt: '2026-11-16T09:31:00',
    acceptedAt: AT,
    transfer,
  });
}

const receive = (...messages: string[]) =>
  network.receive(messages.map((xml) => ({ xml, answerAfterMs: 0 })));

const NOBODYS = async (lists: readonly unknown[]) => lists.map(() => []);

/** Lets the network answer what is due now. */
async function answers(): Promise<StatusReport[]> {
  const { rows } = await testDatabase.database.query<{ id: number; payload: unknown }>(
    `update jobs set attempts = attempts + 1 where name = $1 and ready_at <= clock_timestamp() returning id, payload`,
    [ANSWER_JOB],
  );
  const jobs = rows.map(({ id, payload }) => ({ id, payload, name: ANSWER_JOB, key: null, attempt: 1 }));
  delivered.length = 0;
  const [handler] = network.handlers(async (_tx, messages) => {
    delivered.push(...messages);
    return async () => {};
  }, NOBODYS);
  if (jobs.length > 0) await handler?.handle(jobs, { signal: new AbortController().signal });
  return delivered.map((xml) => {
    const reading = readStatusReport(xml);
    if (!reading.ok) throw new Error(`the network wrote nonsense: ${reading.refusal.detail}`);
    expect(reading.header).toMatchObject({ from: NETWORK, to: BANK });
    return reading.message;
  });
}

async function booked(transfer: CreditTransfer) {
  const [found] = await network.books.find(testDatabase.database, [transfer.instructionId]);
  return found;
}

describe('transfers', () => {
  test('an ordinary account accepts; the books have all of it', async () => {
    const transfer = transferTo('pm_anyone');
    expect(await receive(write(transfer))).toEqual([{ ok: true }]);
    expect(await answers()).toMatchObject([
      { status: 'ACTC', reason: null, acceptedAt: AT, original: { instructionId: transfer.instructionId } },
    ]);
    expect(await booked(transfer)).toEqual({
      instructionId: transfer.instructionId,
      messageId: transfer.messageId,
      transactionId: transfer.transactionId,
      endToEndId: transfer.endToEndId,
      messageCreatedAt: AT,
      settlementDate: '2026-11-16',
      amountCents: 2_500,
      instructingAgent: '110000026',
      instructedAgent: '110000000',
      debtorAgent: '110000026',
      creditorAgent: '110000000',
      accountsMark: expect.stringMatching(/^[\w-]{43}$/),
      status: 'ACTC',
      code: null,
      silent: false,
    });
  });

  test('an answer takes as long as it should', async () => {
    const transfer = transferTo('pm_anyone');
    await network.receive([{ xml: write(transfer), answerAfterMs: 700 }]);
    expect(await answers()).toEqual([]);
    await expect.poll(answers, { interval: 10 }).toHaveLength(1);
  });

  test.each([
    ['an account that rejects', transferTo('pm_test_rtp_reject_ac06'), 'AC06'],
    ['more than the network carries', transferTo('pm_anyone', { amountCents: 1_000_000_001 }), 'AM13'],
    ['a settlement date to come', transferTo('pm_anyone', { settlementDate: '2026-11-17' }), 'DT04'],
    [
      "a receiver's bank that cannot be",
      transferTo('pm_anyone', { creditor: { name: 'B', accountNumber: '2', routingNumber: '110000001' } }),
      'RC04',
    ],
  ])('%s', async (_name, transfer, code) => {
    await receive(write(transfer));
    expect(await answers()).toMatchObject([{ status: 'RJCT', reason: { code } }]);
    expect(await booked(transfer)).toMatchObject({ status: 'RJCT', code });
  });

  test('the same transfer again gets the same answer and is booked once', async () => {
    const transfer = transferTo('pm_anyone');
    const sent = write(transfer);
    await receive(sent, markAsDuplicate(sent));
    await receive(markAsDuplicate(sent));
    const reports = await answers();
    expect(reports.map((report) => report.status)).toEqual(['ACTC', 'ACTC', 'ACTC']);
    expect(new Set(reports.map((report) => report.messageId)).size).toBe(3);
    const { rows } = await testDatabase.database.query(
      'select 1 from sandbox_rtp_transfers where end_to_end_id = $1',
      [transfer.endToEndId],
    );
    expect(rows).toHaveLength(1);
  });

  test('another transfer under a used name is refused', async () => {
    const transfer = transferTo('pm_anyone');
    await receive(write(transfer));
    const dearer = write({ ...transfer, amountCents: 9_900 });
    const renamed = write({ ...transferTo('pm_anyone'), messageId: transfer.messageId });
    const refused = { ok: false, reason: expect.stringContaining('used before') };
    expect(await receive(dearer, renamed)).toEqual([refused, refused]);
    expect(await answers()).toHaveLength(1);
    expect(await booked(transfer)).toMatchObject({ amountCents: 2_500 });
  });
});

describe('silence', () => {
  test.each([
    ['pm_test_rtp_timeout', 'ACTC', null],
    ['pm_test_rtp_timeout_reject_ac04', 'RJCT', 'AC04'],
  ])('%s answers the status request alone', async (method, status, code) => {
    const transfer = transferTo(method);
    const sent = write(transfer);
    await receive(sent, markAsDuplicate(sent));
    expect(await answers()).toEqual([]);
    await receive(request(transfer));
    const [report] = await answers();
    expect(report).toMatchObject({ status, createdAt: '2026-11-16T09:31:00', acceptedAt: AT });
    expect(report?.reason?.code ?? null).toBe(code);
  });

  test('a request about a transfer that never came, or was another, is not answered', async () => {
    const known = transferTo('pm_test_rtp_timeout');
    await receive(write(known));
    const requests = [request(transferTo('pm_anyone')), request({ ...known, amountCents: 1 })];
    expect(await receive(...requests)).toEqual([{ ok: true }, { ok: true }]);
    expect(await answers()).toEqual([]);
  });
});

test('what is not a message to the network, from whom it says, is refused without effect', async () => {
  const transfer = transferTo('pm_anyone');
  const good = write(transfer);
  const answer = {
    messageId: transfer.messageId,
    createdAt: AT,
    status: 'ACTC',
    reason: null,
    acceptedAt: AT,
    clearingReference: null,
  } as const;
  const receipts = await receive(
    good.slice(0, -9),
    good.replace('pacs.008.001.08"', 'pacs.008.001.02"'),
    buildCreditTransfer(header({ to: BANK }), transfer),
    buildCreditTransfer(header({ from: '999999992T1' }), transfer),
    buildStatusReport(header(), reportOn(transfer, answer)),
  );
  expect(receipts.map((receipt) => receipt.ok)).toEqual([false, false, false, false, false]);
  expect(await booked(transfer)).toBeUndefined();
  expect(await answers()).toEqual([]);
});

test('an outcome can be ordered before the transfer arrives and while its answer is under way', async () => {
  const { database } = testDatabase;
  const [early, late] = [transferTo('pm_test_rtp_timeout'), transferTo('pm_anyone')];
  await network.order(database, early.instructionId, { status: 'RJCT', code: 'AC06' });
  await receive(write(early), write(late));
  await network.order(database, late.instructionId, { status: 'RJCT', code: 'MD07' });
  const reports = await answers();
  expect(reports.map((report) => report.reason?.code)).toEqual(['AC06', 'MD07']);
  await network.order(database, late.instructionId, { status: 'ACTC' });
  expect(await booked(late)).toMatchObject({ status: 'ACTC', code: null });
});

test('totals by day count what was accepted', async () => {
  const { database } = testDatabase;
  const range = { from: '2027-01-01', to: '2027-12-31' };
  const on = (day: string, amountCents: number, method = 'pm_anyone') =>
    write(transferTo(method, { createdAt: `${day}T10:00:00`, settlementDate: day, amountCents }));
  await receive(
    on('2027-01-02', 100),
    on('2027-01-02', 250),
    on('2027-01-02', 999, 'pm_test_rtp_reject_ac04'),
    on('2027-03-01', 7),
  );
  expect(await network.books.totalsByDay(database, range)).toEqual([
    { day: '2027-01-02', count: 2, amountCents: 350 },
    { day: '2027-03-01', count: 1, amountCents: 7 },
  ]);
});

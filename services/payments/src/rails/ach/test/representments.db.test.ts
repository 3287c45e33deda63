// Debits that came back for want of money are presented again where that is asked for: twice at most, under new traces,
// by the calendar, and the operator's books, our entries and the ledger agree whatever comes back.
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addDays, fromNewYork } from '../../../clock/new-york.ts';
import type { Payment } from '../../../payments/payment.ts';
import { reconcile } from '../../../reconciliation/comparison.ts';
import type { Tenant } from '../../../tenant.ts';
import { achBooks } from '../books/books.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import { type Reading, readAnswer } from '../incoming/reading.ts';
import type { NachaFile } from '../nacha/model.ts';
import { readNacha } from '../nacha/read.ts';
import { writeNacha } from '../nacha/write.ts';
import { answerFile } from '../operator/answers.ts';
import { SANDBOX_ORIGINATOR } from '../outgoing/originator.ts';
import { createHouse, type House, historyOf } from './house.ts';

const MONDAY = '2083-03-01';

let house: House;
let organisations = 0;

beforeAll(async () => {
  house = await createHouse({ representments: 2 });
  await house.startWorking();
});
afterEach(() => {
  house.context.representmentsWanted = 2;
});
afterAll(() => house.close());

async function newTenant(date = MONDAY): Promise<Tenant> {
  organisations += 1;
  const tenant = await house.addTenant(`org_again_${organisations}`);
  await house.moveClock(tenant, fromNewYork(date, '09:00'));
  return tenant;
}

/** The rail has it before the clock moves on. */
async function pay(tenant: Tenant, input: Parameters<House['pay']>[1]): Promise<string> {
  const id = await house.pay(tenant, input);
  await house.idle();
  return id;
}

const attemptsOf = ({ attempts }: Payment) =>
  attempts.map(({ status, code }) => (code === null ? status : `${status} ${code}`));

function fileIn(content: string): NachaFile {
  const read = readNacha(content);
  if (!read.ok) throw new Error(JSON.stringify(read.faults));
  return read.file;
}

/** The payment's messages, oldest first, as what stands in them. */
async function filesOf(tenant: Tenant, id: string) {
  const messages = house.messages;
  return (await messages.list(tenant, id)).toReversed().map(({ kind, content }) => {
    const [batch] = fileIn(content).batches;
    const entry = batch?.entries[0];
    if (!batch || !entry) throw new Error('an excerpt has one entry');
    return { kind, header: batch.header, entry };
  });
}

async function expectBooksToAgree(tenants: readonly Tenant[], from: string, days: number): Promise<void> {
  for (const tenant of tenants)
    expect((await house.check(tenant)).checks.filter((check) => !check.ok)).toEqual([]);
  for (let day = 0; day < days; day += 1) {
    const report = await reconcile(house.database, {
      day: addDays(from, day),
      rail: { id: 'ach', books: achBooks },
      mode: 'test',
    });
    expect(report.network).toEqual(report.ours);
    expect(report.differences).toEqual([]);
  }
}

describe('asked for', () => {
  test('the second presentment settles: the payment was under way all the time', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant, { amount: 77_01, sourceId: 'pm_test_ach_return_once_r01' });
    await house.moveClock(tenant, fromNewYork(addDays(MONDAY, 1), '08:30'));
    const meanwhile = await house.get(tenant, id);
    expect(historyOf(meanwhile)).toBe('pending > processing');
    expect(meanwhile.failure).toBeNull();
    expect(attemptsOf(meanwhile)).toEqual(['returned R01', 'waiting']);
    // Debit in the night to Wednesday, credit in the night to Thursday.
    expect(meanwhile.estimatedSettlementAt).toEqual(fromNewYork(addDays(MONDAY, 3), '08:30'));
    await house.moveClock(tenant, fromNewYork(addDays(MONDAY, 4), '12:00'));
    const payment = await house.get(tenant, id);
    expect(historyOf(payment)).toBe('pending > processing > completed');
    expect(attemptsOf(payment)).toEqual(['returned R01', 'settled']);
    const [first, returned, second, credit, ...others] = await filesOf(tenant, id);
    expect(others).toEqual([]);
    expect([first?.kind, returned?.kind, second?.kind, credit?.kind]).toEqual([
      'nacha',
      'return',
      'nacha',
      'nacha',
    ]);
    expect(second?.header).toEqual({
      ...first?.header,
      batchNumber: second?.header.batchNumber,
      entryDescription: 'RETRY PYMT',
      effectiveDate: '830303',
    });
    expect(second?.entry).toEqual({ ...first?.entry, trace: second?.entry.trace });
    expect(second?.entry.trace).not.toBe(first?.entry.trace);
    expect(payment.attempts.map((attempt) => attempt.network_reference)).toEqual([
      first?.entry.trace,
      second?.entry.trace,
    ]);
    expect(credit?.header.entryDescription).toBe('PAYMENT');
    const { rows: events } = await house.database.query<{ type: string }>(
      'select type from events where subject_id = $1 order by id',
      [id],
    );
    expect(events.map(({ type }) => type)).toEqual([
      'payment.pending',
      'payment.processing',
      'payment.completed',
    ]);
    await expectBooksToAgree([tenant], MONDAY, 5);
  });

  test('no third time: the payment fails with what the bank said last', async () => {
    const tenant = await newTenant();
    const balance = await house.openBalance(tenant, 1);
    const ids = [
      await pay(tenant, { sourceId: 'pm_test_ach_return_r09' }),
      await pay(tenant, { sourceId: 'pm_test_ach_return_r01', destinationId: balance }),
    ];
    await house.moveClock(tenant, fromNewYork(addDays(MONDAY, 20), '12:00'));
    for (const [index, code] of ['R09', 'R01'].entries()) {
      const payment = await house.get(tenant, ids[index] as string);
      expect(historyOf(payment)).toBe('pending > processing > failed');
      expect(attemptsOf(payment)).toEqual([`returned ${code}`, `returned ${code}`, `returned ${code}`]);
      expect(new Set(payment.attempts.map((attempt) => attempt.network_reference)).size).toBe(3);
      expect(payment.failure).toMatchObject({ network_code: code });
    }
    await expectBooksToAgree([tenant], MONDAY, 21);
  });

  test('weekends and holidays are no banking days for it either', async () => {
    // The Thursday after is Thanksgiving: returned on Wednesday, presented again for Friday, then for Monday.
    const tenant = await newTenant('2083-11-23');
    const id = await pay(tenant, { sourceId: 'pm_test_ach_return_r01' });
    await house.moveClock(tenant, fromNewYork('2083-12-06', '12:00'));
    const debits = (await filesOf(tenant, id)).filter(({ kind }) => kind === 'nacha');
    expect(debits.map(({ header }) => header.effectiveDate)).toEqual(['831124', '831126', '831129']);
    expect(debits.map(({ header }) => header.entryDescription)).toEqual([
      'PAYMENT',
      'RETRY PYMT',
      'RETRY PYMT',
    ]);
  });

  test('in the standard window, also where the bank rejects its file; the credit is of the same day as it was paid for', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant, { sourceId: 'pm_test_ach_return_once_r01', prefer: 'speed' });
    await house.moveClock(tenant, fromNewYork(MONDAY, '23:00'));
    const entries = await findEntriesOf(house.database, [{ tenantId: tenant.id, id }]);
    const fileId = entries.find(({ presentment }) => presentment === 1)?.sentAs?.fileId ?? '';
    expect(await house.rejectFile(fileId, { reason: 'a test', resend: true })).toEqual({ ok: true });
    await house.moveClock(tenant, fromNewYork(addDays(MONDAY, 2), '14:00'));
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > completed');
    const sent = (await filesOf(tenant, id)).filter(({ kind }) => kind === 'nacha');
    expect(sent.map(({ header }) => `${header.effectiveDate} ${header.descriptiveDate}`)).toEqual([
      '830301 SD1300',
      // Of the file that was rejected.
      '830302 ',
      '830303 ',
      '830303 SD1300',
    ]);
  });

  test('also in a sandbox without a clock', async () => {
    const tenant = await house.addTenant('org_again_hurried');
    const id = await pay(tenant, { sourceId: 'pm_test_ach_return_once_r09' });
    await expect
      .poll(async () => historyOf(await house.get(tenant, id)))
      .toBe('pending > processing > completed');
    expect(attemptsOf(await house.get(tenant, id))).toEqual(['returned R09', 'settled']);
  });

  test('a payment that is ended by order meanwhile is not debited again', async () => {
    const tenant = await newTenant();
    const id = await pay(tenant, { sourceId: 'pm_test_ach_return_once_r01' });
    await house.moveClock(tenant, fromNewYork(addDays(MONDAY, 1), '08:30'));
    await house.force(tenant, id, 'return', 'R01');
    await house.moveClock(tenant, fromNewYork(addDays(MONDAY, 9), '08:30'));
    expect(historyOf(await house.get(tenant, id))).toBe('pending > processing > failed');
    expect((await filesOf(tenant, id)).map(({ kind }) => kind)).toEqual(['nacha', 'return']);
    await expectBooksToAgree([tenant], MONDAY, 10);
  });
});

describe('not asked for, or not allowed', () => {
  test.each([
    [0, ['returned R01']],
    [1, ['returned R01', 'returned R01']],
    [9, ['returned R01', 'returned R01', 'returned R01']],
  ])('%i times wanted', async (wanted, attempts) => {
    house.context.representmentsWanted = wanted;
    const tenant = await newTenant();
    const id = await pay(tenant, { sourceId: 'pm_test_ach_return_r01' });
    await house.moveClock(tenant, fromNewYork(addDays(MONDAY, 20), '12:00'));
    expect(attemptsOf(await house.get(tenant, id))).toEqual(attempts);
  });

  test('credits, and debits that came back for another reason or too late', async () => {
    const tenant = await newTenant();
    const balance = await house.openBalance(tenant, 100_00);
    const between = (sourceId: string, destinationId = 'pm_bob') =>
      pay(tenant, { sourceId, destinationId, amount: 10_00 });
    const ids = [
      await between('pm_test_ach_return_r03'),
      await between(balance, 'pm_test_ach_return_r01'),
      await between('pm_alice', 'pm_test_ach_return_r01'),
      await between('pm_test_ach_late_return_r01', balance),
    ];
    await house.moveClock(tenant, fromNewYork(addDays(MONDAY, 20), '12:00'));
    const payments = await Promise.all(ids.map((id) => house.get(tenant, id)));
    expect(payments.map(attemptsOf)).toEqual([
      ['returned R03'],
      ['returned R01'],
      ['returned R01'],
      ['returned R01'],
    ]);
    expect(payments.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed', 'returned']);
    await expectBooksToAgree([tenant], MONDAY, 21);
  });
});

describe('answers to the earlier and the later trace', () => {
  /** A payment whose second presentment is at the bank. */
  async function presentedTwice() {
    const tenant = await newTenant();
    const id = await pay(tenant, { sourceId: 'pm_test_ach_return_once_r01' });
    await house.moveClock(tenant, fromNewYork(addDays(MONDAY, 1), '23:00'));
    const [first, , second] = await filesOf(tenant, id);
    if (!first || !second) throw new Error('two presentments');
    const answer = (to: typeof first, code: string, sequence: number): Promise<Reading> => {
      const asOf = fromNewYork(addDays(MONDAY, 1), '23:00');
      const options = { asOf, originator: SANDBOX_ORIGINATOR, sequence };
      const content = writeNacha(answerFile([{ id: sequence, kind: 'return', code, original: to }], options));
      const file = { name: `answer-${sequence}.ach`, content };
      return house.database.transaction((tx) =>
        readAnswer(tx, house.context, { scope: tenant.id, file, asOf }),
      );
    };
    return { tenant, id, first, second, answer };
  }

  test('a second return of the first is put aside; the second goes its way', async () => {
    const { tenant, id, first, answer } = await presentedTwice();
    expect(await answer(first, 'R01', 1)).toEqual({
      status: 'read',
      aside: [expect.objectContaining({ reason: expect.stringContaining('the entry is returned') })],
    });
    expect(attemptsOf(await house.get(tenant, id))).toEqual(['returned R01', 'submitted']);
    await house.moveClock(tenant, fromNewYork(addDays(MONDAY, 4), '12:00'));
    expect(attemptsOf(await house.get(tenant, id))).toEqual(['returned R01', 'settled']);
    await expectBooksToAgree([tenant], MONDAY, 5);
  });

  test('another reason ends it at once', async () => {
    const { tenant, id, second, answer } = await presentedTwice();
    expect(await answer(second, 'R02', 2)).toEqual({ status: 'read', aside: [] });
    expect(attemptsOf(await house.get(tenant, id))).toEqual(['returned R01', 'returned R02']);
    expect((await house.get(tenant, id)).failure).toMatchObject({ network_code: 'R02' });
    await house.moveClock(tenant, fromNewYork(addDays(MONDAY, 9), '12:00'));
    expect((await house.get(tenant, id)).attempts).toHaveLength(2);
  });
});

describe('whatever comes back', () => {
  // Apart from days on which a bank's answers were made up, which the operator's books do not have.
  const OTHER_MONDAY = '2084-03-06';
  const source = fc.constantFrom(
    'pm_ordinary',
    'pm_test_ach_return_r01',
    'pm_test_ach_return_r09',
    'pm_test_ach_return_r03',
    'pm_test_ach_return_once_r01',
    'pm_test_ach_return_once_r09',
    'pm_test_ach_return_once_r10',
    'pm_test_ach_noc_c01',
  );
  const destination = fc.constantFrom(
    'pm_bob',
    'balance',
    'pm_test_ach_return_r08',
    'pm_test_ach_return_r02',
  );
  const order = fc.record({
    source,
    destination,
    amount: fc.integer({ min: 1, max: 2_000_000_00 }),
    prefer: fc.constantFrom('balanced' as const, 'speed' as const, 'cost' as const),
  });
  const wave = fc.record({
    orders: fc.array(order, { minLength: 3, maxLength: 6 }),
    hoursLater: fc.integer({ min: 1, max: 60 }),
  });

  test('never more than twice, never another code, and the books agree', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(wave, { minLength: 2, maxLength: 4 }),
        fc.integer({ min: 0, max: 2 }),
        async (waves, wanted) => {
          house.context.representmentsWanted = wanted;
          const tenant = await newTenant(OTHER_MONDAY);
          const balance = await house.openBalance(tenant, 1);
          let at = fromNewYork(OTHER_MONDAY, '09:00');
          for (const { orders, hoursLater } of waves) {
            at = new Date(at.getTime() + hoursLater * 3_600_000);
            await house.setClock(tenant, at);
            const paid = orders.map(({ source, destination, ...terms }) => {
              const destinationId = destination === 'balance' ? balance : destination;
              return house.pay(tenant, { sourceId: source, destinationId, ...terms });
            });
            await Promise.all(paid);
            await house.idle();
          }
          await house.moveClock(tenant, new Date(at.getTime() + 30 * 86_400_000));
          await expectRulesToHold(tenant, wanted);
          expect((await house.check(tenant)).checks.filter((check) => !check.ok)).toEqual([]);
        },
      ),
      { numRuns: 5, endOnFailure: true },
    );
    await expectBooksToAgree([], OTHER_MONDAY, 45);
  });

  /** By the operator's books, which know nothing of what was wanted: presentments under each reference, in order. */
  async function expectRulesToHold(tenant: Tenant, wanted: number): Promise<void> {
    const { rows } = await house.database.query<{ amounts: number; presented: number; earlier: string[] }>(
      `select count(distinct amount)::int as amounts, count(*)::int as presented,
         (array_agg(coalesce(return_code, 'none') order by day, trace))[1:count(*)::int - 1] as earlier
       from sandbox_ach_entries where mailbox = $1 and direction = 'debit' group by reference`,
      [tenant.id],
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { amounts, presented, earlier } of rows) {
      expect(presented).toBeLessThanOrEqual(1 + wanted);
      expect(amounts).toBe(1);
      expect(earlier.filter((code) => code !== 'R01' && code !== 'R09')).toEqual([]);
    }
    const { rows: open } = await house.database.query(
      `select id from payments where tenant_id = $1 and status in ('pending', 'processing')`,
      [tenant.id],
    );
    expect(open).toEqual([]);
  }
});

test('nothing failed, and nobody was alerted', () => {
  expect(house.errors).toEqual([]);
  expect(house.alerts).toEqual([]);
});

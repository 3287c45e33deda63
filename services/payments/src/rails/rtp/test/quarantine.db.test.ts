/** What must not be believed is put aside whole with the reason and an alert, and changes nothing. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Payment } from '../../../payments/payment.ts';
import { findPayment } from '../../../payments/store.ts';
import { createQuarantineResolving } from '../../../quarantine/resolving.ts';
import { businessMessageId, messageId } from '../identifiers.ts';
import { SANDBOX_IDENTITY, SANDBOX_NETWORK } from '../lines/connection.ts';
import { buildCreditTransfer, type CreditTransfer } from '../messages/credit-transfer.ts';
import { readCreditTransfer } from '../messages/read.ts';
import { buildStatusReport, reportOn } from '../messages/status-report.ts';
import { receivedText } from '../work/jobs.ts';
import { createHarness, type Harness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  // Nothing is asked in this test: payments to the silent account stay as they are.
  harness = await createHarness({ policy: { inquireAfterMs: 60_000 } });
  await harness.work();
});
afterAll(() => harness.stop());

let serial = 0;

interface ReportChanges {
  status?: 'ACTC' | 'RJCT' | 'RCVD';
  to?: string;
  transfer?: Partial<CreditTransfer>;
}

function report(
  transfer: CreditTransfer,
  { status = 'ACTC', to, transfer: changes }: ReportChanges = {},
): string {
  serial += 1;
  const at = transfer.createdAt;
  const id = { date: at.slice(0, 10), participant: SANDBOX_NETWORK, source: 'H', serial } as const;
  const header = {
    from: SANDBOX_NETWORK,
    to: to ?? SANDBOX_IDENTITY.participant,
    businessMessageId: businessMessageId(id),
    createdAt: at,
    copy: null,
  };
  const answer = {
    messageId: messageId(id),
    createdAt: at,
    status,
    reason: status === 'RJCT' ? { code: 'AC04', text: null } : null,
    acceptedAt: at,
    clearingReference: null,
  };
  return buildStatusReport(header, reportOn({ ...transfer, ...changes }, answer));
}

/** A payment that the network has and does not answer, and its transfer as it was sent. */
async function openPayment(): Promise<{ payment: Payment; transfer: CreditTransfer; sent: string }> {
  const [payment] = await harness.pay([{ destination: 'pm_test_rtp_timeout' }]);
  const sentAt = async () => {
    const { rows } = await harness.database.query<{ at: Date | null }>(
      'select first_sent_at as at from rtp_submissions where payment_id = $1',
      [payment?.id],
    );
    return rows[0]?.at ?? null;
  };
  await expect.poll(sentAt, { interval: 5 }).not.toBeNull();
  const [message] = await harness.messagesOf(payment as Payment);
  const reading = readCreditTransfer(message?.content ?? '');
  if (!reading.ok) throw new Error('the transfer cannot be read');
  return { payment: payment as Payment, transfer: reading.message, sent: message?.content ?? '' };
}

async function readAll(mode: 'test' | 'live', messages: readonly string[]): Promise<void> {
  await harness.read(mode, messages);
  const waiting = async () => {
    const { rows } = await harness.database.query(`select 1 from jobs where name = 'rtp.read'`);
    return rows.length;
  };
  await expect.poll(waiting, { interval: 5 }).toBe(0);
}

async function lastQuarantined() {
  const all = await harness.quarantine();
  return all.at(-1);
}

describe('messages that cannot be read', () => {
  const good = async () => report((await openPayment()).transfer);
  const garblings: [name: string, reason: RegExp, garble: (xml: string) => string][] = [
    ['truncated', /^malformed/, (xml) => xml.slice(0, -30)],
    [
      'with an entity of its own',
      /^forbidden_markup/,
      (xml) => xml.replace('?>', '?><!DOCTYPE m [<!ENTITY e SYSTEM "file:///etc/passwd">]>'),
    ],
    [
      'in another namespace',
      /^wrong_namespace/,
      (xml) => xml.replace('pacs.002.001.10"', 'pacs.002.001.03"'),
    ],
    [
      'with an element too many',
      /^unexpected_element/,
      (xml) => xml.replace('<ps:TxSts>', '<ps:TxSts>ACTC</ps:TxSts><ps:TxSts>'),
    ],
    ['that is no XML', /^malformed/, () => 'HTTP/1.1 502 Bad Gateway'],
    ['that is no text', /^malformed/, () => receivedText(Buffer.from([0xff, 0x00, 0x41]))],
    ['with a byte that no database takes', /^malformed/, (xml) => receivedText(Buffer.from(`${xml}\0`))],
  ];
  test.each(garblings)('%s', async (_name, reason, garble) => {
    const message = garble(await good());
    const alerts = harness.lines.length;
    await readAll('test', [message]);
    expect(await lastQuarantined()).toEqual({ content: message, reason: expect.stringMatching(reason) });
    await expect.poll(() => harness.lines.length).toBe(alerts + 1);
    expect(harness.lines.at(-1)).toMatchObject({ level: 'error', fields: { alert: 'rail_quarantine' } });
  });

  test('a transfer is no report', async () => {
    const { sent } = await openPayment();
    await readAll('test', [sent]);
    expect((await lastQuarantined())?.reason).toMatch(/^wrong_message/);
  });
});

describe('reports that must not be believed', () => {
  const cases: [name: string, reason: RegExp, changes: ReportChanges, mode: 'test' | 'live'][] = [
    ['for another participant', /^foreign/, { to: '999999992T1' }, 'test'],
    ['from the other network', /^foreign/, {}, 'live'],
    ['on another amount', /^mismatched/, { transfer: { amountCents: 99 } }, 'test'],
    [
      'on another message',
      /^mismatched/,
      { transfer: { messageId: 'M20261115110000026T1B00000099999999' } },
      'test',
    ],
    [
      'on an unknown instruction',
      /^unmatched/,
      {
        transfer: { instructionId: '20261115110000026T1BPAY199999999999' },
      },
      'test',
    ],
  ];
  test.each(cases)('%s', async (_name, reason, changes, mode) => {
    const { payment, transfer } = await openPayment();
    await readAll(mode, [report(transfer, changes)]);
    expect((await lastQuarantined())?.reason).toMatch(reason);
    expect((await harness.payment(payment)).status).toBe('processing');
    expect((await harness.messagesOf(payment)).map((one) => one.kind)).toEqual(['pacs.008']);
  });

  test('that came before is no news, and one under its id with another text is put aside', async () => {
    const { payment, transfer } = await openPayment();
    const message = report(transfer);
    await readAll('test', [message]);
    expect((await harness.payment(payment)).status).toBe('completed');
    const before = await lastQuarantined();
    await readAll('test', [message]);
    const other = await openPayment();
    const twice = report(other.transfer);
    await readAll('test', [twice, twice]);
    expect(await lastQuarantined()).toEqual(before);
    const changed = message.replace(/\n|$/, ' $&');
    await readAll('test', [changed, changed]);
    expect(await lastQuarantined()).toMatchObject({
      content: changed,
      reason: expect.stringMatching(/^replayed/),
    });
    for (const { kind, count } of [{ kind: 'pacs.002', count: 1 }]) {
      for (const one of [payment, other.payment]) {
        const kept = await harness.messagesOf(one);
        expect(kept.filter((kept) => kept.kind === kind)).toHaveLength(count);
      }
    }
  });

  test('that says no more than that the transfer arrived is kept once, however often it comes', async () => {
    const { payment, transfer } = await openPayment();
    const message = report(transfer, { status: 'RCVD' });
    const before = await lastQuarantined();
    for (let time = 0; time < 2; time += 1) await readAll('test', [message]);
    const kept = (await harness.messagesOf(payment)).filter(({ content }) => content === message);
    expect(kept).toHaveLength(1);
    expect(await lastQuarantined()).toEqual(before);
  });

  test('that contradicts what the network said before', async () => {
    const { payment, transfer } = await openPayment();
    await readAll('test', [report(transfer), report(transfer, { status: 'RJCT' })]);
    expect((await lastQuarantined())?.reason).toMatch(/^contradicts/);
    expect((await harness.payment(payment)).status).toBe('completed');
  });
});

test('a second report that agrees is kept and moves nothing', async () => {
  const { payment, transfer } = await openPayment();
  const before = (await harness.quarantine()).length;
  await readAll('test', [report(transfer, { status: 'RCVD' }), report(transfer), report(transfer)]);
  const done = await harness.payment(payment);
  expect(done.timeline.map((entry) => entry.status)).toEqual(['pending', 'processing', 'completed']);
  expect((await harness.messagesOf(payment)).map((one) => one.kind)).toEqual([
    'pacs.008',
    'pacs.002',
    'pacs.002',
    'pacs.002',
  ]);
  expect(await harness.quarantine()).toHaveLength(before);
});

test('good messages beside bad ones count, and the bad ones are put aside', async () => {
  const [first, second] = [await openPayment(), await openPayment()];
  const before = (await harness.quarantine()).length;
  await readAll('test', [
    report(first.transfer).slice(0, 500),
    report(first.transfer),
    '',
    report(second.transfer, { status: 'RJCT' }),
    buildCreditTransfer(
      {
        from: SANDBOX_NETWORK,
        to: SANDBOX_IDENTITY.participant,
        businessMessageId: 'B20261115990000001T1',
        createdAt: '2026-11-15T10:00:00',
        copy: null,
      },
      second.transfer,
    ),
  ]);
  expect((await harness.payment(first.payment)).status).toBe('completed');
  expect((await harness.payment(second.payment)).failure?.code).toBe('account_closed');
  expect(await harness.quarantine()).toHaveLength(before + 3);
  expect(harness.errors).toEqual([]);
});

describe('what the operator applies', () => {
  const unknownInstruction = { instructionId: '20261115110000026T1BPAY188888888888' };

  function resolving() {
    const { database, railWork, processing, quarantined } = harness;
    const { apply } = createQuarantineResolving({
      ...{ quarantine: quarantined, lockPayments: processing.lockPayments, findPayment },
      ...{ rails: railWork, now: () => new Date() },
    });
    return {
      apply: (id: string, paymentId: string) =>
        database.transaction((tx) => apply(tx, id, paymentId, 'admin_token')),
    };
  }

  /** A report that fits no instruction, put aside; answers its id. */
  async function asideOf(message: string): Promise<string> {
    await readAll('test', [message]);
    const { rows } = await harness.database.query<{ id: string }>(
      'select id from rail_quarantine order by received_at desc limit 1',
    );
    return rows[0]?.id ?? '';
  }

  test('[P-5.15] a report moves the payment that it is about, once', async () => {
    const { payment, transfer } = await openPayment();
    const id = await asideOf(report(transfer, { transfer: unknownInstruction }));
    const tries = await Promise.allSettled([1, 2, 3].map(() => resolving().apply(id, payment.id)));
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(tries.find(({ status }) => status === 'fulfilled')).toMatchObject({
      value: { status: 'applied', resolution: payment.id, resolvedAt: expect.any(Date) },
    });
    expect(tries.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'state_conflict' },
    });
    const done = await harness.payment(payment);
    expect(done.timeline.map(({ status }) => status)).toEqual(['pending', 'processing', 'completed']);
    expect((await harness.messagesOf(payment)).map(({ kind }) => kind)).toEqual(['pacs.008', 'pacs.002']);
  });

  test('[P-5.15] another amount, another outcome, or no report at all moves nothing and stays open', async () => {
    const { payment, transfer } = await openPayment();
    const other = { ...unknownInstruction, amountCents: transfer.amountCents + 1 };
    const undecided = { status: 'RCVD', transfer: unknownInstruction } as const;
    const asides = [
      await asideOf(report(transfer, { transfer: other })),
      await asideOf(report(transfer, undecided)),
      await asideOf('no report'),
    ];
    const refused = { code: 'quarantine_not_applicable' };
    for (const id of asides) await expect(resolving().apply(id, payment.id)).rejects.toMatchObject(refused);
    expect((await harness.payment(payment)).status).toBe('processing');

    await readAll('test', [report(transfer)]);
    const late = await asideOf(report(transfer, { status: 'RJCT', transfer: unknownInstruction }));
    await expect(resolving().apply(late, payment.id)).rejects.toMatchObject(refused);
    expect((await harness.payment(payment)).status).toBe('completed');
    const open = await harness.quarantined.list({
      rail: 'rtp',
      mode: null,
      status: 'open',
      before: null,
      limit: 100,
    });
    expect(open.map(({ id }) => id)).toEqual(expect.arrayContaining([...asides, late]));
    await expect(resolving().apply(late, 'pay_nothing')).rejects.toMatchObject({
      code: 'payment_not_found',
    });
  });
});

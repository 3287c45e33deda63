/** A payment's way over the rail and back, through the sandbox network, with the payments feature and a real worker. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock } from '../../../clock/clock.ts';
import { createAccountVault } from '../../../payment-methods/account-vault.ts';
import type { PaymentMethod } from '../../../payment-methods/method.ts';
import type { Tenant } from '../../../tenant.ts';
import { REJECT_REASONS } from '../codes.ts';
import { SANDBOX_IDENTITY } from '../lines/connection.ts';
import { readCreditTransfer, readStatusReport, readStatusRequest } from '../messages/read.ts';
import { schemaErrors, vectorsPresent } from '../messages/testing.ts';
import { ASK_JOB } from '../work/jobs.ts';
import { createHarness, type Harness, liveTenant, sealer, someone, testTenant } from './harness.ts';

let harness: Harness;
/** Questions after payments wait for this. */
let mayAsk: Promise<void> = Promise.resolve();

beforeAll(async () => {
  harness = await createHarness({
    ...{ answerMs: 5, policy: { inquireAfterMs: 150 } },
    wrapHandler: (handler) => ({
      ...handler,
      async handle(jobs, context) {
        if (handler.name.startsWith(ASK_JOB)) await mayAsk;
        await handler.handle(jobs, context);
      },
    }),
  });
  await harness.work();
});
afterAll(() => harness.stop());

async function settled(payment: Parameters<Harness['payment']>[0]) {
  await expect
    .poll(async () => (await harness.payment(payment)).status, { interval: 10 })
    .toMatch(/completed|failed/);
  return harness.payment(payment);
}

describe('the way of a payment', () => {
  test('it is sent, answered and completed, and both messages are kept', async () => {
    const source = await harness.addMethod(testTenant, someone);
    const [payment] = await harness.pay([{ source, amount: 1_000_000_00, description: 'Rent — May' }]);
    const done = await settled(payment!);
    expect(done.timeline.map((entry) => entry.status)).toEqual(['pending', 'processing', 'completed']);
    const [attempt] = done.attempts;
    expect(attempt).toMatchObject({ rail: 'rtp', status: 'settled', code: null });
    const messages = await harness.messagesOf(done);
    expect(messages.map(({ direction, kind }) => `${direction} ${kind}`)).toEqual([
      'out pacs.008',
      'in pacs.002',
    ]);
    const sent = readCreditTransfer(messages[0]!.content);
    expect(sent).toMatchObject({
      ok: true,
      header: { from: '110000026T1', to: '990000001T1', copy: null },
      message: {
        instructionId: attempt?.network_reference,
        endToEndId: done.id,
        amountCents: 1_000_000_00,
        categoryPurpose: 'CONSUMER',
        debtor: { name: 'Jose & Son' },
        remittance: 'Rent - May',
      },
    });
    const report = readStatusReport(messages[1]!.content);
    expect(report).toMatchObject({
      ok: true,
      message: { status: 'ACTC', original: { amountCents: 1_000_000_00 } },
    });
    const [booked] = await harness.network.books.find(harness.database, [attempt!.network_reference!]);
    expect(booked).toMatchObject({ status: 'ACTC', amountCents: 1_000_000_00, endToEndId: done.id });
  });

  test('many go together: every one is booked once', async () => {
    const paid = await harness.pay(Array.from({ length: 300 }, (_, index) => ({ amount: index + 1 })));
    await expect
      .poll(
        async () => {
          const { rows } = await harness.database.query<{ n: number }>(
            `select count(*)::int as n from payments where status = 'completed' and id = any($1)`,
            [paid.map((payment) => payment.id)],
          );
          return rows[0]?.n;
        },
        { interval: 20, timeout: 15_000 },
      )
      .toBe(300);
    const { rows } = await harness.database.query<{ n: number; amount: number }>(
      `select count(*)::int as n, sum(amount)::int as amount from sandbox_rtp_transfers where end_to_end_id = any($1)`,
      [paid.map((payment) => payment.id)],
    );
    expect(rows[0]).toEqual({ n: 300, amount: (300 * 301) / 2 });
  });

  test('the network, and our own record of it, agree', async () => {
    const range = { from: '2020-01-01', to: '2099-12-31' };
    const theirs = await harness.network.books.totalsByDay(harness.database, range);
    const { rows } = await harness.database.query<{ day: string; count: number; amount: number }>(
      `select settlement_date as day, count(*)::int as count, sum(amount)::bigint as amount from rtp_submissions
       where state = 'accepted' group by 1 order by 1`,
    );
    expect(rows.map(({ day, count, amount }) => ({ day, count, amountCents: amount }))).toEqual(theirs);
    expect(theirs.reduce((sum, { count }) => sum + count, 0)).toBe(301);
  });

  test.runIf(vectorsPresent)('everything that was sent and received is valid under the schemas', async () => {
    const kept = await harness.messages('order by id limit 20');
    const found = await schemaErrors(kept.map((message) => message.content));
    expect(found.flat()).toEqual([]);
  });
});

describe('rejects', () => {
  const cases = ['AC04', 'AM04', 'RC04', '9910', 'NARR', 'DUPL', 'MD07'];
  test.each(cases)('%s fails the payment with its meaning', async (code) => {
    const [payment] = await harness.pay([{ destination: `pm_test_rtp_reject_${code.toLowerCase()}` }]);
    const failed = await settled(payment!);
    const reason = REJECT_REASONS.get(code)!;
    expect(failed.status).toBe('failed');
    expect(failed.failure).toEqual({ code: reason.failureCode, network_code: code, detail: reason.title });
    expect(failed.attempts).toMatchObject([{ status: 'rejected', code }]);
  });

  test('one that may work on ACH reroutes a payment that allows it, any other does not', async () => {
    const [reroutable, final] = await harness.pay([
      { destination: 'pm_test_rtp_reject_rc04', rail: 'auto', fallback: true },
      { destination: 'pm_test_rtp_reject_ac04', rail: 'auto', fallback: true },
    ]);
    expect((await settled(final!)).attempts).toHaveLength(1);
    await expect
      .poll(async () =>
        (await harness.payment(reroutable!)).attempts.map((one) => `${one.rail} ${one.status}`),
      )
      .toEqual(['rtp rejected', 'ach submitted']);
    expect((await harness.payment(reroutable!)).status).toBe('processing');
  });
});

describe('time-outs', () => {
  test('silence is asked after with a status request, which finds the payment accepted', async () => {
    const [payment] = await harness.pay([
      { destination: 'pm_test_rtp_timeout', rail: 'auto', fallback: true },
    ]);
    await expect
      .poll(async () => (await harness.payment(payment!)).attempts[0]?.status, { interval: 10 })
      .toMatch(/unknown|settled/);
    const done = await settled(payment!);
    expect(done.status).toBe('completed');
    expect(done.attempts).toHaveLength(1);
    const messages = await harness.messagesOf(done);
    expect(messages.map(({ direction, kind }) => `${direction} ${kind}`)).toEqual([
      'out pacs.008',
      'out pacs.028',
      'in pacs.002',
    ]);
    const request = readStatusRequest(messages[1]!.content);
    expect(request).toMatchObject({
      ok: true,
      message: { transfer: { instructionId: done.attempts[0]?.network_reference } },
    });
    if (vectorsPresent) expect((await schemaErrors([messages[1]!.content])).flat()).toEqual([]);
  });

  test('or refused, and only then may another rail carry it', async () => {
    const [account, bank] = await harness.pay([
      { destination: 'pm_test_rtp_timeout_reject_ac04', rail: 'auto', fallback: true },
      { destination: 'pm_test_rtp_timeout_reject_rc04', rail: 'auto', fallback: true },
    ]);
    const failed = await settled(account!);
    expect(failed.failure).toMatchObject({ code: 'account_closed', network_code: 'AC04' });
    await expect
      .poll(async () => (await harness.payment(bank!)).attempts.map((one) => `${one.rail} ${one.status}`))
      .toEqual(['rtp rejected', 'ach submitted']);
  });
});

describe('the sandbox clock', () => {
  test('stamps everything, and nobody waits for the network', async () => {
    const at = new Date('2031-07-04T16:00:00.000Z');
    await harness.setClock({ state: 'frozen', at });
    const [payment, silent] = await harness.pay([{}, { destination: 'pm_test_rtp_timeout' }]);
    const done = await settled(payment!);
    const late = await settled(silent!);
    await harness.setClock(realClock);
    for (const one of [done, late]) {
      expect(one.timeline.map((entry) => entry.timestamp)).toEqual(Array(3).fill(at.toISOString()));
      expect(one.attempts[0]).toMatchObject({ submitted_at: at.toISOString(), settled_at: at.toISOString() });
      const messages = await harness.messagesOf(one);
      expect(messages.map((message) => message.created_at)).toEqual(messages.map(() => at));
      for (const { content } of messages) expect(content).toContain('2031-07-04T12:00:00');
    }
    const range = { from: '2031-07-04', to: '2031-07-04' };
    expect(await harness.network.books.totalsByDay(harness.database, range)).toMatchObject([{ count: 2 }]);
  });
});

test('an outcome that a developer orders is what the network answers', async () => {
  const { database, network } = harness;
  const asking = Promise.withResolvers<void>();
  mayAsk = asking.promise;
  const [silent] = await harness.pay([{ destination: 'pm_test_rtp_timeout' }]);
  await expect
    .poll(async () => (await harness.payment(silent!)).attempts[0]?.network_reference, { interval: 5 })
    .toBeTruthy();
  const reference = (await harness.payment(silent!)).attempts[0]?.network_reference as string;
  await network.order(database, reference, { status: 'RJCT', code: 'AC06' });
  asking.resolve();
  expect((await settled(silent!)).failure).toMatchObject({ network_code: 'AC06' });
  const [booked] = await network.books.find(database, [reference]);
  expect(booked).toMatchObject({ status: 'RJCT', code: 'AC06' });
});

describe('what cannot be sent', () => {
  function methodOf(tenant: Tenant, accountNumber: string): PaymentMethod {
    const key = { tenantId: tenant.id, id: 'pm_other' };
    const at = new Date(0);
    return {
      ...{ ...key, type: 'bank_account', railsSend: ['rtp'], railsReceive: ['rtp'], metadata: {} },
      bank: createAccountVault(sealer).seal(key, { ...someone, accountNumber }),
      ...{ createdAt: at, updatedAt: at, deletedAt: null },
    };
  }

  async function submit(tenant: Tenant, accountNumber = someone.accountNumber) {
    const [payment] = await harness.pay([{ tenant, rail: 'ach' }]);
    const destination = methodOf(tenant, accountNumber);
    const submissions = [
      {
        payment: payment!,
        attemptId: payment!.attempts[0]!.id,
        source: { ...destination, type: 'balance' as const, bank: null },
        destination,
        at: new Date(),
        acceptedAt: new Date(),
        clock: realClock,
      },
    ];
    return harness.database.transaction(async (tx) => {
      const result = await harness.rtp.submit(tx, submissions);
      // The worker may submit the payment at the same time; only what is written here is looked at.
      const mine = 'where payment_id = $1 and xmin = pg_current_xact_id()::xid';
      const kept = await harness.messages(mine, [payment!.id], tx);
      await tx.query('rollback');
      return { ...result, messages: kept.map((message) => message.content) };
    });
  }

  test('without a network for the mode it is refused, and another rail may carry it', async () => {
    const { outcomes, jobs, messages } = await submit(liveTenant);
    expect(outcomes).toMatchObject([
      { kind: 'rejected', code: 'network_unavailable', mayWorkElsewhere: true },
    ]);
    expect([jobs, messages]).toEqual([[], []]);
  });

  test('details that no message can carry are refused with an alert that does not repeat them', async () => {
    const { outcomes, jobs, messages } = await submit(testTenant, 'no spaces allowed');
    expect(outcomes).toMatchObject([{ kind: 'rejected', code: 'message_refused', mayWorkElsewhere: true }]);
    expect([jobs, messages]).toEqual([[], []]);
    expect(harness.lines).toHaveLength(1);
    expect(JSON.stringify(harness.lines.pop())).not.toContain('spaces');
  });

  test("money held here leaves from the sponsor's account", async () => {
    const { outcomes, jobs, messages } = await submit(testTenant);
    expect(outcomes).toMatchObject([{ kind: 'submitted' }]);
    expect(jobs).toHaveLength(1);
    const { routingNumber, accountNumber, accountName: name } = SANDBOX_IDENTITY;
    expect(readCreditTransfer(messages[0]!)).toMatchObject({
      message: { categoryPurpose: 'BUSINESS', debtor: { routingNumber, accountNumber, name } },
    });
  });
});

test('nothing is left over: no job, no error, no message put aside', async () => {
  await expect.poll(() => harness.jobsLeft()).toBe(0);
  expect(harness.errors).toEqual([]);
  expect(await harness.quarantine()).toEqual([]);
  expect(harness.lines).toEqual([]);
  // What somebody orders of the sandbox says nothing about the rail.
  expect(harness.health).toEqual({ failures: [], decisive: [], successes: 0 });
});

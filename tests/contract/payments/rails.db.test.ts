// The rails as a developer sees them: which one is chosen, test ids, windows, messages.
import { XMLParser } from 'fast-xml-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays, fromNewYork } from '../../../services/payments/src/clock/new-york.ts';
import { type Answer, type Harness, NEXT_YEAR, startHarness } from './harness.ts';
import { payingOn, payment } from './paying.ts';

let harness: Harness;
let keys = 0;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0', PAYMENTS_SANDBOX_ACH_MS: '200' } });
});
afterAll(() => harness.stop());

const { post, settled } = payingOn(() => harness);

async function newOrganisation() {
  const { test: key } = await harness.organisation();
  const call = (method: string, path: string, body?: unknown) =>
    harness.call(method, path, body === undefined ? { key } : { key, body });
  const pay = async (source: string, destination: string, more: object = {}): Promise<Answer['body']> => {
    keys += 1;
    const answer = await harness.call('POST', '/v1/payments', {
      key,
      headers: { 'idempotency-key': `k${keys}` },
      body: {
        amount: 12_345,
        currency: 'USD',
        source: { payment_method_id: source },
        destination: { payment_method_id: destination },
        rail: 'ach',
        ...more,
      },
    });
    expect(answer.status, answer.text).toBe(202);
    return answer.body;
  };
  const history = async (id: string) =>
    (await call('GET', `/v1/payments/${id}`)).body.timeline
      .map((one: Answer['body']) => one.status)
      .join(' > ');
  return { call, pay, history };
}

describe('the rail', () => {
  test('[P-4.13] [P-4.10] auto takes ACH for little money and RTP for much, and a quote says the same without a payment', async () => {
    const before = (await harness.call('GET', '/v1/payments?limit=1')).body.data[0]?.id;
    for (const [amount, rail] of [
      [1_000, 'ach'],
      [50_000_000, 'rtp'],
    ] as const) {
      const quote = await harness.call('POST', '/v1/payments/quote', { body: payment({ amount }) });
      expect(quote.status).toBe(200);
      expect(quote.body).toMatchObject({ object: 'quote', amount, currency: 'USD', rail_selected: rail });
      const chosen = quote.body.rail_decision.candidates.find((one: { rail: string }) => one.rail === rail);
      expect(quote.body.estimated_settlement_at).toBe(chosen.settles_at);
      expect(quote.body.fee).toEqual(chosen.fee);
    }
    expect((await harness.call('GET', '/v1/payments?limit=1')).body.data[0]?.id).toBe(before);
    expect((await post(payment({ amount: 1_000 }))).body.rail_selected).toBe('ach');
    expect((await post(payment({ amount: 50_000_000 }))).body.rail_selected).toBe('rtp');
    const fast = await post(payment({ amount: 1_000, routing: { prefer: 'speed' } }));
    expect(fast.body.rail_decision).toMatchObject({ prefer: 'speed', chosen: 'rtp' });
    const cheap = await post(payment({ amount: 50_000_000, routing: { prefer: 'cost' } }));
    expect(cheap.body.rail_decision).toMatchObject({ prefer: 'cost', chosen: 'ach' });
  });

  test('[P-4.12] a rail that cannot carry the payment is refused with its reasons', async () => {
    const noRtp = payment({ rail: 'rtp', destination: { payment_method_id: 'pm_test_no_rtp' } });
    const answer = await post(noRtp);
    expect([answer.status, answer.body.code]).toEqual([422, 'rail_not_available']);
    const rtp = answer.body.candidates.find((one: { rail: string }) => one.rail === 'rtp');
    expect(rtp).toMatchObject({ possible: false, reasons: ['destination_cannot_receive'] });
    // Codes are for programs; people get sentences.
    expect(answer.body.detail).toBe(
      'RTP cannot carry this payment: the destination account cannot receive by it. With the rail "auto", ACH can.',
    );
    expect(answer.body.errors).toEqual([
      {
        pointer: '/rail',
        code: 'rail_not_available',
        detail: 'The destination account cannot receive by it.',
      },
    ]);
    const over = await post(payment({ rail: 'rtp', amount: 1_000_000_001 }));
    expect(over.body.candidates.find((one: { rail: string }) => one.rail === 'rtp').reasons).toEqual([
      'amount_over_limit',
    ]);
    const automatic = await post(
      payment({ amount: 50_000_000, destination: { payment_method_id: 'pm_test_no_rtp' } }),
    );
    expect(automatic.body.rail_selected).toBe('ach');
  });

  test('[P-4.14] [P-7.4] a refusal that may not hold on ACH reroutes, one about the account fails', async () => {
    const large = { amount: 50_000_000, rail: 'auto' };
    const bank = await post(
      payment({ ...large, destination: { payment_method_id: 'pm_test_rtp_reject_ag03' } }),
    );
    expect(bank.body.rail_selected).toBe('rtp');
    await expect
      .poll(async () => (await harness.call('GET', `/v1/payments/${bank.body.id}`)).body.rail_selected)
      .toBe('ach');
    const rerouted = (await harness.call('GET', `/v1/payments/${bank.body.id}`)).body;
    expect(rerouted.attempts.map((one: Answer['body']) => one.rail)).toEqual(['rtp', 'ach']);
    expect(rerouted.attempts[0]).toMatchObject({ status: 'rejected', code: 'AG03' });
    const closed = await post(
      payment({ ...large, destination: { payment_method_id: 'pm_test_rtp_reject_ac04' } }),
    );
    const failed = await settled(closed.body.id, 'failed');
    expect(failed.failure).toMatchObject({ network_code: 'AC04', code: expect.any(String) });
    expect(failed.attempts.length).toBe(1);
    const alone = await post(
      payment({
        ...large,
        routing: { fallback: false },
        destination: { payment_method_id: 'pm_test_rtp_reject_ag03' },
      }),
    );
    expect((await settled(alone.body.id, 'failed')).attempts.length).toBe(1);
    const done = await settled(bank.body.id);
    expect(done.timeline.map((one: Answer['body']) => one.status)).toEqual([
      'pending',
      'processing',
      'completed',
    ]);
    const events = await harness.call('GET', '/v1/events?type=payment.rerouted&limit=100');
    expect(events.body.data.map((event: Answer['body']) => event.data.id)).toEqual([bank.body.id]);
  });
});

test('[P-7.4] ACH test ids return, return late, and notify of a change, on either side', async () => {
  const { call, pay, history } = await newOrganisation();
  const ids = {
    good: await pay('pm_alice', 'pm_bob'),
    debit: await pay('pm_test_ach_return_r01', 'pm_bob'),
    credit: await pay('pm_alice', 'pm_test_ach_return_r03'),
    late: await pay('pm_test_ach_late_return_r10', 'pm_bob'),
    lateCredit: await pay('pm_alice', 'pm_test_ach_late_return_r02'),
    changed: await pay('pm_alice', 'pm_test_ach_noc_c01'),
  };
  const ends = {
    good: 'pending > processing > completed',
    debit: 'pending > processing > failed',
    credit: 'pending > processing > failed',
    late: 'pending > processing > completed > returned',
    lateCredit: 'pending > processing > completed > returned',
    changed: 'pending > processing > completed',
  };
  for (const [name, end] of Object.entries(ends)) {
    const { id } = ids[name as keyof typeof ids];
    await expect.poll(() => history(id), { interval: 50 }).toBe(end);
  }
  const failed = (await call('GET', `/v1/payments/${ids.debit.id}`)).body;
  expect(failed.failure).toMatchObject({ network_code: 'R01', code: 'insufficient_funds' });
  expect(failed.attempts[0]).toMatchObject({ status: 'returned', code: 'R01' });
  const method = (await call('GET', '/v1/payment_methods/pm_test_ach_noc_c01')).body;
  const events = (await call('GET', '/v1/events?type=payment_method.updated')).body.data;
  expect(events.map((event: Answer['body']) => event.data)).toEqual([method]);
  await expect.poll(async () => (await call('GET', '/v1/ledger/check')).body.ok).toBe(true);
});

/** The two weeks that follow have no holiday, whichever year it is. */
function firstFridayOfMarch(year: number): string {
  const days = Array.from({ length: 7 }, (_, n) => `${year}-03-0${n + 1}`);
  return days.find((day) => new Date(day).getUTCDay() === 5) as string;
}

type Days = [saturday: string, monday: string, thursday: string];

test('[P-7.1] with a clock, ACH keeps the real windows: pending until the file leaves, completed after settlement', async () => {
  const { call, pay, history } = await newOrganisation();
  const setClock = async (day: string, time: string, lessMs = 0) => {
    const now = new Date(fromNewYork(day, time).getTime() - lessMs).toISOString();
    expect((await call('POST', '/v1/sandbox/clock', { now })).status).toBe(200);
  };
  const friday = firstFridayOfMarch(NEXT_YEAR);
  const [saturday, monday, thursday] = [1, 3, 6].map((days) => addDays(friday, days)) as Days;
  await setClock(friday, '12:00');
  const weekend = await pay('pm_alice', 'pm_bob');
  expect(weekend.estimated_settlement_at > monday).toBe(true);
  await setClock(friday, '15:00');
  await new Promise((done) => setTimeout(done, 300));
  expect(await history(weekend.id)).toBe('pending');
  await setClock(saturday, '07:00');
  await expect.poll(() => history(weekend.id)).toBe('pending > processing');
  await call('POST', '/v1/sandbox/clock', { advance: 'P1D' });
  await new Promise((done) => setTimeout(done, 300));
  expect(await history(weekend.id)).toBe('pending > processing');
  // The debit settles on Monday, is good on Wednesday, and the credit settles on Thursday.
  await setClock(thursday, '08:30', 1_000);
  await new Promise((done) => setTimeout(done, 300));
  expect(await history(weekend.id)).toBe('pending > processing');
  await setClock(thursday, '08:30');
  await expect.poll(() => history(weekend.id)).toBe('pending > processing > completed');
  const done = (await call('GET', `/v1/payments/${weekend.id}`)).body;
  expect(done.attempts[0].settled_at).toBe(weekend.estimated_settlement_at);
});

test('[P-10.16] messages are the real ones: NACHA lines of this payment alone, and ISO 20022', async () => {
  const { call, pay, history } = await newOrganisation();
  const ach = await pay('pm_alice', 'pm_bob', { description: 'Invoice 7' });
  const other = await pay('pm_alice', 'pm_carol', { amount: 999 });
  const rtp = await pay('pm_alice', 'pm_bob', { rail: 'rtp', description: 'Rent & more' });
  for (const { id } of [ach, other, rtp]) {
    await expect.poll(() => history(id)).toBe('pending > processing > completed');
  }
  const files = (await call('GET', `/v1/payments/${ach.id}/messages`)).body;
  expect(files).toMatchObject({ object: 'list', next_cursor: null });
  expect(files.data.map((one: Answer['body']) => [one.rail, one.direction, one.kind])).toEqual([
    ['ach', 'out', 'nacha'],
    ['ach', 'out', 'nacha'],
  ]);
  for (const { content } of files.data) {
    const lines = content.trimEnd().split('\n');
    expect(lines.length % 10).toBe(0);
    for (const line of lines) expect(line.length).toBe(94);
    expect(lines.map((line: string) => line[0]).join('')).toMatch(/^156+7*89+$/);
    expect(content).toContain('0000012345');
    expect(content).not.toContain('0000000999');
  }
  const messages = (await call('GET', `/v1/payments/${rtp.id}/messages`)).body.data as Answer['body'][];
  expect(messages.map((one) => [one.rail, one.direction, one.kind]).reverse()).toEqual([
    ['rtp', 'out', 'pacs.008'],
    ['rtp', 'in', 'pacs.002'],
  ]);
  for (const { content } of messages)
    expect(Object.keys(new XMLParser().parse(content)).length).toBeGreaterThan(0);
  expect(messages.at(-1)?.content).toContain('123.45');
  expect((await call('GET', '/v1/payments/pay_nothing/messages')).status).toBe(404);
});

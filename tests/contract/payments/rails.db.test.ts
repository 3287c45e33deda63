// The rails as a developer sees them: test ids, windows, messages.
import { XMLParser } from 'fast-xml-parser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Harness, startHarness } from './harness.ts';

let harness: Harness;
let keys = 0;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0', PAYMENTS_SANDBOX_ACH_MS: '200' } });
});
afterAll(() => harness.stop());

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

test('[P-7.1] with a clock, ACH keeps the real windows: pending until the file leaves, completed after settlement', async () => {
  const { call, pay, history } = await newOrganisation();
  // A Friday before a weekend: 2027-03-05, 12:00 in New York.
  await call('POST', '/v1/sandbox/clock', { now: '2027-03-05T17:00:00Z' });
  const payment = await pay('pm_alice', 'pm_bob');
  expect(payment.estimated_settlement_at > '2027-03-08').toBe(true);
  await call('POST', '/v1/sandbox/clock', { now: '2027-03-05T20:00:00Z' });
  await new Promise((done) => setTimeout(done, 300));
  expect(await history(payment.id)).toBe('pending');
  await call('POST', '/v1/sandbox/clock', { now: '2027-03-06T12:00:00Z' });
  await expect.poll(() => history(payment.id)).toBe('pending > processing');
  await call('POST', '/v1/sandbox/clock', { advance: 'P1D' });
  await new Promise((done) => setTimeout(done, 300));
  expect(await history(payment.id)).toBe('pending > processing');
  // The debit settles on Monday, is good on Wednesday, and the credit settles on Thursday.
  await call('POST', '/v1/sandbox/clock', { now: '2027-03-11T13:29:59Z' });
  await new Promise((done) => setTimeout(done, 300));
  expect(await history(payment.id)).toBe('pending > processing');
  await call('POST', '/v1/sandbox/clock', { now: '2027-03-11T13:30:00Z' });
  await expect.poll(() => history(payment.id)).toBe('pending > processing > completed');
  const done = (await call('GET', `/v1/payments/${payment.id}`)).body;
  expect(done.attempts[0].settled_at).toBe(payment.estimated_settlement_at);
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

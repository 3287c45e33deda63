// The books, and the controls of the sandbox: clock, forced outcomes, funding.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Harness, NEXT_YEAR, startHarness, TEST_CONNECTIONS } from './harness.ts';

let harness: Harness;
let keys = 0;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0', PAYMENTS_SANDBOX_ACH_MS: '60000' } });
});
afterAll(() => harness.stop());

test('what the longest id of an account owes is asked for by its own account', async () => {
  const { key } = await newOrganisation();
  const owed = `owed_pm_${'x'.repeat(252)}`;
  const entries = await harness.call('GET', `/v1/ledger/entries?account_id=${owed}`, { key });
  const cursor = Buffer.from(JSON.stringify([owed])).toString('base64url');
  const accounts = await harness.call('GET', `/v1/ledger/accounts?cursor=${cursor}`, { key });
  expect([entries.status, accounts.status]).toEqual([200, 200]);
});

async function newOrganisation() {
  const { test: key } = await harness.organisation();
  const call = (method: string, path: string, body?: unknown) =>
    harness.call(method, path, body === undefined ? { key } : { key, body });
  const pay = async (more: object = {}): Promise<Answer> => {
    keys += 1;
    return harness.call('POST', '/v1/payments', {
      key,
      headers: { 'idempotency-key': `k${keys}` },
      body: {
        amount: 2_500,
        currency: 'USD',
        source: { payment_method_id: 'pm_alice' },
        destination: { payment_method_id: 'pm_bob' },
        ...more,
      },
    });
  };
  const status = async (id: string) => (await call('GET', `/v1/payments/${id}`)).body.status as string;
  const balance = async (amount: number) => {
    const made = await call('POST', '/v1/payment_methods', { type: 'balance' });
    const funded = await call('POST', `/v1/sandbox/payment_methods/${made.body.id}/fund`, { amount });
    expect(funded.status).toBe(200);
    return { id: made.body.id as string, funded: funded.body };
  };
  return { key, call, pay, status, balance };
}

test('[P-7.3] [P-6.2] a funded balance pays, and its account shows pending and posted apart', async () => {
  const { call, pay, status, balance } = await newOrganisation();
  const from = await balance(10_000);
  const to = await balance(1);
  expect(from.funded.balance).toMatchObject({ posted: 10_000, available: 10_000 });
  await call('POST', '/v1/sandbox/clock', { advance: 'PT0S' });
  const held = await pay({ source: { payment_method_id: from.id }, rail: 'ach' });
  expect(held.status).toBe(202);
  const accounts = async () => {
    const list = (await call('GET', '/v1/ledger/accounts?limit=100')).body.data as Answer['body'][];
    return Object.fromEntries(list.map((account) => [account.payment_method_id ?? account.id, account]));
  };
  expect((await accounts())[from.id]).toMatchObject({
    type: 'balance',
    posted: 10_000,
    pending: -2_500,
    available: 7_500,
  });
  const booked = await pay({
    source: { payment_method_id: from.id },
    destination: { payment_method_id: to.id },
    amount: 500,
  });
  expect(booked.body.rail_selected).toBe('book');
  await expect.poll(() => status(booked.body.id)).toBe('completed');
  const after = await accounts();
  expect(after[from.id]).toMatchObject({ posted: 9_500, pending: -2_500, available: 7_000 });
  expect(after[to.id]).toMatchObject({ posted: 501, pending: 0, available: 501 });
  const entries = (await call('GET', `/v1/ledger/entries?payment_id=${booked.body.id}`)).body
    .data as Answer['body'][];
  expect(
    entries.map(({ account_id, direction, amount, state }) => [account_id, direction, amount, state]),
  ).toEqual([
    [to.id, 'credit', 500, 'posted'],
    [from.id, 'debit', 500, 'posted'],
    [to.id, 'credit', 500, 'pending'],
    [from.id, 'debit', 500, 'pending'],
  ]);
  const tooMuch = await pay({ source: { payment_method_id: from.id }, amount: 7_001 });
  expect([tooMuch.status, tooMuch.body.code]).toEqual([422, 'insufficient_funds']);
});

test('[P-6.2] what is pending of an account, and what is posted, follows from its entries as they are described', async () => {
  const { call, pay, balance } = await newOrganisation();
  const { id } = await balance(10_000);
  await call('POST', '/v1/sandbox/clock', { advance: 'PT0S' });
  const source = { payment_method_id: id };
  const force = async (outcome: string, payment: Answer, code?: string) =>
    expect((await call('POST', `/v1/sandbox/payments/${payment.body.id}/${outcome}`, { code })).status).toBe(
      200,
    );
  const [settled, returned, rejected] = [
    await pay({ source, rail: 'ach', amount: 1_000 }),
    await pay({ rail: 'ach', amount: 300 }),
    await pay({ destination: source, rail: 'ach', amount: 40 }),
  ];
  await pay({ source, rail: 'ach', amount: 5 });
  await force('settle', settled);
  await force('settle', returned);
  await force('return', returned, 'R10');
  await force('reject', rejected);
  const list = async (what: string) =>
    (await call('GET', `/v1/ledger/${what}?limit=100`)).body.data as Answer['body'][];
  const entries = await list('entries');
  const ended = new Set(entries.flatMap((one) => (one.state === 'pending' ? [] : one.payment_id)));
  const sum = (account: string, state: string, isMeant: (paymentId: string) => boolean) =>
    entries
      .filter((one) => one.account_id === account && one.state === state && isMeant(one.payment_id))
      .reduce((total, { direction, amount }) => total + (direction === 'credit' ? amount : -amount), 0);
  const accounts = await list('accounts');
  expect(accounts.length).toBeGreaterThan(4);
  for (const account of accounts)
    expect([account.id, account.posted, account.pending]).toEqual([
      ...[account.id, sum(account.id, 'posted', () => true)],
      sum(account.id, 'pending', (paymentId) => !ended.has(paymentId)),
    ]);
});

test('[P-7.3] [P-10.15] test money comes at the time of the clock, and not more at once than a payment moves', async () => {
  const { call, balance } = await newOrganisation();
  const now = `${NEXT_YEAR}-03-01T15:00:00.000Z`;
  await call('POST', '/v1/sandbox/clock', { now });
  const { id } = await balance(9_999_999_999);
  const entries = (await call('GET', '/v1/ledger/entries')).body.data as Answer['body'][];
  expect(entries.map(({ amount, created_at }) => [amount, created_at])).toEqual(
    Array(2).fill([9_999_999_999, now]),
  );
  const refused = await call('POST', `/v1/sandbox/payment_methods/${id}/fund`, { amount: 10_000_000_000 });
  expect([refused.status, refused.body.code]).toEqual([422, 'amount_too_large']);
});

test('[P-6.2] entries come in pages that visit each once', async () => {
  const { call, pay } = await newOrganisation();
  for (let n = 0; n < 4; n += 1) await pay({ rail: 'ach' });
  const all = (await call('GET', '/v1/ledger/entries?limit=100')).body.data.map(
    (entry: { id: string }) => entry.id,
  );
  const visited: string[] = [];
  for (let cursor = ''; ; ) {
    const page = (await call('GET', `/v1/ledger/entries?limit=3${cursor && `&cursor=${cursor}`}`)).body;
    visited.push(...page.data.map((entry: { id: string }) => entry.id));
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  expect(all.length).toBe(8);
  expect(visited).toEqual(all);
});

test('[P-6.3] the check is clean after every kind of end, and finds a balance that someone changed by hand', async () => {
  const { key, call, pay, status, balance } = await newOrganisation();
  const from = await balance(100_000);
  const source = { payment_method_id: from.id };
  const done = (await pay({ source, rail: 'rtp' })).body;
  const failed = (
    await pay({ source, rail: 'rtp', destination: { payment_method_id: 'pm_test_rtp_reject_ac04' } })
  ).body;
  await expect.poll(() => status(done.id)).toBe('completed');
  await expect.poll(() => status(failed.id)).toBe('failed');
  const check = await call('GET', '/v1/ledger/check');
  expect(check.body).toMatchObject({ ok: true, checked_at: expect.any(String) });
  expect(check.body.checks.length).toBeGreaterThanOrEqual(3);
  await harness.database.query(
    'update ledger_balances set posted = posted + 1 where payment_method_id = $1',
    [from.id],
  );
  const broken = await harness.call('GET', '/v1/ledger/check', { key });
  expect(broken.body.ok).toBe(false);
  expect(broken.body.checks.find((one: Answer['body']) => !one.ok)).toMatchObject({
    name: 'balances_match_entries',
    detail: expect.stringContaining(from.id),
  });
});

test('[P-7.1] [P-10.15] a frozen clock stamps exactly its own time, goes only forward, and runs on when set free', async () => {
  const { call, pay, status } = await newOrganisation();
  // Without one there is nothing to set free.
  expect((await call('DELETE', '/v1/sandbox/clock')).status).toBe(204);
  expect((await call('GET', '/v1/sandbox/clock')).body.state).toBe('real');
  const now = `${NEXT_YEAR}-03-01T15:00:00.000Z`;
  const set = await call('POST', '/v1/sandbox/clock', { now });
  expect([set.status, set.body.now, set.body.state]).toEqual([200, now, 'frozen']);
  const before = (await pay({ rail: 'ach' })).body;
  const instant = (await pay({ rail: 'rtp' })).body;
  expect([before.created_at, instant.created_at]).toEqual([now, now]);
  await expect.poll(() => status(instant.id)).toBe('completed');
  const stamped = (await call('GET', `/v1/payments/${instant.id}`)).body;
  expect(new Set(stamped.timeline.map((entry: Answer['body']) => entry.timestamp))).toEqual(new Set([now]));
  const back = await call('POST', '/v1/sandbox/clock', { now: `${NEXT_YEAR}-02-28T00:00:00Z` });
  expect([back.status, back.body.code]).toEqual([422, 'clock_backwards']);
  const never = await call('POST', '/v1/sandbox/clock', { now: `${NEXT_YEAR}-02-30T00:00:00Z` });
  expect([never.status, never.body.errors?.[0].pointer]).toEqual([422, '/now']);
  const moved = await call('POST', '/v1/sandbox/clock', { advance: 'P1DT1H' });
  expect(moved.body.now).toBe(`${NEXT_YEAR}-03-02T16:00:00.000Z`);
  expect((await call('DELETE', '/v1/sandbox/clock')).status).toBe(204);
  const running = await call('GET', '/v1/sandbox/clock');
  expect(running.body.state).toBe('running');
  expect(Date.parse(running.body.now) - Date.parse(`${NEXT_YEAR}-03-02T16:00:00.000Z`)).toBeLessThan(60_000);
  expect((await call('DELETE', '/v1/sandbox/clock')).status).toBe(204);
  expect((await call('GET', '/v1/sandbox/clock')).body.now >= running.body.now).toBe(true);
  const later = (await pay({ rail: 'rtp' })).body;
  expect(later.created_at > `${NEXT_YEAR}-03-02T16:00:00.000Z`).toBe(true);
  const ids = (await call('GET', '/v1/payments')).body.data.map((one: { id: string }) => one.id);
  expect(ids).toEqual([later.id, instant.id, before.id]);
  for (const bad of [
    {},
    { now, advance: 'P1D' },
    { now: 'soon' },
    { advance: '3 days' },
    { advance: '-P1D' },
  ]) {
    expect((await call('POST', '/v1/sandbox/clock', bad)).status, JSON.stringify(bad)).toBe(422);
  }
});

test('[P-7.2] outcomes can be forced where the state allows them, and are 409 where it does not', async () => {
  const { call, pay } = await newOrganisation();
  await call('POST', '/v1/sandbox/clock', { now: `${NEXT_YEAR}-03-01T15:00:00.000Z` });
  const force = (id: string, outcome: string, body: object = {}) =>
    call('POST', `/v1/sandbox/payments/${id}/${outcome}`, body);
  const settle = await force((await pay({ rail: 'ach' })).body.id, 'settle');
  expect(settle.status).toBe(200);
  expect(settle.body.timeline.map((one: Answer['body']) => one.status)).toEqual([
    'pending',
    'processing',
    'completed',
  ]);
  const returned = await force(settle.body.id, 'return', { code: 'R01' });
  expect(returned.body).toMatchObject({ status: 'returned', failure: { network_code: 'R01' } });
  expect((await force(settle.body.id, 'return', { code: 'R01' })).status).toBe(409);
  expect((await force(settle.body.id, 'settle')).status).toBe(409);
  const rejected = await force((await pay({ rail: 'ach' })).body.id, 'reject', { code: 'R03' });
  expect(rejected.body).toMatchObject({ status: 'failed', failure: { network_code: 'R03' } });
  const waiting = (await pay({ rail: 'ach' })).body;
  expect((await force(waiting.id, 'return', { code: 'R01' })).status).toBe(409);
  expect((await force(settle.body.id, 'return')).status).toBe(422);
  expect((await force(waiting.id, 'reject', { code: 'R99' })).status).toBe(422);
  // Banks send R61 about a return: it can come for no payment.
  const completed = await force((await pay({ rail: 'ach' })).body.id, 'settle');
  for (const [id, outcome] of [
    [waiting.id, 'reject'],
    [completed.body.id, 'return'],
  ]) {
    const answer = await force(id, outcome, { code: 'R61' });
    expect([answer.status, answer.body.errors?.[0].code]).toEqual([422, 'unknown_code']);
  }
  expect((await force('pay_nothing', 'settle')).status).toBe(404);
  expect((await call('GET', '/v1/ledger/check')).body.ok).toBe(true);
});

test('[P-7.4] a time-out is asked after, and ends as the network says', async () => {
  const { call, pay, status } = await newOrganisation();
  const accepted = (await pay({ rail: 'rtp', destination: { payment_method_id: 'pm_test_rtp_timeout' } }))
    .body;
  const refused = (
    await pay({ rail: 'rtp', destination: { payment_method_id: 'pm_test_rtp_timeout_reject_ac04' } })
  ).body;
  await expect.poll(() => status(accepted.id)).toBe('completed');
  await expect.poll(() => status(refused.id)).toBe('failed');
  const attempt = (await call('GET', `/v1/payments/${accepted.id}`)).body.attempts;
  expect(attempt.length).toBe(1);
});

test('[P-7.5] live keys have no sandbox', async () => {
  const { live } = await harness.organisation();
  const calls: [string, string, object?][] = [
    ['GET', '/v1/sandbox/clock'],
    ['POST', '/v1/sandbox/clock', { advance: 'P1D' }],
    ['DELETE', '/v1/sandbox/clock'],
    ['POST', '/v1/sandbox/payments/pay_x/settle', {}],
    ['POST', '/v1/sandbox/payment_methods/pm_x/fund', { amount: 1 }],
  ];
  for (const [method, path, body] of calls) {
    const answer = await harness.call(method, path, body ? { key: live, body } : { key: live });
    expect([answer.status, answer.body.code], path).toEqual([403, 'wrong_mode']);
  }
});

test('[P-3.12] test mode that holds all of its connections delays nothing that is live', async () => {
  const { test: key, live, id } = await harness.organisation();
  const timed = async (call: () => Promise<Answer>) => {
    const begun = performance.now();
    const answer = await call();
    return { status: answer.status, ms: performance.now() - begun };
  };
  const order = {
    ...{ amount: 100, currency: 'USD' },
    source: { payment_method_id: 'pm_nobody' },
    destination: { payment_method_id: 'pm_no_one' },
  };
  let stuck: Promise<Answer>[] = [];
  await harness.database.transaction(async (tx) => {
    // Whoever moves this organisation's clock waits for us, with a connection in hand.
    await tx.query('update organisations set name = name where id = $1', [id]);
    stuck = Array.from({ length: TEST_CONNECTIONS * 3 }, () =>
      harness.call('POST', '/v1/sandbox/clock', { key, body: { advance: 'P1D' } }),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const answers = [
      await timed(() => harness.call('GET', '/v1/payments', { key: live })),
      await timed(() => harness.call('GET', '/readyz', { key: null })),
      await timed(() =>
        harness.call('POST', '/v1/payments', {
          ...{ key: live, body: order },
          headers: { 'idempotency-key': 'beside' },
        }),
      ),
      await timed(() =>
        harness.call('POST', '/v1/payment_methods', { key: live, body: { type: 'balance' } }),
      ),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 422, 201]);
    // Nobody waited for those connections: that gives up after 10 s.
    for (const { ms } of answers) expect(ms).toBeLessThan(8_000);
  });
  expect(new Set((await Promise.all(stuck)).map(({ status }) => status))).toEqual(new Set([200]));
});

test('many who fund at once do not wait for connections that they hold themselves, nor does anybody else', async () => {
  const { call, balance } = await newOrganisation();
  const { id } = await balance(1);
  const begun = performance.now();
  const funding = Array.from({ length: 45 }, () =>
    call('POST', `/v1/sandbox/payment_methods/${id}/fund`, { amount: 1 }),
  );
  const ready = await harness.call('GET', '/readyz', { key: null });
  expect(ready.status).toBe(200);
  expect((await Promise.all(funding)).map(({ status }) => status)).toEqual(new Array(45).fill(200));
  // Waiting for a connection gives up after 10 s, which is how long everybody stood still.
  expect(performance.now() - begun).toBeLessThan(8_000);
});

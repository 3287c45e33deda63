// Refunds and fees over HTTP: what may be given back, once, however many ask; and what payments cost.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, type Instance, NEXT_YEAR, startHarness } from './harness.ts';

let harness: Harness;
let second: Instance;
let key: string;
let keys = 0;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '5', PAYMENTS_SANDBOX_ACH_MS: '50' } });
  second = await harness.another();
  key = (await harness.organisation()).test;
});
afterAll(() => harness.stop());

async function call(
  method: string,
  path: string,
  body?: unknown,
  more: { key?: string; on?: Instance } = {},
) {
  keys += 1;
  return (more.on ?? harness).call(method, path, {
    key: more.key ?? key,
    ...(body === undefined ? {} : { body }),
    headers: method === 'POST' ? { 'idempotency-key': `refunds ${keys}` } : {},
  });
}

interface Order {
  amount?: number;
  source?: string;
  destination?: string;
  rail?: string;
}

async function pay({
  amount = 1_000,
  source = 'pm_payer',
  destination = 'pm_shop',
  rail = 'rtp',
}: Order = {}) {
  const made = await call('POST', '/v1/payments', {
    ...{ amount, currency: 'USD', rail },
    source: { payment_method_id: source },
    destination: { payment_method_id: destination },
  });
  expect(made.status, made.text).toBe(202);
  return made.body;
}

async function inStatus(id: string, status: string) {
  await expect.poll(async () => (await call('GET', `/v1/payments/${id}`)).body.status).toBe(status);
  return (await call('GET', `/v1/payments/${id}`)).body;
}

const paid = async (order?: Order) => inStatus((await pay(order)).id, 'completed');
const refund = (id: string, body: object = {}, on?: Instance) =>
  call('POST', `/v1/payments/${id}/refunds`, body, on ? { on } : {});

async function openFunded(amount: number): Promise<string> {
  const { body } = await call('POST', '/v1/payment_methods', { type: 'balance' });
  await call('POST', `/v1/sandbox/payment_methods/${body.id}/fund`, { amount });
  return body.id;
}

test('[P-4.8] the export tells refunds from payments, and what is left of a payment', async () => {
  const { id, timeline } = await paid({ amount: 1_000 });
  const given = (await refund(id, { amount: 400 })).body;
  const { text } = await call('GET', '/v1/payments/export?format=csv');
  const [header = '', ...lines] = text.trim().split('\r\n');
  const names = header.split(',');
  const cells = (of: string) => {
    // Metadata is empty here, so that no cell but the first ones may hold a comma.
    const values = lines.find((line) => line.startsWith(of))?.split(',') ?? [];
    return Object.fromEntries(names.map((name, index) => [name, values[index]]));
  };
  const completed = timeline.find(({ status }: { status: string }) => status === 'completed');
  expect(cells(id)).toMatchObject({
    ...{ refund_of: '', refunded_amount: '400', completed_at: completed.timestamp },
  });
  expect(cells(given.id)).toMatchObject({ amount: '400', refund_of: id, refunded_amount: '0' });
});

test('[P-2.7] [P-4.30] a refund to a deleted payment method is refused, and no field of it is blamed', async () => {
  const first = await paid({ source: 'pm_leaves' });
  expect((await call('DELETE', '/v1/payment_methods/pm_leaves')).status).toBe(204);
  const { status, body } = await refund(first.id);
  expect([status, body.code, body.errors]).toEqual([422, 'payment_method_not_found', undefined]);
  expect(body.detail).toBe('There is no payment method pm_leaves.');
});

test('[P-2.7] [P-4.30] a refund from a balance that was emptied and deleted names it, and no lack of money', async () => {
  const balance = (await call('POST', '/v1/payment_methods', { type: 'balance' })).body.id;
  const first = await paid({ destination: balance });
  await paid({ source: balance });
  expect((await refund(first.id)).body.code).toBe('insufficient_funds');
  expect((await call('DELETE', `/v1/payment_methods/${balance}`)).status).toBe(204);
  expect((await refund(first.id)).body).toMatchObject({
    code: 'payment_method_not_found',
    detail: `There is no payment method ${balance}.`,
  });
});

test('[P-4.30] a refund is a payment the other way, accepted with 202, and the first one shows what was refunded', async () => {
  const first = await paid();
  expect(first).toMatchObject({ refund_of: null, refunded_amount: 0 });
  const part = await refund(first.id, { amount: 300, description: 'one shoe', metadata: { order: '7' } });
  expect(part.status).toBe(202);
  expect(part.body).toMatchObject({
    ...{ object: 'payment', status: 'pending', amount: 300, currency: 'USD', rail: 'auto' },
    ...{ refund_of: first.id, refunded_amount: 0, description: 'one shoe', metadata: { order: '7' } },
    source: { payment_method_id: 'pm_shop' },
    destination: { payment_method_id: 'pm_payer' },
  });
  expect((await call('GET', `/v1/payments/${first.id}`)).body.refunded_amount).toBe(300);
  const rest = await refund(first.id);
  expect(rest.body.amount).toBe(700);
  const listed = (await call('GET', '/v1/payments?limit=100')).body.data;
  expect(listed.find(({ id }: { id: string }) => id === first.id).refunded_amount).toBe(1_000);
  const refundsOf = async (id: string) =>
    (await call('GET', `/v1/payments?refund_of=${id}`)).body.data.map((one: { id: string }) => one.id);
  expect(await refundsOf(first.id)).toEqual([rest.body.id, part.body.id]);
  expect(await refundsOf(part.body.id)).toEqual([]);
  await inStatus(part.body.id, 'completed');
  const events = (await call('GET', `/v1/events?object_id=${part.body.id}`)).body.data;
  expect(events.map(({ type }: { type: string }) => type)).toContain('payment.completed');
  expect((await call('GET', '/v1/ledger/check')).body).toMatchObject({ ok: true });
});

test('[P-4.31] only a completed payment that is no refund itself can be refunded', async () => {
  const pending = await pay({ rail: 'ach' });
  const early = await refund(pending.id);
  expect([early.status, early.body.code]).toEqual([409, 'payment_not_refundable']);
  const first = await paid();
  const given = await refund(first.id, { amount: 1 });
  await inStatus(given.body.id, 'completed');
  const again = await refund(given.body.id);
  expect([again.status, again.body.code]).toEqual([409, 'payment_not_refundable']);
  expect((await refund('pay_nobody')).status).toBe(404);
  const stranger = (await harness.organisation()).test;
  const foreign = await call('POST', `/v1/payments/${first.id}/refunds`, {}, { key: stranger });
  expect(foreign.status).toBe(404);
});

test('[P-4.32] refunds add up to at most the amount; one that failed or was canceled gives its part back', async () => {
  const first = await paid({ source: 'pm_test_rtp_reject_ac04', amount: 500 });
  const refused = await refund(first.id, { amount: 501 });
  expect([refused.status, refused.body.code]).toEqual([422, 'refund_exceeds_payment']);
  expect([refused.body.refundable_amount, refused.body.errors]).toEqual([
    500,
    [{ pointer: '/amount', code: 'refund_exceeds_payment', detail: refused.body.detail }],
  ]);
  // Time stands still meanwhile: on a slow machine the refund would complete before it is rejected.
  await call('POST', '/v1/sandbox/clock', { advance: 'PT0S' });
  const failing = await refund(first.id, { amount: 500 });
  expect(failing.status).toBe(202);
  expect((await refund(first.id, { amount: 1 })).body.code).toBe('refund_exceeds_payment');
  expect((await refund(first.id)).body).toMatchObject({ code: 'refund_exceeds_payment' });
  expect((await refund(first.id)).body.errors, 'no field was sent').toBeUndefined();
  await call('POST', `/v1/sandbox/payments/${failing.body.id}/reject`, {});
  await inStatus(failing.body.id, 'failed');
  await call('DELETE', '/v1/sandbox/clock');
  expect((await call('GET', `/v1/payments/${first.id}`)).body.refunded_amount).toBe(0);
  expect((await refund(first.id, { amount: 500 })).status).toBe(202);
  expect((await refund(first.id, { amount: 0 })).status).toBe(422);
});

test('[P-2.2] a refund of more than one payment can carry says so, whatever else is wrong with it', async () => {
  const { id } = await paid();
  const alone = await refund(id, { amount: 10_000_000_000 });
  expect([alone.status, alone.body.code]).toEqual([422, 'amount_too_large']);
  expect(alone.body.errors).toMatchObject([{ pointer: '/amount', code: 'amount_too_large' }]);
  const both = await refund(id, { amount: 10_000_000_000, reason: 'broken' });
  expect([both.status, both.body.code]).toEqual([422, 'invalid_request']);
  expect(both.body.errors).toMatchObject([{ pointer: '/reason' }, { pointer: '/amount' }]);
});

test('[P-4.32] a refund that its destination keeps counts, also when its source took the money back later', async () => {
  const first = await paid({ amount: 500, destination: 'pm_test_ach_late_return_r10' });
  const given = (await refund(first.id)).body;
  expect(given.rail_selected).toBe('ach');
  const returned = await inStatus(given.id, 'returned');
  expect(returned.timeline.map(({ status }: { status: string }) => status)).toContain('completed');
  expect((await call('GET', `/v1/payments/${first.id}`)).body.refunded_amount).toBe(500);
  const again = await refund(first.id, { amount: 500 });
  expect([again.status, again.body.code]).toEqual([422, 'refund_exceeds_payment']);
  expect((await call('GET', '/v1/ledger/check')).body).toMatchObject({ ok: true });
});

test('[P-4.32] a refund that comes back from its destination gives its part back', async () => {
  const first = await paid({ amount: 500, source: 'pm_test_ach_late_return_r03' });
  const given = (await refund(first.id)).body;
  expect(given.rail_selected).toBe('ach');
  await inStatus(given.id, 'returned');
  expect((await call('GET', `/v1/payments/${first.id}`)).body.refunded_amount).toBe(0);
  expect((await refund(first.id, { amount: 500 })).status).toBe(202);
});

test('[P-4.34] refunds that have not left when their payment is returned are canceled, and say why; one that is under way goes on', async () => {
  const own = (await harness.organisation()).test;
  const ask = (method: string, path: string, body?: unknown) => call(method, path, body, { key: own });
  const show = async (id: string) => (await ask('GET', `/v1/payments/${id}`)).body;
  const made = await ask('POST', '/v1/payments', {
    ...{ amount: 900, currency: 'USD', rail: 'ach' },
    source: { payment_method_id: 'pm_test_no_rtp' },
    destination: { payment_method_id: 'pm_shop' },
  });
  const first: string = made.body.id;
  await expect.poll(async () => (await show(first)).status).toBe('completed');
  // Nothing leaves before Monday.
  const saturday = new Date(Date.UTC(NEXT_YEAR, 6, 10, 16));
  saturday.setUTCDate(saturday.getUTCDate() + 6 - saturday.getUTCDay());
  expect((await ask('POST', '/v1/sandbox/clock', { now: saturday.toISOString() })).status).toBe(200);
  const give = async (amount: number): Promise<string> => {
    const given = await ask('POST', `/v1/payments/${first}/refunds`, { amount });
    expect(given.body).toMatchObject({ status: 'pending', rail_selected: 'ach' });
    return given.body.id;
  };
  const left = await give(100);
  await ask('POST', '/v1/sandbox/clock', { advance: 'P3D' });
  await expect.poll(async () => (await show(left)).status).not.toBe('pending');
  await ask('POST', '/v1/sandbox/clock', { advance: 'P4D' });
  const waiting = await Promise.all([give(200), give(300)]);
  // More than are canceled at one stroke.
  await Promise.all(Array.from({ length: 100 }, () => give(1)));
  expect((await ask('POST', `/v1/sandbox/payments/${first}/return`, { code: 'R10' })).body.status).toBe(
    'returned',
  );
  const pending = () => ask('GET', `/v1/payments?refund_of=${first}&status=pending`);
  await expect.poll(async () => (await pending()).body.data).toEqual([]);
  for (const id of waiting) {
    expect((await show(id)).status).toBe('canceled');
    expect((await show(id)).failure).toEqual({
      ...{ code: 'payment_returned', network_code: null },
      detail: 'The payment that it gives back was returned.',
    });
    const { data } = (await ask('GET', `/v1/events?object_id=${id}`)).body;
    expect(data.map(({ type }: { type: string }) => type)).toEqual(['payment.canceled', 'payment.pending']);
  }
  await ask('POST', '/v1/sandbox/clock', { advance: 'P10D' });
  await expect.poll(async () => (await show(left)).status).toBe('completed');
  expect((await show(first)).refunded_amount).toBe(100);
  expect(await Promise.all(waiting.map(async (id) => (await show(id)).status))).toEqual([
    'canceled',
    'canceled',
  ]);
  expect((await ask('GET', '/v1/ledger/check')).body).toMatchObject({ ok: true });
});

test('[P-4.33] a refund needs an Idempotency-Key, and its repeat is the first answer again, also when nothing is left', async () => {
  const first = await paid();
  const path = `/v1/payments/${first.id}/refunds`;
  const bare = await harness.call('POST', path, { key, body: {} });
  expect([bare.status, bare.body.code]).toEqual([400, 'idempotency_key_required']);
  const send = (body: object) =>
    harness.call('POST', path, { key, body, headers: { 'idempotency-key': 'whole' } });
  const [once, twice] = [await send({}), await send({})];
  expect(twice.text).toBe(once.text);
  expect(twice.headers.get('idempotent-replayed')).toBe('true');
  expect((await send({ amount: 5 })).body.code).toBe('idempotency_key_reused');
  const other = await paid();
  const elsewhere = await harness.call('POST', `/v1/payments/${other.id}/refunds`, {
    ...{ key, body: {} },
    headers: { 'idempotency-key': 'whole' },
  });
  expect(elsewhere.status, 'keys belong to their path').toBe(202);
});

test('[P-4.30] between balances the refund moves at once, and never more than the balance has', async () => {
  const [source, destination] = [await openFunded(1_000), await openFunded(0 + 1)];
  const first = await paid({ source, destination, amount: 600, rail: 'auto' });
  expect(first.rail_selected).toBe('book');
  const spent = await paid({ source: destination, destination: source, amount: 200, rail: 'auto' });
  expect(spent.status).toBe('completed');
  const short = await refund(first.id);
  expect([short.status, short.body.code]).toEqual([422, 'insufficient_funds']);
  const given = await refund(first.id, { amount: 401 });
  expect((await inStatus(given.body.id, 'completed')).rail_selected).toBe('book');
  const { body } = await call('GET', `/v1/payment_methods/${source}`);
  expect(body.balance.available).toBe(1_000 - 600 + 200 + 401);
});

test('[P-4.32] however many refunds arrive at once over two processes, they never exceed the payment', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.array(
        fc.record({ amount: fc.integer({ min: 1, max: 40 }), other: fc.boolean(), repeat: fc.boolean() }),
        {
          minLength: 2,
          maxLength: 14,
        },
      ),
      async (amount, asked) => {
        const first = await paid({ amount });
        const answers = await Promise.all(
          asked.flatMap(({ amount: part, other, repeat }, index) => {
            const send = (on: Instance) =>
              on.call('POST', `/v1/payments/${first.id}/refunds`, {
                ...{ key, body: { amount: part } },
                headers: { 'idempotency-key': `together ${index}` },
              });
            const on = other ? second : harness;
            return repeat ? [send(on), send(harness)] : [send(on)];
          }),
        );
        expect(answers.filter(({ status }) => status !== 202 && status !== 422)).toEqual([]);
        const made = new Map(
          answers.filter(({ status }) => status === 202).map(({ body }) => [body.id, body.amount]),
        );
        const total = [...made.values()].reduce((sum, part) => sum + part, 0);
        expect(total).toBeLessThanOrEqual(amount);
        expect((await call('GET', `/v1/payments/${first.id}`)).body.refunded_amount).toBe(total);
        // Whoever was refused would really have been too much beside what was accepted before it.
        const refused = asked.filter((_, index) => !madeBy(answers, asked, index));
        for (const { amount: part } of refused) expect(total + part).toBeGreaterThan(amount);
      },
    ),
    { numRuns: 8 },
  );
  expect((await call('GET', '/v1/ledger/check')).body).toMatchObject({ ok: true });
});

test('[P-4.32] all that is left is refunded, also when a part of it goes at the same moment', async () => {
  for (let round = 0; round < 6; round += 1) {
    const { id } = await paid();
    const [part, rest] = await Promise.all([refund(id, { amount: 300 }, second), refund(id)]);
    expect(rest.status, rest.text).toBe(202);
    // Whoever comes first: either part and rest, or all of it and then nothing.
    expect([part.status, rest.body.amount]).toEqual(part.status === 202 ? [202, 700] : [422, 1_000]);
  }
});

test('[P-4.32] a refund that is sent several times at once takes its part once from what others may have', async () => {
  for (let round = 0; round < 5; round += 1) {
    const [first, other] = [await paid({ amount: 10 }), await paid({ amount: 10 })];
    const send = (name: string, amount: number, { id } = first) =>
      harness.call('POST', `/v1/payments/${id}/refunds`, {
        ...{ key, body: { amount } },
        headers: { 'idempotency-key': name },
      });
    // What is written first leaves alone; the others wait for it, and go together.
    const ahead = send('ahead', 1, other);
    const repeats = Array.from({ length: 6 }, () => send('four', 4));
    const answers = await Promise.all([ahead, ...repeats, send('six', 6)]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    expect((await call('GET', `/v1/payments/${first.id}`)).body.refunded_amount).toBe(10);
  }
});

/** Whether the request at this place was accepted, by any of its sendings. */
function madeBy(
  answers: readonly { status: number }[],
  asked: readonly { repeat: boolean }[],
  place: number,
): boolean {
  const begin = asked.slice(0, place).reduce((sum, { repeat }) => sum + (repeat ? 2 : 1), 0);
  const end = begin + (asked[place]?.repeat ? 2 : 1);
  return answers.slice(begin, end).some(({ status }) => status === 202);
}

test('[P-6.4] a completed payment owes its fee: booked between fees_owed and fee_revenue, shown by the month, and not given back', async () => {
  const { test: own } = await harness.organisation();
  const at = (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') =>
    call(method, path, body, { key: own });
  await at('/v1/sandbox/clock', { now: `${NEXT_YEAR}-03-31T12:00:00.000Z` });
  const order = {
    ...{ amount: 5_000, currency: 'USD', rail: 'rtp' },
    source: { payment_method_id: 'pm_a' },
    destination: { payment_method_id: 'pm_b' },
  };
  const first = (await at('/v1/payments', order)).body;
  const refused = (
    await at('/v1/payments', { ...order, destination: { payment_method_id: 'pm_test_rtp_reject_ac04' } })
  ).body;
  await expect.poll(async () => (await at(`/v1/payments/${first.id}`)).body.status).toBe('completed');
  await expect.poll(async () => (await at(`/v1/payments/${refused.id}`)).body.status).toBe('failed');
  const month = (await at(`/v1/fees?month=${NEXT_YEAR}-03`)).body;
  expect(month).toEqual({
    ...{ object: 'fees', month: `${NEXT_YEAR}-03`, currency: 'USD', total: first.fee.amount },
    by_rail: [{ rail: 'rtp', payments: 1, amount: first.fee.amount }],
  });
  await at('/v1/sandbox/clock', { advance: 'P1D' });
  const given = (await at(`/v1/payments/${first.id}/refunds`, {})).body;
  await at(`/v1/sandbox/payments/${given.id}/settle`, {});
  expect((await at(`/v1/fees?month=${NEXT_YEAR}-03`)).body.total).toBe(first.fee.amount);
  expect((await at(`/v1/fees?month=${NEXT_YEAR}-04`)).body.total).toBe(given.fee.amount);
  const accounts = (await at('/v1/ledger/accounts')).body.data;
  const owed = first.fee.amount + given.fee.amount;
  const shown = accounts.map(({ id, type, posted, pending }: Record<string, unknown>) => ({
    id,
    type,
    posted,
    pending,
  }));
  expect(shown).toContainEqual({ id: 'fees_owed', type: 'fees_owed', posted: -owed, pending: 0 });
  expect(shown).toContainEqual({ id: 'fee_revenue', type: 'fee_revenue', posted: owed, pending: 0 });
  const entries = (await at(`/v1/ledger/entries?payment_id=${first.id}`)).body.data;
  const posted = entries.filter(({ state }: { state: string }) => state === 'posted');
  expect(
    posted
      .map(({ account_id, direction, amount }: Record<string, unknown>) => [account_id, direction, amount])
      .sort(),
  ).toEqual([
    ['fee_revenue', 'credit', first.fee.amount],
    ['fees_owed', 'debit', first.fee.amount],
    ['outside_destinations', 'credit', 5_000],
    ['outside_sources', 'debit', 5_000],
  ]);
  expect((await at('/v1/ledger/check')).body).toMatchObject({ ok: true });
  for (const wrong of ['', '?month=2027-13', '?month=march', '?month=2027-03&more=1']) {
    expect((await at(`/v1/fees${wrong}`)).status, wrong).toBe(400);
  }
});

test('[P-6.5] the entries of one account are listed page by page to the last', async () => {
  // Nobody else's payments complete meanwhile.
  key = (await harness.organisation()).test;
  const source = await openFunded(1_000);
  for (const amount of [1, 2, 3]) await paid({ source, amount });
  const all = (await call('GET', `/v1/ledger/entries?account_id=${source}&limit=100`)).body.data;
  expect(all.length).toBe(7);
  for (const account of [source, 'fees_owed', 'outside_sources']) {
    const whole = (await call('GET', `/v1/ledger/entries?account_id=${account}&limit=100`)).body.data;
    for (const limit of [1, 2, 3]) {
      const seen: string[] = [];
      let cursor: string | null = '';
      for (let page = 0; cursor !== null && page < 200; page += 1) {
        const path = `/v1/ledger/entries?account_id=${account}&limit=${limit}${cursor && `&cursor=${cursor}`}`;
        const { body }: { body: { data: { id: string }[]; next_cursor: string | null } } = await call(
          'GET',
          path,
        );
        seen.push(...body.data.map(({ id }) => id));
        cursor = body.next_cursor;
        if (seen.length >= 100) break;
      }
      expect(seen.slice(0, 100)).toEqual(whole.slice(0, seen.length).map(({ id }: { id: string }) => id));
      expect(seen.length).toBeGreaterThanOrEqual(Math.min(100, whole.length));
    }
  }
});

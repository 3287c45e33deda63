// Payments over HTTP: accepting, replaying, listing, canceling.
import { once } from 'node:events';
import { request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { idTimeMs, newId } from '@libs/seal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Harness, type Instance, startHarness } from './harness.ts';
import { payingOn, payment } from './paying.ts';

let harness: Harness;
let second: Instance;

beforeAll(async () => {
  // Networks that answer at once keep the tests short; their timing has tests of its own.
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0', PAYMENTS_SANDBOX_ACH_MS: '100' } });
  second = await harness.another();
});
afterAll(() => harness.stop());

const { post, settled } = payingOn(() => harness);

describe('creating', () => {
  test('[P-4.1] [P-4.2] [P-2.3] answers 202 with the whole payment, pending, as the request spelled it', async () => {
    const answer = await post(
      payment({ currency: 'usD', description: 'Rent', metadata: { order: '7' }, rail: 'rtp' }),
    );
    expect(answer.status).toBe(202);
    const { body } = answer;
    expect(Object.keys(body).sort()).toEqual(
      [
        'id object mode status amount currency source destination rail rail_selected rail_decision attempts timeline',
        'failure fee refund_of refunded_amount description metadata estimated_settlement_at created_at updated_at',
      ]
        .join(' ')
        .split(' ')
        .sort(),
    );
    expect(body).toMatchObject({
      object: 'payment',
      mode: 'test',
      status: 'pending',
      amount: 2_500,
      currency: 'usD',
      rail: 'rtp',
      rail_selected: 'rtp',
      failure: null,
      description: 'Rent',
      metadata: { order: '7' },
      fee: { amount: 45, currency: 'USD' },
    });
    expect(body.id).toMatch(/^pay_/);
    expect(body.timeline).toEqual([{ status: 'pending', timestamp: body.created_at }]);
    expect(body.attempts).toEqual([
      {
        id: expect.stringMatching(/^att_/),
        rail: 'rtp',
        status: 'waiting',
        network_reference: null,
        submitted_at: null,
        settled_at: null,
        code: null,
        detail: null,
      },
    ]);
  });

  test('[P-4.11] moves through processing to completed, with an event for each entry of the timeline', async () => {
    const { body } = await post(payment({ rail: 'rtp' }));
    const done = await settled(body.id);
    expect(done.timeline.map((entry: { status: string }) => entry.status)).toEqual([
      'pending',
      'processing',
      'completed',
    ]);
    const stamps = done.timeline.map((entry: { timestamp: string }) => entry.timestamp);
    expect(stamps).toEqual([...stamps].sort());
    expect(done.attempts[0]).toMatchObject({ status: 'settled', network_reference: expect.any(String) });
    const events = await harness.call('GET', '/v1/events?limit=100');
    const own = events.body.data.filter((event: Answer['body']) => event.data.id === body.id);
    expect(own.map((event: Answer['body']) => event.type).reverse()).toEqual([
      'payment.pending',
      'payment.processing',
      'payment.completed',
    ]);
    expect(own[0].data).toEqual(done);
  });

  test('[P-2.2] [P-2.3] [P-10.7] [P-10.13] refuses what cannot be meant, by pointer', async () => {
    const refused: [object, string, string][] = [
      [{ amount: 10_000_000_000 }, 'amount_too_large', '/amount'],
      [{ currency: 'EUR' }, 'currency_not_supported', '/currency'],
      [
        { destination: { payment_method_id: 'pm_alice' } },
        'same_payment_method',
        '/destination/payment_method_id',
      ],
      [{ rail: 'ach', routing: { fallback: true } }, 'invalid_request', '/routing/fallback'],
      [{ amount: 0 }, 'invalid_request', '/amount'],
      [{ amount: 1.5 }, 'invalid_request', '/amount'],
      [{ amount: '5' }, 'invalid_request', '/amount'],
      [{ currency: 'USDX' }, 'invalid_request', '/currency'],
      [{ rail: 'wire' }, 'invalid_request', '/rail'],
      [{ routing: { prefer: 'luck' } }, 'invalid_request', '/routing/prefer'],
      [{ description: 'x'.repeat(141) }, 'invalid_request', '/description'],
      [{ metadata: { a: 1 } }, 'invalid_request', '/metadata/a'],
      [{ colour: 'blue' }, 'invalid_request', '/colour'],
      [{ source: {} }, 'invalid_request', '/source/payment_method_id'],
    ];
    for (const [more, code, pointer] of refused) {
      const answer = await post(payment(more));
      expect([answer.status, answer.body.code], JSON.stringify(more)).toEqual([422, code]);
      expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
    }
    expect((await post(payment({ amount: 9_999_999_999, rail: 'ach' }))).status).toBe(202);
  });

  test('[P-2.7] what fits the schema and cannot be meant is named at once, too', async () => {
    const answer = await post(
      payment({
        amount: 10_000_000_000,
        currency: 'EUR',
        destination: { payment_method_id: 'pm_alice' },
        rail: 'rtp',
        routing: { fallback: true },
      }),
    );
    expect([answer.status, answer.body.code]).toEqual([422, 'amount_too_large']);
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([
      '/amount',
      '/currency',
      '/routing/fallback',
      '/destination/payment_method_id',
    ]);
    const mixed = payment({
      amount: '5',
      currency: 'EUR',
      destination: { payment_method_id: 'pm_alice' },
      x: 1,
    });
    const quote = await harness.call('POST', '/v1/payments/quote', { body: mixed, key: 'sk_test_sandbox' });
    for (const refused of [await post(mixed), quote]) {
      expect([refused.status, refused.body.code]).toEqual([422, 'invalid_request']);
      const named = refused.body.errors.map((error: { pointer: string }) => error.pointer).sort();
      expect(named).toEqual(['/amount', '/currency', '/destination/payment_method_id', '/x']);
    }
    for (const body of [[], null, 'x', { source: null, destination: 7 }]) {
      expect((await post(body)).body.code).toBe('invalid_request');
    }
  });

  test('[P-4.15] [P-4.27] live money needs a configured rail and stored payment methods', async () => {
    const { live } = await harness.organisation();
    const unknown = await post(payment(), { key: live });
    expect([unknown.status, unknown.body.code]).toEqual([422, 'payment_method_not_found']);
    const account = (number: string) => ({
      type: 'bank_account',
      bank_account: {
        routing_number: '021000021',
        account_number: number,
        account_type: 'checking',
        holder_name: 'Ada',
        holder_type: 'individual',
      },
    });
    const [a, b] = await Promise.all(
      ['123456789', '987654321'].map((number) =>
        harness.call('POST', '/v1/payment_methods', { key: live, body: account(number) }),
      ),
    );
    const ready = payment({
      source: { payment_method_id: a?.body.id },
      destination: { payment_method_id: b?.body.id },
    });
    const answer = await post(ready, { key: live });
    expect([answer.status, answer.body.code]).toEqual([503, 'rail_not_configured']);
  });
});

describe('idempotency', () => {
  test('[P-4.3] [P-10.2] a key is required, may be quoted, and must be printable', async () => {
    const without = await harness.call('POST', '/v1/payments', { body: payment() });
    expect([without.status, without.body.code]).toEqual([400, 'idempotency_key_required']);
    for (const bad of ['', '""', 'x'.repeat(256), 'caf\u00e9']) {
      const answer = await post(payment(), { idempotencyKey: bad });
      expect(answer.status, bad).toBe(400);
    }
    const bare = await post(payment(), { idempotencyKey: 'spelled' });
    const quoted = await post(payment(), { idempotencyKey: '"spelled"' });
    expect(quoted.text).toBe(bare.text);
    const longest = await post(payment(), { idempotencyKey: `"${'y'.repeat(255)}"` });
    expect(longest.status).toBe(202);
  });

  test('[P-10.2] two keys are none: whoever adds one for each try would have every repeat paid anew', async () => {
    const { test: key } = await harness.organisation();
    const send = async (path: string, body: object, keys: string[]) => {
      const sending = request(`${harness.url}${path}`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          'idempotency-key': keys,
        },
      });
      sending.end(JSON.stringify(body));
      const [response] = await once(sending, 'response');
      return { status: response.statusCode, code: JSON.parse(await readText(response)).code };
    };
    const refused = { status: 400, code: 'idempotency_key_invalid' };
    for (const keys of [
      ['mine', 'first try'],
      ['mine', 'mine'],
      ['"mine"', '"first try"'],
    ]) {
      expect(await send('/v1/payments', payment(), keys)).toEqual(refused);
      expect(await send('/v1/payment_methods', { type: 'balance' }, keys)).toEqual(refused);
    }
    expect((await send('/v1/payments', payment(), ['mine, first try'])).status).toBe(202);
    const { body } = await harness.call('GET', '/v1/payments', { key });
    expect(body.data).toHaveLength(1);
  });

  test('[P-4.4] the same body in another order gets the first response byte for byte, also after the payment moved on', async () => {
    const first = await post(payment({ rail: 'rtp', metadata: { a: '1', b: '2' } }), {
      idempotencyKey: 'again',
    });
    await settled(first.body.id);
    const reordered = {
      metadata: { b: '2', a: '1' },
      rail: 'rtp',
      destination: { payment_method_id: 'pm_bob' },
      source: { payment_method_id: 'pm_alice' },
      currency: 'USD',
      amount: 2_500,
    };
    const replay = await post(reordered, { idempotencyKey: 'again', on: second });
    expect(replay.status).toBe(202);
    expect(replay.text).toBe(first.text);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(first.headers.get('idempotent-replayed')).toBeNull();
  });

  test('[P-4.4] the third repeat on is known by its bytes, and is the same response', async () => {
    const { test: key } = await harness.organisation();
    const send = { idempotencyKey: 'bytes', key };
    const first = await post(payment(), send);
    for (let repeat = 1; repeat <= 4; repeat += 1) {
      const answer = await post(payment(), send);
      expect([answer.status, answer.text]).toEqual([202, first.text]);
      expect(answer.headers.get('idempotent-replayed')).toBe('true');
      expect(answer.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(answer.headers.get('ratelimit-policy')).toBe(first.headers.get('ratelimit-policy'));
    }
    const other = await post(payment({ amount: 2_501 }), send);
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    const reordered = await post(Object.fromEntries(Object.entries(payment()).reverse()), send);
    expect([reordered.status, reordered.text]).toEqual([202, first.text]);
    const unknown = await post(payment(), { ...send, key: `${key}x` });
    expect(unknown.status).toBe(401);
  });

  test('[P-4.5] a repeat whose body comes in pieces or is cut off is read as any other', async () => {
    const { test: key } = await harness.organisation();
    const first = await post(payment(), { idempotencyKey: 'pieces', key });
    for (let repeat = 0; repeat < 3; repeat += 1) await post(payment(), { idempotencyKey: 'pieces', key });
    const text = JSON.stringify(payment());
    const inPieces = async (...pieces: string[]) => {
      const sending = request(`${harness.url}/v1/payments`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          ...{ 'idempotency-key': 'pieces', 'content-length': pieces.join('').length },
        },
      });
      sending.setNoDelay(true);
      const answered = once(sending, 'response');
      for (const piece of pieces) await new Promise((written) => sending.write(piece, written));
      sending.end();
      const [response] = await answered;
      return { status: response.statusCode, text: await readText(response) };
    };
    expect(await inPieces(text)).toEqual({ status: 202, text: first.text });
    expect(await inPieces(text.slice(0, 10), text.slice(10))).toEqual({ status: 202, text: first.text });
    expect((await inPieces(text.slice(0, -1), ' ')).status).toBe(400);
    // What comes behind an equal beginning counts, too.
    expect((await inPieces(text, 'x')).status).toBe(400);
    expect(await inPieces(text, ' ')).toEqual({ status: 202, text: first.text });
    expect((await inPieces(text.replace('2500', '2501'))).status).toBe(422);
  });

  test('[P-4.5] another body under the same key is refused', async () => {
    await post(payment(), { idempotencyKey: 'mine' });
    const answer = await post(payment({ amount: 1 }), { idempotencyKey: 'mine' });
    expect([answer.status, answer.body.code]).toEqual([422, 'idempotency_key_reused']);
  });

  test('[P-4.6] a hundred parallel posts of one key over two processes make one payment and a hundred equal bodies', async () => {
    const { test: key } = await harness.organisation();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        post(payment(), { idempotencyKey: 'one', key, on: n % 2 ? harness : second }),
      ),
    );
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
    const list = await harness.call('GET', '/v1/payments', { key });
    expect(list.body.data.length).toBe(1);
  });

  test('[P-4.7] keys of organisations are independent, and a refused request leaves its key free', async () => {
    const [one, two] = await Promise.all([harness.organisation(), harness.organisation()]);
    const bad = await post(payment({ source: { payment_method_id: 'nobody' } }), {
      idempotencyKey: 'free',
      key: one.test,
    });
    expect([bad.status, bad.body.code]).toEqual([422, 'payment_method_not_found']);
    const a = await post(payment(), { idempotencyKey: 'free', key: one.test });
    const b = await post(payment({ amount: 7 }), { idempotencyKey: 'free', key: two.test });
    expect([a.status, b.status]).toEqual([202, 202]);
  });
});

describe('reading', () => {
  test('[P-4.8] [P-10.8] [P-2.4] lists by every filter, in pages that visit each payment once', async () => {
    const { test: key, id: organisationId } = await harness.organisation();
    const made: Answer['body'][] = [];
    for (let n = 0; n < 7; n += 1) {
      const rail = n % 2 ? 'rtp' : 'ach';
      const destination = { payment_method_id: n < 3 ? 'pm_few' : 'pm_bob' };
      made.push((await post(payment({ rail, destination, metadata: { n: String(n) } }), { key })).body);
    }
    const list = async (query: string) => {
      const answer = await harness.call('GET', `/v1/payments?${query}`, { key });
      expect(answer.status, query).toBe(200);
      return answer.body;
    };
    const ids = (page: Answer['body']) => page.data.map((one: { id: string }) => one.id);
    const newestFirst = made.map((one) => one.id).reverse();
    expect(ids(await list('limit=100'))).toEqual(newestFirst);
    expect(ids(await list('rail=rtp'))).toEqual([5, 3, 1].map((n) => made[n].id));
    expect(ids(await list('payment_method=pm_few'))).toEqual([2, 1, 0].map((n) => made[n].id));
    expect(ids(await list('metadata[n]=4'))).toEqual([made[4].id]);
    expect(ids(await list('metadata[n]=4&metadata[m]=1'))).toEqual([]);
    expect(ids(await list(`limit=1&metadata[n]=4&rail=ach`))).toEqual([made[4].id]);
    expect(ids(await list('rail=ach&limit=2'))).toEqual([6, 4].map((n) => made[n].id));
    expect(ids(await list(`id_prefix=${made[2].id}`))).toEqual([made[2].id]);
    expect(ids(await list(`id_prefix=${made[2].id.slice(0, 10)}&limit=100`))).toEqual(newestFirst);
    expect(ids(await list('id_prefix=pay_zz'))).toEqual([]);
    const at = encodeURIComponent(made[3].created_at);
    expect(ids(await list(`created_after=${at}`))).toContain(made[3].id);
    expect(ids(await list(`created_before=${at}`))).not.toContain(made[3].id);
    // As programs write them, with microseconds: a moment later, though within the same millisecond.
    const justAfter = made[3].created_at.replace('Z', '001Z');
    expect(ids(await list(`created_after=${justAfter}`))).not.toContain(made[3].id);
    expect(ids(await list(`created_before=${justAfter}`))).toContain(made[3].id);
    // Hours and days apart, by clocks that were moved and by one that stands still while time goes on: each finds its own.
    const { database } = harness;
    const move = async (n: number, hours: number) => {
      const { rows } = await database.query<{ at: Date }>(
        'select created_at as at from payments where id = $1',
        [made[n].id],
      );
      const moved = new Date((rows[0]?.at.getTime() ?? 0) + hours * 3_600_000);
      await database.query('update payments set created_at = $2 where id = $1', [made[n].id, moved]);
    };
    const between = async (fromHours: number, toHours: number) => {
      const hoursFrom = (hours: number) =>
        encodeURIComponent(new Date(Date.parse(made[0].created_at) + hours * 3_600_000).toISOString());
      const page = await list(`created_after=${hoursFrom(fromHours)}&created_before=${hoursFrom(toHours)}`);
      return ids(page).map((id: string) => made.findIndex((one) => one.id === id));
    };
    for (let n = 1; n < 7; n += 1) await move(n, n * 24);
    expect(await between(24, 72)).toEqual([2, 1]);
    expect(await between(-1, 1)).toEqual([0]);
    expect(await between(100, 500)).toEqual([6, 5]);
    for (let n = 0; n < 7; n += 1) await move(n, -200);
    expect(await between(-101, 0)).toEqual([6, 5]);
    expect(await between(-500, -170)).toEqual([1, 0]);
    for (let n = 1; n < 7; n += 1) await move(n, 200 - n * 24);
    await move(0, 200);
    // Those of earlier days, whose ids say so, are found among them.
    const madeMs = Date.parse(made[0].created_at);
    for (const [days, n] of [1, 2, 3, 4, 5].entries())
      await database.query(
        `insert into payments (tenant_id, id, status, amount, source_id, destination_id, debit_account, credit_account, rail_selected,
           fallback, metadata, created_at, document)
         select tenant_id, $2, status, amount, source_id, destination_id, debit_account, credit_account, rail_selected, fallback, metadata,
           created_at - $3 * interval '1 day', replace(document, id, $2) from payments where id = $1`,
        [made[0].id, newId('pay', madeMs - (days + 1) * 86_400_000, () => Buffer.alloc(16, n)), days + 1],
      );
    const daysOf = async (from: number, to: number) => {
      const day = (days: number) => new Date(madeMs - days * 86_400_000).toISOString();
      const query = new URLSearchParams({ created_after: day(from), created_before: day(to) });
      return ids(await list(String(query))).map((id: string) =>
        Math.abs(Math.round((madeMs - (idTimeMs(id) ?? 0)) / 86_400_000)),
      );
    };
    expect(await daysOf(3.5, 1.5)).toEqual([2, 3]);
    expect(await daysOf(9, 3.5)).toEqual([4, 5]);
    expect((await daysOf(1.5, -1)).slice(-2)).toEqual([0, 1]);
    await database.query('delete from payments where tenant_id = $1 and created_at < $2', [
      `${organisationId}.test`,
      new Date(madeMs - 3_600_000),
    ]);
    await settled(made[5].id, 'completed', key);
    expect(ids(await list('status=completed'))).toContain(made[5].id);
    expect(ids(await list('status=canceled'))).toEqual([]);
    const visited: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await list(`limit=3${cursor && `&cursor=${cursor}`}`);
      visited.push(...ids(page));
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    expect(visited).toEqual(newestFirst);
    for (const bad of [
      'limit=0',
      'status=nice',
      'created_after=soon',
      'cursor=abc',
      'colour=blue',
      'metadata[]=x',
      'id_prefix=pm_1',
      'created_after=2026-02-30T00:00:00Z',
      'created_before=0000-12-31T23:00:00Z',
      'created_after=9999-12-31T23:59:59-12:00',
    ]) {
      const answer = await harness.call('GET', `/v1/payments?${bad}`, { key });
      expect([answer.status, answer.body.code], bad).toEqual([400, 'invalid_query']);
    }
  });

  test('[P-4.8] [P-10.8] finds by odd names of metadata, and between the first and the last moment', async () => {
    const { test: key } = await harness.organisation();
    const metadata = { 'a[b]': '1', 'c]': '2', ['😀'.repeat(40)]: '😀'.repeat(500) };
    const { id } = (await post(payment({ metadata }), { key })).body;
    const ends = { created_after: '0001-01-01', created_before: '9999-12-31T23:59:59Z' };
    for (const [name, value] of Object.entries(metadata)) {
      const query = new URLSearchParams({ ...ends, [`metadata[${name}]`]: value });
      const answer = await harness.call('GET', `/v1/payments?${query}`, { key });
      expect([answer.status, answer.body.data?.map((one: { id: string }) => one.id)], name).toEqual([
        200,
        [id],
      ]);
    }
    for (const query of ['created_before=0001-01-01', 'created_after=9999-12-31T23:59:59Z']) {
      expect((await harness.call('GET', `/v1/payments?${query}`, { key })).body.data, query).toEqual([]);
    }
  });

  test('[P-2.5] [P-2.7] names every bad parameter at once, pairs of metadata too', async () => {
    const { test: key } = await harness.organisation();
    const bad = 'limit=0&colour=blue&created_after=2026-02-30&metadata[]=x&metadata[n]=1&metadata[n]=2';
    for (const path of ['/v1/payments?', '/v1/payments/export?format=csv&']) {
      const answer = await harness.call('GET', `${path}${bad}`, { key });
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_query']);
      const named = answer.body.errors.map(({ parameter }: { parameter: string }) => parameter).sort();
      expect(named).toEqual(['colour', 'created_after', 'limit', 'metadata[]', 'metadata[n]']);
    }
  });

  test('[P-4.8] exports as CSV that spreadsheets do not run', async () => {
    const { test: key } = await harness.organisation();
    await post(payment({ description: '=1+1, "quoted"' }), { key });
    const answer = await harness.call('GET', '/v1/payments/export?format=csv', { key });
    expect(answer.headers.get('content-type')).toMatch(/^text\/csv/);
    const lines = answer.text.trim().split('\r\n');
    expect(lines.length).toBe(2);
    expect(lines[0]).toMatch(/^id,created_at,status,amount,currency/);
    expect(lines[1]).toContain(`"'=1+1, ""quoted"""`);
    expect(lines[0]).toMatch(/,updated_at,completed_at,refund_of,refunded_amount$/);
    expect((await harness.call('GET', '/v1/payments/export?format=pdf', { key })).status).toBe(400);
  });

  test('[P-4.9] cancels only what is pending', async () => {
    const { test: key } = await harness.organisation();
    await harness.call('POST', '/v1/sandbox/clock', { key, body: { advance: 'PT0S' } });
    const waiting = (await post(payment({ rail: 'ach' }), { key })).body;
    const canceled = await harness.call('POST', `/v1/payments/${waiting.id}/cancel`, { key });
    expect(canceled.status).toBe(200);
    expect(canceled.body.timeline.map((one: Answer['body']) => one.status)).toEqual(['pending', 'canceled']);
    const again = await harness.call('POST', `/v1/payments/${waiting.id}/cancel`, { key });
    expect([again.status, again.body.code]).toEqual([409, 'payment_not_cancelable']);
    const unknown = await harness.call('POST', '/v1/payments/pay_nothing/cancel', { key });
    expect(unknown.status).toBe(404);
  });
});

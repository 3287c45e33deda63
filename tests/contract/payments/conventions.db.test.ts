// What holds for every endpoint: lists, problems, methods, sizes, versions, idempotency keys of other POSTs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errors } from '../../../services/payments/src/errors.ts';
import { fingerprintOf } from '../../../services/payments/src/idempotency/key.ts';
import { ADMIN_TOKEN, type Answer, type Harness, startHarness } from './harness.ts';
import { payment } from './paying.ts';
import { signUp } from './person.ts';

let harness: Harness;
let key: string;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_ROLE: 'api' } });
  key = (await harness.organisation()).test;
});
afterAll(() => harness.stop());

const METHODS = '/v1/payment_methods';

function expectProblem(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.body).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) });
  expect(answer.body.type).toContain(`#${code}`);
  expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
  expect(errors.codes).toContain(code);
  expect(answer.text).not.toMatch(/\bat .+:\d+:\d+/);
}

const pointersOf = (answer: Answer) =>
  answer.body.errors.map((error: { pointer: string }) => error.pointer).sort();

test('[P-2.1] objects are snake_case with UTC milliseconds, and ids ascend', async () => {
  const made = [];
  for (let n = 0; n < 5; n += 1) {
    made.push((await harness.call('POST', METHODS, { key, body: { type: 'balance' } })).body);
  }
  const ids = made.map((method) => method.id);
  expect(ids).toEqual([...ids].sort());
  for (const method of made) {
    expect(method.id).toMatch(/^pm_[0-9a-z]+$/);
    expect(method.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    for (const name of Object.keys(method)) expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
  }
});

test('[P-2.4] following the cursor visits every item once, newest first', async () => {
  const { test: ownKey } = await harness.organisation();
  const ids: string[] = [];
  for (let n = 0; n < 7; n += 1) {
    ids.unshift((await harness.call('POST', METHODS, { key: ownKey, body: { type: 'balance' } })).body.id);
  }
  const seen: string[] = [];
  let cursor: string | null = '';
  let pages = 0;
  while (cursor !== null) {
    const path: string = `${METHODS}?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { body } = await harness.call('GET', path, { key: ownKey });
    expect(body.object).toBe('list');
    seen.push(...body.data.map((method: { id: string }) => method.id));
    cursor = body.next_cursor;
    pages += 1;
    // An item that arrives meanwhile is newer, and moves no page.
    if (pages === 1) await harness.call('POST', METHODS, { key: ownKey, body: { type: 'balance' } });
  }
  expect(seen).toEqual(ids);
  expect(pages).toBe(3);
});

test('[P-2.5] bad parameters of lists are 400 and named', async () => {
  const cases: [string, string][] = [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=1.5', 'limit'],
    ['cursor=made-up', 'cursor'],
    ['cursor=', 'cursor'],
    [`cursor=${Buffer.from('["dlv_01kaf3v6w8q2m5x9t7c4b1n0ze"]').toString('base64url')}`, 'cursor'],
    ['colour=red', 'colour'],
  ];
  const lists = ['/v1/payments', METHODS, '/v1/events', '/v1/webhook_endpoints'];
  for (const list of [...lists, '/v1/ledger/accounts', '/v1/ledger/entries']) {
    for (const [query, parameter] of cases) {
      const answer = await harness.call('GET', `${list}?${query}`, { key });
      expectProblem(answer, 400, 'invalid_query');
      expect(answer.body.errors).toMatchObject([{ parameter }]);
    }
    expect((await harness.call('GET', `${list}?limit=100`, { key })).status).toBe(200);
  }
});

test('[P-2.7] where no query is read, its parameters are refused by name all the same', async () => {
  const pay = (query: string) =>
    harness.call('POST', `/v1/payments${query}`, {
      key,
      body: payment(),
      headers: { 'idempotency-key': `pay${query}` },
    });
  const path = `/v1/payments/${(await pay('')).body.id}`;
  expect((await harness.call('POST', `${path.replace('/v1', '/v1/sandbox')}/settle`, { key })).status).toBe(
    200,
  );
  const idempotency = { headers: { 'idempotency-key': 'refund' } };
  for (const answer of [
    await pay('?dry_run=true'),
    await harness.call('POST', `${path}/refunds?amount=500`, { key, ...idempotency }),
    await harness.call('POST', `${path}/cancel?reason`, { key }),
    await harness.call('GET', `${path}?expand=source`, { key }),
    await harness.call('DELETE', `${METHODS}/pm_x?force=1`, { key }),
  ]) {
    expectProblem(answer, 400, 'invalid_query');
    expect(answer.body.errors).toMatchObject([{ code: 'unknown_parameter', parameter: expect.any(String) }]);
  }
  const { body: list } = await harness.call('GET', '/v1/payments', { key });
  expect(list.data).toMatchObject([{ status: 'completed', refunded_amount: 0 }]);
});

test('[P-2.6] every response has a request id, and problems repeat it', async () => {
  const given = 'my-own-request-id-1';
  const echoed = await harness.call('GET', METHODS, { key, headers: { 'x-request-id': given } });
  expect(echoed.headers.get('x-request-id')).toBe(given);
  expectProblem(await harness.call('GET', '/v1/nothing', { key }), 404, 'not_found');
  expectProblem(await harness.call('GET', METHODS, { key: null }), 401, 'unauthorized');
  expect((await harness.call('DELETE', `${METHODS}/pm_x`, { key })).headers.get('x-request-id')).toBeTruthy();
});

test('[P-2.7] where no body is read, its fields are refused by name all the same; an empty one is none', async () => {
  const { cookie } = await signUp(harness);
  const paths: Record<string, Record<string, { requestBody?: object; security?: object[] }>> = (
    await harness.call('GET', '/openapi.json')
  ).body.paths;
  const bodiless = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method, { requestBody }]) => method !== 'get' && requestBody === undefined)
        .map(([method, { security = [] }]) => ({ method: method.toUpperCase(), path, security })),
    );
  expect(bodiless.map(({ method, path }) => `${method} ${path}`)).toEqual(
    expect.arrayContaining([
      'POST /v1/payments/{id}/cancel',
      'POST /v1/webhook_endpoints/{id}/rotate_secret',
      'POST /v1/webhook_endpoints/{id}/test',
      'POST /v1/webhook_deliveries/{id}/retry',
      'DELETE /v1/sandbox/clock',
    ]),
  );
  for (const { method, path, security } of bodiless) {
    const takes = (scheme: string) => security.some((way) => scheme in way);
    const send = (sent: { raw?: string; headers?: Record<string, string> }) =>
      harness.call(method, path.replace(/{\w+}/, 'none_x'), {
        ...sent,
        key: takes('apiKey') ? key : takes('adminToken') ? ADMIN_TOKEN : null,
        headers: {
          ...sent.headers,
          ...(takes('apiKey') || takes('adminToken') ? {} : { cookie: cookie ?? '' }),
        },
      });
    const refused = await send({ raw: '{"amount":500,"a/b":null}' });
    expectProblem(refused, 422, 'invalid_request');
    expect(pointersOf(refused), `${method} ${path}`).toEqual(['/amount', '/a~1b']);
    expectProblem(await send({ raw: '[]' }), 422, 'invalid_request');
    for (const empty of [{}, { raw: '{}' }, { raw: '' }])
      expect((await send(empty)).body?.code ?? 'done', `${method} ${path}`).not.toBe('invalid_request');
  }
});

test('[P-2.7] a payment is not canceled in part: the field that asks for it is refused, and the payment goes on', async () => {
  const { body: payment } = await harness.call('POST', '/v1/payments', {
    key,
    body: {
      ...{ amount: 2_500, currency: 'USD', rail: 'ach' },
      ...{ source: { payment_method_id: 'pm_a' }, destination: { payment_method_id: 'pm_b' } },
    },
    headers: { 'idempotency-key': 'in_part' },
  });
  const answer = await harness.call('POST', `/v1/payments/${payment.id}/cancel`, {
    key,
    body: { amount: 500 },
  });
  expectProblem(answer, 422, 'invalid_request');
  expect((await harness.call('GET', `/v1/payments/${payment.id}`, { key })).body.status).toBe('pending');
});

test('[P-2.7] every bad field is named at once, missing and unknown ones too', async () => {
  const answer = await harness.call('POST', METHODS, {
    key,
    body: {
      type: 'bank_account',
      bank_account: {
        routing_number: '123456789',
        account_number: '12',
        account_type: 'gold',
        holder_name: '   ',
        iban: 'DE00',
      },
      metadata: { n: 1 },
      colour: 'red',
    },
  });
  expectProblem(answer, 422, 'invalid_request');
  expect(pointersOf(answer)).toEqual([
    '/bank_account/account_number',
    '/bank_account/account_type',
    '/bank_account/holder_name',
    '/bank_account/holder_type',
    '/bank_account/iban',
    '/bank_account/routing_number',
    '/colour',
    '/metadata/n',
  ]);
  const untyped = await harness.call('POST', METHODS, { key, body: {} });
  expect(pointersOf(untyped)).toEqual(['/type']);
});

test('[P-2.8] broken JSON is 400, JSON that does not fit is 422', async () => {
  for (const raw of ['{', 'nope', '{"type":"balance",}', '{"type":"balance","type":"balance"}', '']) {
    expectProblem(await harness.call('POST', METHODS, { key, raw }), 400, 'invalid_json');
  }
  for (const raw of [
    'null',
    '[]',
    '"balance"',
    '1',
    '{"type":"\\u0000"}',
    '{"type":"balance","__proto__":{}}',
  ]) {
    expectProblem(await harness.call('POST', METHODS, { key, raw }), 422, 'invalid_request');
  }
  const deep = `{"type":${'['.repeat(1_000)}${']'.repeat(1_000)}}`;
  expect((await harness.call('POST', METHODS, { key, raw: deep })).status).toBe(400);
});

test('[P-2.9] methods that an address does not take are 405 with Allow', async () => {
  const answer = await harness.call('PUT', METHODS, { key, body: {} });
  expectProblem(answer, 405, 'method_not_allowed');
  expect(answer.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(['GET', 'POST']));
  expectProblem(
    await harness.call('PATCH', '/v1/events/evt_x', { key, body: {} }),
    405,
    'method_not_allowed',
  );
});

test('[P-2.10] bodies over 64 KiB are 413, other types 415', async () => {
  const padding = (size: number) => `{"type":"balance","metadata":{"a":"${'x'.repeat(size)}"}}`;
  const whole = padding(64 * 1024 - padding(0).length);
  expect(whole.length).toBe(64 * 1024);
  expectProblem(await harness.call('POST', METHODS, { key, raw: whole }), 422, 'invalid_request');
  expectProblem(await harness.call('POST', METHODS, { key, raw: `${whole} ` }), 413, 'body_too_large');
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
    const answer = await harness.call('POST', METHODS, {
      key,
      raw: 'a=b',
      headers: { 'content-type': type },
    });
    expectProblem(answer, 415, 'unsupported_media_type');
  }
  const compressed = { key, raw: '{"type":"balance"}', headers: { 'content-encoding': 'gzip' } };
  expectProblem(await harness.call('POST', METHODS, compressed), 415, 'unsupported_media_type');
});

test('[P-2.12] the page of errors shows every code of the registry', async () => {
  const page = await harness.call('GET', '/docs/errors', { key: null });
  expect(page.status).toBe(200);
  for (const code of errors.codes) expect(page.text).toContain(`id="${code}"`);
});

test('[P-10.6] an unknown Api-Version is 400', async () => {
  const get = (version: string) => harness.call('GET', METHODS, { key, headers: { 'api-version': version } });
  expect((await get('2026-11-15')).status).toBe(200);
  for (const version of ['2026-11-14', 'latest', '2026-11-15, 2026-11-15']) {
    const answer = await get(version);
    expectProblem(answer, 400, 'unsupported_api_version');
    expect(answer.body.supported_versions).toContain('2026-11-15');
  }
});

describe('idempotency of other POSTs', () => {
  const body = { type: 'balance', metadata: { a: '1', b: '2' } };
  const post = (idempotencyKey: string, more: { key?: string; body?: unknown } = {}) =>
    harness.call('POST', METHODS, {
      key,
      body,
      ...more,
      headers: { 'idempotency-key': idempotencyKey },
    });

  test('[P-10.3] a repeat is the first response again, whatever the order of the fields', async () => {
    const first = await post('again');
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const second = await post('again', { body: { metadata: { b: '2', a: '1' }, type: 'balance' } });
    expect(second.status).toBe(201);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.text).toBe(first.text);
    const without = await harness.call('POST', METHODS, { key, body });
    expect(without.body.id).not.toBe(first.body.id);
  });

  test('[P-10.2] a quoted key is the bare one; bad keys are 400', async () => {
    const first = await post('quoted-key');
    expect((await post('"quoted-key"')).text).toBe(first.text);
    const longest = 'k'.repeat(255);
    expect((await post(longest)).status).toBe(201);
    expect((await post(`"${longest}"`)).headers.get('idempotent-replayed')).toBe('true');
    for (const bad of ['', `${longest}k`, `"${longest}k"`, '""', '"open', '"a"b"', 'ümlaut', 'tab\tinside']) {
      expectProblem(await post(bad), 400, 'idempotency_key_invalid');
    }
  });

  test('[P-10.3] the same key with another body is refused; refused requests leave the key free', async () => {
    await post('other-body');
    expectProblem(await post('other-body', { body: { type: 'balance' } }), 422, 'idempotency_key_reused');
    const bad = {
      type: 'bank_account',
      bank_account: { routing_number: '1' },
    };
    expect((await post('refused', { body: bad })).status).toBe(422);
    expect((await post('refused')).status).toBe(201);
  });

  test('[P-10.3] keys are scoped to organisation, mode and path', async () => {
    const one = await harness.organisation();
    const two = await harness.organisation();
    const answers = await Promise.all(
      [one.test, one.live, two.test].map((own) => post('scoped', { key: own })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(3);
    const elsewhere = await harness.call('POST', '/v1/webhook_endpoints', {
      key: one.test,
      body: { url: 'http://localhost:9/' },
      headers: { 'idempotency-key': 'scoped' },
    });
    expect(elsewhere.status).toBe(201);
  });

  test('[P-10.3] an address is the same however it is spelled: the work is done once', async () => {
    const { id } = (await harness.call('POST', METHODS, { key, body: { type: 'balance' } })).body;
    const send = (path: string, sent?: object) =>
      harness.call('POST', path, { key, body: sent, headers: { 'idempotency-key': 'spelled' } });
    const fund = (spelled: string) => send(`/v1/sandbox/payment_methods/${spelled}/fund`, { amount: 500 });
    const first = await fund(id);
    expect(first.body.balance.available).toBe(500);
    for (const spelled of [id.replace('_', '%5F'), id.replace('_', '%5f'), `%70${id.slice(1)}`]) {
      const again = await fund(spelled);
      expect([again.headers.get('idempotent-replayed'), again.text]).toEqual(['true', first.text]);
    }
    const elsewhere = await send(`/v1/sandbox/payment%5Fmethods/${id}/fund?`, { amount: 500 });
    expect(elsewhere.text).toBe(first.text);
    const { rows } = await harness.database.query<{ path: string }>(
      `select path from idempotency_keys where key = 'spelled'`,
    );
    expect(rows, 'as it was stored before').toEqual([{ path: `/v1/sandbox/payment_methods/${id}/fund` }]);

    const payment = await harness.call('POST', '/v1/payments', {
      key,
      headers: { 'idempotency-key': 'spelled' },
      body: {
        ...{ amount: 2_500, currency: 'USD', rail: 'ach' },
        ...{ source: { payment_method_id: 'pm_a' }, destination: { payment_method_id: 'pm_b' } },
      },
    });
    const canceled = await send(`/v1/payments/${payment.body.id}/cancel`);
    expect(canceled.status).toBe(200);
    const again = await send(`/v1/payments/${payment.body.id.replace('_', '%5F')}/cancel`);
    expect(again.text).toBe(canceled.text);
  });

  test('[P-10.3] parallel repeats over two processes do the work once', async () => {
    const other = await harness.another();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        (n % 2 ? other : harness).call('POST', METHODS, {
          key,
          body,
          headers: { 'idempotency-key': 'parallel' },
        }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(59);
  });

  test('[P-10.3] a replayed secret is the first one, and is not stored in the clear', async () => {
    const create = () =>
      harness.call('POST', '/v1/webhook_endpoints', {
        key,
        body: { url: 'http://localhost:9/' },
        headers: { 'idempotency-key': 'secret' },
      });
    const first = await create();
    expect((await create()).body.secret).toBe(first.body.secret);
    const { rows } = await harness.database.query('select k::text as row from idempotency_keys k');
    expect(rows.map(({ row }) => row).join()).not.toContain(first.body.secret.slice(6));
  });

  test('[P-10.3] what is kept of a body does not tell the account number in it to whoever tries them all', async () => {
    const account = {
      routing_number: '021000021',
      account_number: '9876543210',
      account_type: 'checking',
      holder_name: 'Ada',
      holder_type: 'individual',
    };
    const create = (account_number: string) =>
      harness.call('POST', METHODS, {
        key,
        body: { type: 'bank_account', bank_account: { ...account, account_number } },
        headers: { 'idempotency-key': 'guessed' },
      });
    const first = await create(account.account_number);
    expect(first.status).toBe(201);
    const guess = fingerprintOf({ type: 'bank_account', bank_account: account }).toString('hex');
    const { rows } = await harness.database.query<{ row: string }>(
      `select k::text as row from idempotency_keys k where key = 'guessed'`,
    );
    expect(rows.map(({ row }) => row.includes(guess))).toEqual([false]);
    expect((await create(account.account_number)).text).toBe(first.text);
    expect((await create('9876543211')).body.code).toBe('idempotency_key_reused');
  });

  test("[P-10.3] the operator's POSTs honour it, too", async () => {
    const create = () =>
      harness.call('POST', '/v1/admin/organisations', {
        key: ADMIN_TOKEN,
        body: { name: 'Once' },
        headers: { 'idempotency-key': 'admin' },
      });
    expect((await create()).text).toBe((await create()).text);
  });
});

test('[P-10.5] metadata is bounded', async () => {
  const create = async (metadata: Record<string, string>) =>
    (await harness.call('POST', METHODS, { key, body: { type: 'balance', metadata } })).status;
  const pairs = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']));
  expect(await create(pairs(50))).toBe(201);
  expect(await create(pairs(51))).toBe(422);
  expect(await create({ ['k'.repeat(40)]: 'v'.repeat(500) })).toBe(201);
  expect(await create({ ['k'.repeat(41)]: 'v' })).toBe(422);
  expect(await create({ k: 'v'.repeat(501) })).toBe(422);
});

describe('[P-10.4] retention', () => {
  const DAY_MS = 86_400_000;

  test('[P-10.4] keys go after 30 days and events after 90', async () => {
    const { test: ownKey } = await harness.organisation();
    const create = () =>
      harness.call('POST', METHODS, {
        key: ownKey,
        body: { type: 'balance' },
        headers: { 'idempotency-key': 'kept' },
      });
    const first = await create();
    const sweep = async () => {
      await harness.parts.access.idempotency.sweep(1_000);
      await harness.parts.webhooks.events.sweep(1_000);
    };
    const events = async () => (await harness.call('GET', '/v1/events', { key: ownKey })).body.data.length;
    harness.time.advance(30 * DAY_MS - 60_000);
    await sweep();
    expect((await create()).text).toBe(first.text);
    harness.time.advance(120_000);
    await sweep();
    expect((await create()).text).not.toBe(first.text);
    expect(await events()).toBe(2);
    harness.time.advance(60 * DAY_MS);
    await sweep();
    expect(await events()).toBe(1);
  });
});

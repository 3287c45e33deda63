import { inspect } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  AuthenticationError,
  ConflictError,
  ConnectionFailedError,
  InvalidRequestError,
  NotFoundError,
  Payments,
  type PaymentsOptions,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
} from '../src/index.ts';
import { body, failure } from './failing-calls.ts';
import { type Answer, json, problem, startScriptedServer, text } from './scripted-server.ts';

const KEY = 'sk_test_the_secret_of_this_test';
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0)) await close();
});

async function serve(...answers: [Answer, ...Answer[]]) {
  const server = await startScriptedServer(...answers);
  closers.push(server.close);
  const client = (options: PaymentsOptions = {}) =>
    new Payments({ apiKey: KEY, baseUrl: server.url, maxRetries: 0, ...options });
  return { ...server, client };
}

describe('settings', () => {
  test('fall back to the environment', async () => {
    const { url, seen } = await serve(json(200, { id: 'pay_1' }));
    vi.stubEnv('PAYMENTS_API_KEY', 'sk_test_from_the_environment');
    vi.stubEnv('PAYMENTS_API_URL', `${url}/`);
    await new Payments().payments.get('pay_1');
    expect(seen[0]).toMatchObject({ path: '/v1/payments/pay_1' });
    expect(seen[0]?.headers.authorization).toBe('Bearer sk_test_from_the_environment');
  });

  test.each([
    [{ apiKey: '' }, /No API key/],
    [{ apiKey: 'sk_test_ x' }, /characters that no key has/],
    [{ baseUrl: 'payments' }, /baseUrl is not a URL/],
    [{ baseUrl: 'ftp://x' }, /https/],
    [{ baseUrl: 'https://user:pw@x' }, /must not contain/],
    [{ baseUrl: 'https://x?y' }, /must not contain/],
    [{ timeoutMs: 0 }, /timeoutMs must be/],
    [{ maxRetries: -1 }, /maxRetries must be/],
    [{ maxRetries: Number.NaN }, /maxRetries must be/],
    [{ proxy: 'nowhere' }, /proxy is not a URL/],
    [{ ca: 'no certificate' }, /PEM/],
  ])('%o stops the construction with one line', (options, message) => {
    vi.stubEnv('PAYMENTS_API_KEY', '');
    expect(() => new Payments({ apiKey: KEY, ...options })).toThrow(message);
  });

  test('withOptions changes some and keeps the rest', async () => {
    const { client, seen } = await serve(json(200, {}));
    await client({ headers: { 'X-Team': 'a' } })
      .withOptions({ apiKey: 'sk_test_other' })
      .payments.get('pay_1');
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer sk_test_other', 'x-team': 'a' });
  });

  test('no way of printing a client, an error or an endpoint shows a secret', async () => {
    const { client } = await serve(
      problem(401, 'unauthorized'),
      json(201, { id: 'we_1', secret: 'whsec_c2VjcmV0' }),
    );
    const payments = client({ proxy: undefined });
    const error = await failure(payments.payments.get('pay_1'));
    const endpoint = await payments.webhookEndpoints.create({ url: 'https://example.com' });
    expect(endpoint.secret).toBe('whsec_c2VjcmV0');
    expect(JSON.parse(JSON.stringify(endpoint)).secret).toBe('whsec_c2VjcmV0');
    for (const thing of [payments, payments.payments, payments.payments.list(), error, endpoint]) {
      const shown = `${inspect(thing, { depth: 9, showHidden: true })} ${String(thing)}`;
      expect(shown).not.toContain(KEY);
      if (thing !== endpoint) expect(JSON.stringify(thing)).not.toContain(KEY);
    }
    expect(inspect(endpoint)).not.toContain('c2VjcmV0');
  });
});

describe('requests', () => {
  test('carry the key, the version, a new idempotency key per POST, and the caller’s own where given', async () => {
    const { client, seen } = await serve(json(202, { id: 'pay_1' }));
    const payments = client();
    await payments.payments.create(body);
    await payments.payments.create(body);
    await payments.payments.create(body, { idempotencyKey: 'order-17' });
    await payments.payments.get('pay_1');
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).not.toBe(keys[0]);
    expect(keys.slice(2)).toEqual(['order-17', undefined]);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual(body);
    expect(seen[0]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'api-version': '2026-11-15',
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^payments-api-node\/\d/),
    });
  });

  test('write queries as the API reads them', async () => {
    const { client, seen } = await serve(json(200, { object: 'list', data: [], next_cursor: null }));
    const created_after = new Date('2026-11-15T00:00:00Z');
    await client().payments.list({ status: 'failed', created_after, metadata: { 'a&b': 'ü' }, limit: 5 });
    expect(decodeURIComponent(seen[0]?.path ?? '')).toBe(
      '/v1/payments?status=failed&created_after=2026-11-15T00:00:00.000Z&metadata[a&b]=ü&limit=5',
    );
  });

  test.each(['', ' ', '.', '..', undefined])('an id of %j never reaches another address', async (id) => {
    const { client, seen } = await serve(json(200, {}));
    await expect(client().payments.get(id as string)).rejects.toThrow(TypeError);
    expect(seen).toEqual([]);
  });

  test('ids are a part of the path and no more', async () => {
    const { client, seen } = await serve(json(200, {}));
    await client().payments.get('../ledger/check?x=1');
    expect(seen[0]?.path).toBe('/v1/payments/..%2Fledger%2Fcheck%3Fx%3D1');
  });

  test('the sandbox takes a value by itself, or the body that the API takes', async () => {
    const { client, seen } = await serve(json(200, {}));
    const { sandbox } = client();
    await sandbox.fund('pm_1', 5);
    await sandbox.fund('pm_1', { amount: 5 });
    await sandbox.return_('pay_1', 'R01');
    await sandbox.return_('pay_1', { code: 'R01' });
    await sandbox.reject('pay_1');
    await sandbox.setClock(new Date('2027-01-01T00:00:00Z'));
    await sandbox.setClock({ now: '2027-01-01T00:00:00.000Z' });
    await sandbox.advanceClock({ advance: 'P1D' });
    expect(seen.map((request) => JSON.parse(request.body))).toEqual([
      { amount: 5 },
      { amount: 5 },
      { code: 'R01' },
      { code: 'R01' },
      {},
      { now: '2027-01-01T00:00:00.000Z' },
      { now: '2027-01-01T00:00:00.000Z' },
      { advance: 'P1D' },
    ]);
  });

  test('end with the caller’s signal, without being tried again', async () => {
    const { client, seen } = await serve(() => {});
    const stop = new AbortController();
    const pending = client({ maxRetries: 5 }).payments.get('pay_1', { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 50);
    expect(await failure(pending)).toMatchObject({ message: 'enough' });
    expect(seen).toHaveLength(1);
  });

  test('hooks see every try, may add headers, and never see the key', async () => {
    const { client, seen } = await serve(
      problem(429, 'rate_limited', { 'retry-after': '0' }),
      json(202, { id: 'p' }),
    );
    const told: unknown[] = [];
    const payments = client({
      maxRetries: 1,
      onRequest(request) {
        request.headers.traceparent = `00-${request.attempt}`;
        told.push(request);
      },
      onResponse: (response) => told.push(response),
    });
    await payments.payments.create(body);
    expect(seen.map(({ headers }) => headers.traceparent)).toEqual(['00-1', '00-2']);
    expect(told).toMatchObject([
      { method: 'POST', attempt: 1 },
      { attempt: 1, status: 429, request_id: 'req_1', retryInMs: expect.any(Number) },
      { attempt: 2 },
      { attempt: 2, status: 202, error: undefined, retryInMs: undefined },
    ]);
    expect(inspect(told, { depth: 9 })).not.toContain(KEY);
  });
});

describe('errors', () => {
  test.each([
    [400, 'invalid_query', InvalidRequestError],
    [401, 'unauthorized', AuthenticationError],
    [403, 'wrong_mode', PermissionDeniedError],
    [404, 'not_found', NotFoundError],
    [409, 'payment_not_cancelable', ConflictError],
    [413, 'body_too_large', InvalidRequestError],
    [422, 'invalid_request', InvalidRequestError],
    [429, 'rate_limited', RateLimitError],
    [500, 'internal', ServerError],
    [503, 'rail_not_configured', ServerError],
  ])('%i %s', async (status, code, ErrorClass) => {
    const errors = [{ pointer: '/amount', code: 'minimum', detail: 'Must be at least 1.' }];
    const { client } = await serve(problem(status, code, {}, { errors, extra: 1 }));
    const error = await failure(client().payments.create(body));
    expect(error).toBeInstanceOf(ErrorClass);
    const retryable = [429, 500].includes(status);
    expect(error).toMatchObject({
      name: ErrorClass.name,
      status,
      code,
      request_id: 'req_1',
      errors,
      retryable,
    });
    expect(error.problem.extra).toBe(1);
    expect(error.message).toBe(`Refused: ${code}. /amount: Must be at least 1.`);
  });

  test('a page instead of JSON, a redirect, nothing at all: one clear line each', async () => {
    const { client, url } = await serve(
      text(200, '<html>'),
      text(302, '', { location: 'https://elsewhere.example' }),
      text(502, '<h1>Bad gateway</h1>'),
    );
    const errors = [];
    for (let n = 0; n < 3; n += 1) errors.push(await failure(client().payments.get('pay_1')));
    expect(errors.map(({ message }) => message)).toEqual([
      `${url} answered 200 with a body that is not JSON (text/html): is the address right?`,
      `${url} answered 302, a redirect, which is not followed: is the address right?`,
      `${url} answered 502.`,
    ]);
    expect(errors.map(({ code, retryable }) => [code, retryable])).toEqual([
      ['invalid_response', false],
      ['http_302', false],
      ['http_502', true],
    ]);
    const gone = await startScriptedServer(text(200, ''));
    await gone.close();
    const nowhere = await failure(client({ baseUrl: gone.url }).payments.get('pay_1'));
    expect(nowhere).toBeInstanceOf(ConnectionFailedError);
    expect(nowhere.message).toBe(`Could not get an answer from ${gone.url}: ECONNREFUSED.`);
  });

  test('a slow answer ends with its time, also when it only drips', async () => {
    const { client } = await serve(
      () => {},
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{');
      },
    );
    for (let n = 0; n < 2; n += 1) {
      const error = await failure(client({ timeoutMs: 100 }).payments.get('pay_1'));
      expect(error).toBeInstanceOf(ConnectionFailedError);
      expect(error).toMatchObject({ code: 'timeout', retryable: true });
    }
  });
});

describe('retries', () => {
  test('send the same bytes with the same key', async () => {
    const busy = problem(409, 'idempotency_key_in_use', { 'retry-after': '0' });
    const { client, seen } = await serve(problem(503, 'shutting_down'), busy, json(202, { id: 'pay_1' }));
    expect(await client({ maxRetries: 2 }).payments.create(body)).toEqual({ id: 'pay_1' });
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map((one) => `${one.headers['idempotency-key']} ${one.body}`)).size).toBe(1);
  });

  test.each([
    [400, 'invalid_query'],
    [401, 'unauthorized'],
    [409, 'payment_not_cancelable'],
    [422, 'insufficient_funds'],
    [503, 'rail_not_configured'],
  ])('%i %s is final', async (status, code) => {
    const { client, seen } = await serve(problem(status, code));
    await failure(client({ maxRetries: 3 }).payments.create(body));
    expect(seen).toHaveLength(1);
  });

  test('end after as many as were asked for, and where the server asks for too much patience', async () => {
    const { client, seen } = await serve(problem(503, 'overloaded', { 'retry-after': '0' }));
    expect(await failure(client({ maxRetries: 1 }).payments.create(body))).toBeInstanceOf(ServerError);
    expect(seen).toHaveLength(2);
    const patient = await serve(problem(503, 'overloaded', { 'retry-after': '3600' }));
    await failure(patient.client({ maxRetries: 3 }).payments.create(body));
    expect(patient.seen).toHaveLength(1);
  });

  test('wait as long as Retry-After says', async () => {
    const { client } = await serve(problem(429, 'rate_limited', { 'retry-after': '1' }), json(200, {}));
    const startedMs = performance.now();
    await client({ maxRetries: 1 }).payments.get('pay_1');
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(990);
  });

  test('a delete whose answer was lost is not told that there is nothing to delete', async () => {
    const cut: Answer = (_request, response) => response.destroy();
    const lost = await serve(cut, problem(404, 'not_found'));
    await lost.client({ maxRetries: 1 }).paymentMethods.delete('pm_1');
    const never = await serve(
      problem(429, 'rate_limited', { 'retry-after': '0' }),
      problem(404, 'not_found'),
    );
    expect(await failure(never.client({ maxRetries: 1 }).paymentMethods.delete('pm_1'))).toBeInstanceOf(
      NotFoundError,
    );
  });
});

describe('lists', () => {
  const page = (ids: string[], next_cursor: string | null) =>
    json(200, { object: 'list', data: ids.map((id) => ({ id })), next_cursor });

  test('are read to the end by for await, one page at a time', async () => {
    const { client, seen } = await serve(page(['a', 'b'], 'c1'), page([], 'c2'), page(['c'], null));
    const list = client().payments.list({ limit: 2 });
    expect(seen).toHaveLength(0);
    const ids = [];
    for await (const { id } of list) ids.push(id);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(seen.map(({ path }) => path.split('?')[1])).toEqual([
      'limit=2',
      'limit=2&cursor=c1',
      'limit=2&cursor=c2',
    ]);
  });

  test('give one page to .page() and await, and stop where the reader stops', async () => {
    const { client, seen } = await serve(page(['a', 'b'], 'c1'));
    const list = client().payments.list();
    expect((await list.page()).next_cursor).toBe('c1');
    expect((await list).data).toEqual([{ id: 'a' }, { id: 'b' }]);
    expect(await list.toArray({ limit: 2 })).toHaveLength(2);
    expect(seen).toHaveLength(3);
  });

  test('a server that repeats its cursor does not keep us for ever', async () => {
    const { client, seen } = await serve(page(['a'], 'same'));
    const ids = [];
    for await (const { id } of client().payments.list()) ids.push(id);
    expect([ids.length, seen.length]).toEqual([2, 2]);
  });
});

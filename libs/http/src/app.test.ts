// What the edge answers over a real socket: routes, headers, health, and what is refused before any route runs.
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, createTestApp, sendRaw, startTestApp } from '../test/test-app.ts';
import { type App, sendParts } from './index.ts';

let app: App;
let client: Client;

beforeAll(async () => {
  app = await createTestApp();
  client = await startTestApp(app);
});
afterAll(() => app.close());

describe('routes', () => {
  test('an unknown one is 404, whatever the body is', async () => {
    const get = await client.get('/nothing');
    expect(get.status).toBe(404);
    expect(get.json.code).toBe('not_found');
    expect((await client.post('/nothing', 'x'.repeat(100_000))).status).toBe(404);
    expect((await client.post('/nothing', '{', { 'content-type': 'text/plain' })).status).toBe(404);
  });

  test('another method is 405 with Allow', async () => {
    const answer = await client.send('/v1/things', {
      method: 'PUT',
      body: '<',
      headers: { 'content-type': 'text/xml' },
    });
    expect(answer.status).toBe(405);
    expect(answer.json.code).toBe('method_not_allowed');
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
    const withParameter = await client.send('/v1/things/x', { method: 'PATCH' });
    expect(withParameter.headers.get('allow')).toBe('DELETE, GET, HEAD');
    const deeper = await client.get('/v1/things/x/cancel?a=b');
    expect([deeper.status, deeper.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('what stands behind a semicolon belongs to the path, which is another one and unknown', async () => {
    const answer = await client.get('/v1/things;colour=red');
    expect([answer.status, answer.headers.get('allow')]).toEqual([404, null]);
  });

  test('HEAD is answered for GET', async () => {
    const answer = await client.send('/v1/things', { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('');
  });

  test('HEAD makes nothing of what is made while it is sent', async () => {
    const other = await createTestApp();
    let made = 0;
    other.get('/parts', (_request, reply) =>
      sendParts(
        reply.type('text/plain'),
        (async function* () {
          for (; made < 3; made += 1) yield 'part';
        })(),
      ),
    );
    const head = await other.inject({ method: 'HEAD', url: '/parts' });
    await setImmediate();
    expect([head.statusCode, head.headers['content-type'], head.body, made]).toEqual([
      200,
      'text/plain',
      '',
      0,
    ]);
    expect((await other.inject('/parts')).body).toBe('partpartpart');
    await other.close();
  });

  test('a registered error becomes its problem; extras cannot overwrite standard members', async () => {
    const missing = await client.get('/v1/things/x');
    expect(missing.json).toMatchObject({
      status: 404,
      code: 'thing_not_found',
      detail: 'No thing has this id.',
    });
    const refused = await client.get('/v1/things/refused');
    expect(refused.status).toBe(422);
    expect(refused.headers.get('x-why')).toBe('big');
    expect(refused.json).toMatchObject({ status: 422, code: 'thing_refused', reasons: ['too big'] });
  });

  test('an unexpected failure is 500 and tells nothing', async () => {
    const answer = await client.get('/boom');
    expect(answer.status).toBe(500);
    expect(answer.json.code).toBe('internal');
    expect(answer.text).not.toMatch(/hunter2|sk_live|at .*\.ts/);
  });
});

test('who called is known also when the caller is gone', async () => {
  const other = await createTestApp();
  const addresses: string[] = [];
  other.get('/gone', async (request) => {
    request.raw.socket.destroy();
    await setImmediate();
    addresses.push(request.ip);
  });
  const { port } = await startTestApp(other);
  expect(await sendRaw(port, 'GET /gone HTTP/1.1\r\nhost: x\r\n\r\n')).toBe('');
  await other.close();
  expect(addresses).toEqual(['127.0.0.1']);
});

describe('headers', () => {
  test('every answer has a request id and the security headers', async () => {
    for (const path of ['/healthz', '/nothing', '/boom', '/v1/things?limit=0', '/openapi.json']) {
      const { headers } = await client.get(path);
      expect(headers.get('x-request-id')).toMatch(/^req_[A-Za-z0-9_-]{21}$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get('strict-transport-security')).toBeNull();
    }
  });

  test('a harmless request id of the caller is kept, others are replaced', async () => {
    const kept = await client.get('/nothing', { 'x-request-id': 'abc-DEF_123' });
    expect(kept.headers.get('x-request-id')).toBe('abc-DEF_123');
    expect(kept.json.request_id).toBe('abc-DEF_123');
    for (const id of ['short', 'x'.repeat(65), 'has space', '"quoted-id"', 'a;b;c;d;e;f']) {
      expect((await client.get('/healthz', { 'x-request-id': id })).headers.get('x-request-id')).toMatch(
        /^req_/,
      );
    }
  });

  test('request ids differ', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await client.get('/healthz')).headers.get('x-request-id')),
    );
    expect(new Set(ids).size).toBe(20);
  });

  test('https public addresses send HSTS', async () => {
    const secure = await createTestApp({ publicUrl: 'https://api.example.com/' });
    const answer = await secure.inject('/nothing');
    expect(answer.headers['strict-transport-security']).toContain('max-age=63072000');
    expect(answer.json().type).toBe('https://api.example.com/docs/errors#not_found');
    await secure.close();
  });
});

describe('what never becomes a request', () => {
  test.each([
    ['bad syntax', 'NONSENSE\r\n\r\n', 400, 'bad_request'],
    ['an unknown method', 'BREW /pot HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'bad_request'],
    [
      'headers too large',
      `GET / HTTP/1.1\r\nhost: x\r\nx-big: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'two content lengths',
      'POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}',
      400,
      'bad_request',
    ],
    [
      'a length and chunks',
      'POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'bad_request',
    ],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'bad_request'],
    [
      'an unknown expectation',
      'GET /nowhere HTTP/1.1\r\nhost: x\r\nexpect: much\r\nconnection: close\r\n\r\n',
      404,
      'not_found',
    ],
  ])('%s', async (_name, bytes, status, code) => {
    const raw = await sendRaw(client.port, bytes);
    expect(raw).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(raw).toMatch(/content-type: application\/problem\+json/);
    expect(raw).toMatch(/x-request-id: req_/);
    expect(raw).toContain(`"code":"${code}"`);
  });

  test('HTTP/1.0 without a host is answered', async () => {
    expect(await sendRaw(client.port, 'GET /healthz HTTP/1.0\r\n\r\n')).toContain('200 OK');
  });
});

describe('health', () => {
  test('alive and ready', async () => {
    expect((await client.get('/healthz')).json).toEqual({ status: 'ok' });
    expect((await client.get('/readyz')).json).toEqual({ status: 'ok' });
  });

  test('not ready says so and hides the reason', async () => {
    const broken = await createTestApp({
      readiness: () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7')),
    });
    const answer = await broken.inject('/readyz');
    expect(answer.statusCode).toBe(503);
    expect(answer.json().code).toBe('not_ready');
    expect(answer.body).not.toContain('10.0.0.7');
    expect((await broken.inject('/healthz')).statusCode).toBe(200);
    await broken.close();
  });

  test('what the service stands on being away is no bug: 503, and when to send it again', async () => {
    const isOutage = (error: unknown) => (error as { code?: string }).code === '57P03';
    const cut = await createTestApp({ isOutage });
    const failure = (code: string) =>
      Object.assign(new Error('the database system is starting up'), { code });
    cut.get('/away', () => Promise.reject(failure('57P03')));
    cut.get('/broken', () => Promise.reject(failure('42601')));
    const away = await cut.inject('/away');
    expect([away.statusCode, away.json().code, away.headers['retry-after']]).toEqual([503, 'not_ready', '1']);
    expect(away.body).not.toContain('starting up');
    expect((await cut.inject('/broken')).json().code).toBe('internal');
    await cut.close();
  });
});

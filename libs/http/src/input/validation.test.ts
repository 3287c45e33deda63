// What the edge makes of bodies, queries and addresses over a real socket: every fault named, nothing guessed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, createTestApp, sendRaw, startTestApp } from '../../test/test-app.ts';
import type { App } from '../index.ts';

let app: App;
let client: Client;

beforeAll(async () => {
  app = await createTestApp();
  client = await startTestApp(app);
});
afterAll(() => app.close());

const good = { amount: 5, currency: 'USD', source: { payment_method_id: 'pm_1' } };

describe('bodies', () => {
  test('a good one passes, with defaults filled in', async () => {
    const answer = await client.post('/v1/things', good);
    expect(answer.status).toBe(202);
    expect(answer.json).toEqual({ ...good, rail: 'auto' });
  });

  test('every bad field is named at once, by its own pointer', async () => {
    const answer = await client.post('/v1/things', {
      amount: '5',
      source: { extra: 1 },
      rail: 'wire',
      'odd/na~me': 1,
      metadata: { toolong: 'x', a: 'longer than eight' },
    });
    expect(answer.status).toBe(422);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.json).toMatchObject({
      type: 'http://localhost:4999/docs/errors#invalid_request',
      title: 'Invalid request',
      status: 422,
      code: 'invalid_request',
      request_id: answer.headers.get('x-request-id'),
    });
    const byPointer = Object.fromEntries(answer.json.errors.map((error) => [error.pointer, error.code]));
    expect(byPointer).toEqual({
      '/amount': 'wrong_type',
      '/currency': 'required',
      '/source/payment_method_id': 'required',
      '/source/extra': 'unknown_field',
      '/rail': 'not_allowed',
      '/odd~1na~0me': 'unknown_field',
      '/metadata/toolong': 'invalid_key',
      '/metadata/a': 'too_long',
    });
    for (const error of answer.json.errors) expect(error.detail).toMatch(/\w.*\.$/);
  });

  test.each([
    ['an array', [], ''],
    ['a string', '"text"', ''],
    ['null', 'null', ''],
    ['a number', '5', ''],
  ])('%s instead of an object is 422 at the root', async (_name, body, pointer) => {
    const answer = await client.post('/v1/things', body);
    expect(answer.status).toBe(422);
    expect(answer.json.errors).toEqual([{ pointer, code: 'wrong_type', detail: 'Must be an object.' }]);
  });

  test('nothing is coerced', async () => {
    for (const amount of ['5', true, null, [5], 5.5, 1e300]) {
      const answer = await client.post('/v1/things', { ...good, amount });
      expect([amount, answer.status]).toEqual([amount, 422]);
    }
  });

  test.each([
    ['broken', '{"amount": 5'],
    ['two values', '{} {}'],
    ['a comment', '{/* */}'],
    ['NaN', '{"amount": NaN}'],
    ['a byte order mark', '\ufeff{}'],
    ['a repeated key', '{"amount":1,"amount":2}'],
    ['a repeated key behind an escape', '{"amount":1,"\\u0061mount":2}'],
    ['a repeated key deep inside', '{"source":{"a":[{"b":1,"b":2}]}}'],
    ['a repeated key with a colon in a string', '{"a":"x:y","b" : 1,"b":2}'],
    ['too deep', `${'['.repeat(33)}${']'.repeat(33)}`],
    ['far too deep', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`],
  ])('%s is 400 invalid_json', async (_name, body) => {
    const answer = await client.post('/v1/things', body);
    expect(answer.status).toBe(400);
    expect(answer.json.code).toBe('invalid_json');
  });

  test('a repeated key is named', async () => {
    const answer = await client.post('/v1/things', '{"a":{"x":1},"b":[{"x":1,"x":2}]}');
    expect(answer.json.detail).toContain('"x"');
  });

  test('invalid UTF-8 is 400', async () => {
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
      const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
      const answer = await client.post('/v1/things', body);
      expect(answer.status).toBe(400);
      expect(answer.json.code).toBe('invalid_json');
    }
  });

  test('NUL and broken Unicode are refused by pointer, in values and names', async () => {
    const answer = await client.post(
      '/v1/anything',
      '{"a":"x\\u0000","b":{"c":["ok","\\ud800"]},"d\\u0000":1,"e":"\\ud83d\\ude00"}',
    );
    expect(answer.status).toBe(422);
    expect(answer.json.code).toBe('invalid_request');
    expect(answer.json.errors.map((error) => error.pointer)).toEqual(['/a', '/b/c/1', '/d\u0000']);
  });

  test('they are named together with every other bad field', async () => {
    const answer = await client.post(
      '/v1/things',
      '{"amount":-5,"source":{"payment_method_id":"a\\u0000"},"metadata":{"__proto__":"x"}}',
    );
    expect(answer.status).toBe(422);
    expect(answer.json.errors.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['/source/payment_method_id', 'invalid_character'],
      ['/metadata/__proto__', 'unknown_field'],
      ['/currency', 'required'],
      ['/amount', expect.any(String)],
    ]);
  });

  test('a NUL as the whole body is refused too', async () => {
    expect((await client.post('/v1/anything', '"\\u0000"')).status).toBe(422);
  });

  test('__proto__ is an unknown field everywhere and pollutes nothing', async () => {
    for (const body of [
      '{"__proto__":{"admin":true}}',
      '{"a":{"\\u005f_proto__":1}}',
      '{"metadata":{"__proto__":"x"}}',
    ]) {
      const answer = await client.post('/v1/anything', body);
      expect(answer.status).toBe(422);
      expect(answer.json.errors[0]?.pointer).toMatch(/__proto__$/);
    }
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test('a constructor key is only a key', async () => {
    const answer = await client.post('/v1/anything', '{"constructor":{"prototype":{"a":1}},"__a":1}');
    expect(answer.json).toEqual({ got: { constructor: { prototype: { a: 1 } }, __a: 1 } });
  });

  test('exactly the limit passes, one byte more is 413, in one piece or in chunks', async () => {
    const pad = (size: number) => `{"a":"${'x'.repeat(size - 8)}"}`;
    expect((await client.post('/v1/anything', pad(65_536))).status).toBe(200);
    const over = await client.post('/v1/anything', pad(65_537));
    expect(over.status).toBe(413);
    expect(over.json.code).toBe('body_too_large');
    const chunked = await client.send('/v1/anything', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Blob([pad(65_537)]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(chunked.status).toBe(413);
  });

  test('a client that is still sending two megabytes sees the 413', async () => {
    const answer = await client.post('/v1/things', `"${'x'.repeat(2_000_000)}"`);
    expect(answer.status).toBe(413);
  });

  test.each([
    ['text/plain', 'hello'],
    ['application/x-www-form-urlencoded', 'a=1'],
    ['application/xml', '<a/>'],
    ['application/jsonx', '{}'],
    ['nonsense', '{}'],
  ])('%s is 415', async (type, body) => {
    const answer = await client.post('/v1/things', body, { 'content-type': type });
    expect(answer.status).toBe(415);
    expect(answer.json.code).toBe('unsupported_media_type');
  });

  test('a body without a type is 415', async () => {
    const raw = await sendRaw(
      client.port,
      'POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}',
    );
    expect(raw).toContain('HTTP/1.1 415');
    expect(raw).toContain('unsupported_media_type');
  });

  test('a charset and capitals in the type are fine', async () => {
    const answer = await client.post('/v1/things', good, {
      'content-type': 'Application/JSON; charset=UTF-8',
    });
    expect(answer.status).toBe(202);
  });

  test('an empty body is 400 where fields are needed', async () => {
    for (const headers of [{ 'content-type': 'application/json' }, {}]) {
      const answer = await client.send('/v1/things', { method: 'POST', headers });
      expect(answer.status).toBe(400);
      expect(answer.json.code).toBe('invalid_json');
    }
  });

  test('an empty body is fine where none is needed', async () => {
    for (const headers of [{ 'content-type': 'application/json' }, {}]) {
      expect((await client.send('/v1/things/a/settle', { method: 'POST', headers })).json).toEqual({
        id: 'a',
        body: {},
      });
      expect((await client.send('/v1/things/a/cancel', { method: 'POST', headers })).json).toEqual({
        body: null,
      });
      expect((await client.send('/v1/things/a', { method: 'DELETE', headers })).status).toBe(204);
    }
  });

  test('a refused body does not cost the connection', async () => {
    const head =
      'POST /v1/anything HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n';
    const raw = await sendRaw(client.port, `${head}{x${head}{}`, 2);
    expect(raw).toContain('400 Bad Request');
    expect(raw).toContain('200 OK');
  });
});

describe('queries and addresses', () => {
  test('are typed by the schema, with defaults', async () => {
    const answer = await client.get('/v1/things?open=true&tag=a&ratio=1.5&after=2026-11-15T00:00:00.000Z');
    expect(answer.json).toEqual({
      limit: 20,
      open: true,
      tag: ['a'],
      ratio: 1.5,
      after: '2026-11-15T00:00:00.000Z',
    });
  });

  test.each(['abc', '', '0', '101', '1.5', '1e1', ' 5', '0x10', '05', 'true', '-1', '99999999999999999999'])(
    'limit=%j is 400 and named',
    async (limit) => {
      const answer = await client.get(`/v1/things?limit=${encodeURIComponent(limit)}`);
      expect(answer.status).toBe(400);
      expect(answer.json.code).toBe('invalid_query');
      expect(answer.json.errors).toMatchObject([{ parameter: 'limit' }]);
      expect(answer.json.errors[0]?.pointer).toBeUndefined();
    },
  );

  test('all bad and unknown parameters at once', async () => {
    const answer = await client.get('/v1/things?limit=0&open=maybe&colour=red&after=yesterday');
    expect(answer.json.errors.map((error) => [error.parameter, error.code])).toEqual([
      ['limit', 'too_small'],
      ['open', 'wrong_type'],
      ['colour', 'unknown_parameter'],
      ['after', 'invalid_format'],
    ]);
  });

  test('a parameter given twice is refused', async () => {
    expect((await client.get('/v1/things?limit=1&limit=2')).status).toBe(400);
  });

  test.each([
    '/v1/things/%zz',
    '/v1/things/%',
    '/v1/things?limit=%zz',
    '/v1/things/a?b=%ff',
    '/nothing/%c3%28',
  ])('%s is 400', async (path) => {
    const raw = await sendRaw(client.port, `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    expect(raw).toContain('HTTP/1.1 400');
    expect(raw).toContain('application/problem+json');
    expect(raw).toMatch(/x-request-id: req_/);
  });

  test('NUL in the query is 400 and named, in the path 404', async () => {
    const query = await client.get('/v1/things?tag=a%00b');
    expect(query.status).toBe(400);
    expect(query.json.errors).toMatchObject([{ parameter: 'tag', code: 'invalid_character' }]);
    expect((await client.get('/v1/things/a%00b')).status).toBe(404);
  });

  test('a very long path parameter is 404', async () => {
    expect((await client.get(`/v1/things/${'a'.repeat(2_000)}`)).status).toBe(404);
  });
});

// No body, header or address that anybody sends may become a 5xx or lose its request id.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createTestApp, sendRaw, startTestApp } from '../test/test-app.ts';
import type { App } from './index.ts';

let app: App;
let client: Client;

beforeAll(async () => {
  app = await createTestApp();
  client = await startTestApp(app);
});
afterAll(() => app.close());

async function expectNoFailure(request: {
  method: 'POST';
  url: string;
  payload?: string | Buffer;
  headers?: Record<string, string>;
}): Promise<void> {
  const answer = await app.inject(request);
  expect(answer.statusCode).toBeLessThan(500);
  expect(answer.headers['x-request-id']).toBeTypeOf('string');
  if (answer.statusCode >= 400) {
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json()).toMatchObject({ status: answer.statusCode, code: expect.any(String) });
  }
}

const nastyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '\0',
    '\ud800',
    '__proto__',
    'constructor',
    'toString',
    '../..',
    '%00',
    '%zz',
    "'; drop table x",
  ),
);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(nastyText, fc.double(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      fc.oneof(nastyText, fc.constantFrom('amount', 'source', 'metadata', 'rail')),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value;

test('any JSON', async () => {
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      const payload = JSON.stringify(value);
      await expectNoFailure({
        method: 'POST',
        url: '/v1/things',
        payload,
        headers: { 'content-type': 'application/json' },
      });
    }),
    { numRuns: 400 },
  );
});

test('any bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom('/v1/things', '/v1/anything'),
      async (bytes, url) => {
        await expectNoFailure({
          method: 'POST',
          url,
          payload: Buffer.from(bytes),
          headers: { 'content-type': 'application/json' },
        });
      },
    ),
    { numRuns: 400 },
  );
});

test('JSON with a mistake in it', async () => {
  const base =
    '{"amount":5,"currency":"USD","source":{"payment_method_id":"pm_1"},"metadata":{"a":"b\\u0041"}}';
  await fc.assert(
    fc.asyncProperty(fc.nat(base.length), fc.nat(8), fc.string({ maxLength: 4 }), async (at, cut, insert) => {
      const payload = base.slice(0, at) + insert + base.slice(at + cut);
      await expectNoFailure({
        method: 'POST',
        url: '/v1/things',
        payload,
        headers: { 'content-type': 'application/json' },
      });
    }),
    { numRuns: 500 },
  );
});

test('any type of content', async () => {
  const type = fc.oneof(
    fc.string(),
    fc.constantFrom('application/json;', 'application/json; a=b', 'multipart/form-data', '*/*'),
  );
  await fc.assert(
    fc.asyncProperty(type, fc.string({ maxLength: 20 }), async (contentType, payload) => {
      await expectNoFailure({
        method: 'POST',
        url: '/v1/things',
        payload,
        headers: { 'content-type': contentType },
      });
    }),
    { numRuns: 300 },
  );
});

test('any address and method, over a socket', async () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('v1', 'things', '%00', '%2e%2e', '..', '%ff', ':id', '*', 'a?limit=1', ';x', '\\', '//'),
  );
  const method = fc.constantFrom(
    'GET',
    'POST',
    'PUT',
    'DELETE',
    'PATCH',
    'OPTIONS',
    'HEAD',
    'TRACE',
    'PROPFIND',
    'QUERY',
  );
  await fc.assert(
    fc.asyncProperty(method, fc.array(piece, { maxLength: 4 }), fc.string(), async (verb, pieces, query) => {
      // Only what HTTP lets into a request line.
      const url = `/${pieces.join('/')}?${query}`.replaceAll(/[^\x21-\x7e]/g, '');
      const raw = await sendRaw(
        client.port,
        `${verb} ${url} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
        2,
      );
      expect(raw).toMatch(/^HTTP\/1\.1 [1-4]\d\d /);
      expect(raw).toMatch(/x-request-id: req_/);
    }),
    { numRuns: 300 },
  );
});

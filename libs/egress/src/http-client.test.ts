// Answers of a hostile server: whatever it sends, it is bounded before anybody parses it.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { AnswerRefused, createHttpClient, type HttpClient } from './http-client.ts';
import { createEgressPolicy } from './policy.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(listener: RequestListener): Promise<{ url: string; client: HttpClient }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = createHttpClient(createEgressPolicy({ development: true }), {
    timeoutMs: 1_500,
    answerBytesMax: 1_000_000,
  });
  closers.push(
    () => client.close(),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, client };
}

test('an answer is read to its end', async () => {
  const { url, client } = await serve((request, response) => {
    response.setHeader('x-asked', request.headers['accept-encoding'] ?? '');
    response.end('{"a":[1,2]}');
  });
  const answer = await client.request(url);
  expect(await answer.json()).toEqual({ a: [1, 2] });
  expect(answer.headers.get('x-asked')).toBe('identity');
});

test.each([
  ['too many bytes', 'x'.repeat(1_000_001), /sent more than 1000000 bytes/],
  ['too many values', `  [${'1,'.repeat(110_000)}1]`, /sent more than 100000 values/],
  ['too many values behind white space', `${' '.repeat(500)}[${'1,'.repeat(110_000)}1]`, /100000 values/],
  ['too many values behind a byte order mark', `\ufeff[${'1,'.repeat(110_000)}1]`, /100000 values/],
  ['too many in a large answer', `["${'x'.repeat(300_000)}"${',1'.repeat(110_000)}]`, /100000 values/],
  [
    'too many behind a key that is there twice',
    `{"a":1,"a":"${'x'.repeat(300_000)}","b":[${'1,'.repeat(110_000)}1]}`,
    /100000 values/,
  ],
  ['too deep', '['.repeat(500_000), /sent more than 64 levels/],
])('%s', async (_what, body, message) => {
  const { url, client } = await serve((_request, response) => response.end(body));
  const refused = client.request(url);
  await expect(refused).rejects.toThrow(AnswerRefused);
  await expect(refused).rejects.toThrow(message);
});

test.each([
  ['short', 1_000],
  ['long', 300_000],
])(
  'a %s answer with a repeated key, or bytes that are no text, is read as JSON.parse reads it',
  async (_what, length) => {
    const bytes = Buffer.from(`{"a":1,"b":"${'x'.repeat(length)}","a":"?"}`);
    bytes[bytes.lastIndexOf('?')] = 0xff;
    const { url, client } = await serve((_request, response) => response.end(bytes));
    expect(await (await client.request(url)).json()).toEqual({ a: '\ufffd', b: 'x'.repeat(length) });
  },
);

test('what only looks like many values is text', async () => {
  const body = 'a list: [1,1,'.repeat(20_000);
  const { url, client } = await serve((_request, response) => response.end(body));
  expect(await (await client.request(url)).text()).toBe(body);
});

test('a packed answer is not unpacked, however small it is', async () => {
  const packed = gzipSync('0'.repeat(20_000_000));
  const { url, client } = await serve((_request, response) => {
    response.setHeader('content-encoding', 'gzip');
    response.end(packed);
  });
  await expect(client.request(url)).rejects.toThrow(/packed/);
});

test('an endless answer and one that never begins end with the time', async () => {
  const endless = await serve((_request, response) => {
    const timer = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(timer));
  });
  await expect(endless.client.request(endless.url)).rejects.toThrow();
  const silent = await serve(() => {});
  await expect(silent.client.request(silent.url)).rejects.toThrow();
});

test('a caller who can stop a request shortens its time, and never prolongs it', async () => {
  const { url, client } = await serve(() => {});
  const { signal: patient } = new AbortController();
  await expect(client.request(url, { signal: patient })).rejects.toThrow(/timeout/);
  const hasty = new AbortController();
  const request = client.request(url, {
    signal: hasty.signal,
    onLeaving: () => hasty.abort(new Error('gone')),
  });
  await expect(request).rejects.toThrow('gone');
});

test('an answer may be as long as the bound', async () => {
  const { url, client } = await serve((_request, response) => response.end('x'.repeat(1_000_000)));
  expect(await (await client.request(url)).text()).toHaveLength(1_000_000);
});

test('a redirect is an answer, and nobody goes there', async () => {
  let visits = 0;
  const { url, client } = await serve((_request, response) => {
    visits += 1;
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
  });
  expect((await client.request(url)).status).toBe(302);
  expect(visits).toBe(1);
});

/** Messages over real sockets: what is sent, which connections are used again, and that the guard holds for each of them. */
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { request as undiciRequest } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { makeSelfSigned } from '../../test/self-signed.ts';
import { createEgressPolicy } from '../policy.ts';
import type { ResolvedAddress } from '../system-resolver.ts';
import { createPoster, type PostAnswer, type Poster } from './poster.ts';

// 127.0.0.2 stands for a public address (it is an allowed place), 127.0.0.1 for a private one.
const PUBLIC = '127.0.0.2';
const PRIVATE = '127.0.0.1';
const NAME = 'hooks.example';

const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

function kept(poster: Poster): Poster {
  closings.push(() => poster.destroy());
  return poster;
}

async function listen(server: Server, address = PRIVATE, port = 0): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(port, address);
  await once(server, 'listening');
  closings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

type Posted = PostAnswer & { error: (Error & { code?: string }) | null };

function post(poster: Poster, url: string, body = '{}', headers: readonly string[] = []): Promise<Posted> {
  const { origin, pathname, search } = new URL(url);
  return new Promise((done) =>
    poster.post({ origin, path: pathname + search, headers, body: Buffer.from(body) }, (error, answer) =>
      done({ error, status: answer.status, retryAfter: answer.retryAfter, kept: answer.kept }),
    ),
  );
}

/** A server that counts its connections. */
async function startHttp(handle: (request: IncomingMessage, response: ServerResponse, body: string) => void) {
  const seen = { connections: 0 };
  const server = createHttpServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    handle(request, response, body);
  });
  server.on('connection', () => {
    seen.connections += 1;
  });
  return { seen, server, url: `http://${PRIVATE}:${await listen(server)}` };
}

/** A server that answers every request with these bytes, whatever they are, and closes where it is told to. */
async function startRaw(answer: string, closes = false): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      socket.write(answer, 'latin1');
      if (closes) socket.end();
    });
  });
  return `http://${PRIVATE}:${await listen(server)}/`;
}

/** What undici makes of the same answer. */
async function askGenerally(url: string): Promise<number | 'fails'> {
  try {
    const { statusCode, body } = await undiciRequest(url, { method: 'POST', body: '{}' });
    await body.text();
    return statusCode;
  } catch {
    return 'fails';
  }
}

const development = createEgressPolicy({ development: true });

describe('a message', () => {
  it('arrives with its headers and its body, byte for byte', async () => {
    const arrived: { headers: IncomingMessage['headers']; url: string | undefined; body: string }[] = [];
    const { url } = await startHttp((request, response, body) => {
      arrived.push({ headers: request.headers, url: request.url, body });
      response.end('ok');
    });
    const body = JSON.stringify({ text: 'zażółć 🙂', rest: 'x'.repeat(100_000) });
    const poster = kept(createPoster(development));
    const answer = await post(poster, `${url}/a?b=c%20d`, body, [
      'content-type',
      'application/json',
      'x-id',
      'é',
    ]);
    expect(answer).toEqual({ error: null, status: 200, retryAfter: null, kept: [] });
    expect(arrived).toMatchObject([
      {
        url: '/a?b=c%20d',
        body,
        headers: { host: url.slice(7), 'content-type': 'application/json', 'x-id': 'é' },
      },
    ]);
  });

  it('that would begin another field or request is not sent', async () => {
    const poster = kept(createPoster(development));
    await expect(post(poster, 'http://localhost:1/', '', ['a', 'b\r\nc: d'])).rejects.toThrow(
      'cannot be sent',
    );
    await expect(post(poster, 'http://localhost:1/', '', ['a\n', 'b'])).rejects.toThrow('cannot be sent');
    expect(() =>
      poster.post(
        { origin: 'http://localhost:1', path: '/ HTTP/1.1\r\n', headers: [], body: Buffer.of() },
        () => {},
      ),
    ).toThrow('cannot be sent');
  });
});

describe('connections', () => {
  it('are used again, one message at a time', async () => {
    const { url, seen } = await startHttp((_request, response) => response.end('ok'));
    const poster = kept(createPoster(development));
    for (let turn = 0; turn < 5; turn += 1) expect((await post(poster, url)).status).toBe(200);
    expect(seen.connections).toBe(1);
    const together = await Promise.all(Array.from({ length: 5 }, () => post(poster, url)));
    expect(together.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(seen.connections).toBe(5);
  });

  it.each([
    [
      'the other side closes',
      (response: ServerResponse) => response.setHeader('connection', 'close').end('ok'),
    ],
    ['it closes soon', (response: ServerResponse) => response.setHeader('keep-alive', 'timeout=2').end('ok')],
    ['its answer goes on and on', (response: ServerResponse) => response.end('x'.repeat(100_000))],
  ])('are not used again where %s', async (_when, answer) => {
    const { url, seen } = await startHttp((_request, response) => void answer(response));
    const poster = kept(createPoster(development));
    expect((await post(poster, url)).status).toBe(200);
    expect((await post(poster, url)).status).toBe(200);
    expect(seen.connections).toBe(2);
  });

  it('on which something comes that nobody asked for are closed', async () => {
    const url = await startRaw('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
    });
    const talker = `http://${PRIVATE}:${await listen(server)}/`;
    const poster = kept(createPoster(development));
    expect((await post(poster, talker)).status).toBe(200);
    sockets[0]?.write('HTTP/1.1 500 Later\r\ncontent-length: 0\r\n\r\n');
    await once(sockets[0] as Socket, 'close');
    expect((await post(poster, talker)).status).toBe(200);
    expect(sockets).toHaveLength(2);
    expect((await post(poster, url)).status).toBe(200);
  });

  it('that nobody needs any more are closed after some seconds', async () => {
    const { url, server } = await startHttp((_request, response) => response.end('ok'));
    server.keepAliveTimeout = 60_000;
    const closed = new Promise((done) => server.on('connection', (socket) => socket.on('close', done)));
    const poster = kept(createPoster(development));
    await post(poster, url);
    await closed;
  }, 15_000);

  it('end with the poster, and what is under way fails', async () => {
    const server = createServer(() => {});
    const url = `http://${PRIVATE}:${await listen(server)}/`;
    const poster = createPoster(development);
    const answer = post(poster, url);
    await once(server, 'connection');
    poster.destroy();
    expect((await answer).error).not.toBeNull();
    expect((await post(poster, url)).error?.message).toBe('connections are closed');
  });
});

describe('an exchange', () => {
  it('ends at once when it is aborted, and says what had come', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'));
    });
    const origin = `http://${PRIVATE}:${await listen(server)}`;
    const poster = kept(createPoster(development));
    const done: Posted[] = [];
    const message = { origin, path: '/', headers: [], body: Buffer.from('{}') };
    const posting = poster.post(message, (error, { status, retryAfter, kept: begin }) =>
      done.push({ error, status, retryAfter, kept: begin }),
    );
    const [socket] = (await once(server, 'connection')) as [Socket];
    await once(socket, 'data');
    await sleep(50);
    posting.abort(new Error('too slow'));
    posting.abort(new Error('again'));
    expect(done).toMatchObject([{ error: { message: 'too slow' }, status: 200 }]);
    await once(socket, 'close');
  });

  it('that is aborted while it waits for a connection leaves that to the next', async () => {
    const { url, seen } = await startHttp((_request, response) => response.end('ok'));
    const poster = kept(createPoster(development));
    const message = { origin: url, path: '/', headers: [], body: Buffer.from('{}') };
    const errors: (Error | null)[] = [];
    poster.post(message, (error) => errors.push(error)).abort(new Error('changed my mind'));
    expect(errors).toMatchObject([{ message: 'changed my mind' }]);
    await expect.poll(() => seen.connections).toBe(1);
    await sleep(50);
    expect((await post(poster, url)).status).toBe(200);
    expect(seen.connections).toBe(1);
    expect(errors).toHaveLength(1);
  });

  it('fails where the connection is refused, closed or broken', async () => {
    const poster = kept(createPoster(development));
    const closing = createServer((socket) => socket.on('data', () => socket.end()));
    const resetting = createServer((socket) => socket.on('data', () => socket.resetAndDestroy()));
    const closes = await post(poster, `http://${PRIVATE}:${await listen(closing)}/`);
    expect(closes).toMatchObject({
      status: null,
      error: { message: 'the connection was closed before the answer' },
    });
    expect((await post(poster, `http://${PRIVATE}:${await listen(resetting)}/`)).error?.code).toBe(
      'ECONNRESET',
    );
    const port = await listen(createServer());
    closings.pop()?.();
    expect((await post(poster, `http://${PRIVATE}:${port}/`)).error?.code).toBe('ECONNREFUSED');
  });

  it.each([
    ['HTTP/1.1 200 OK\r\n\r\nuntil the end', true, 200],
    ['HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n', false, 410],
    ['HTTP/1.1 302 Found\r\nlocation: https://elsewhere.example/\r\ncontent-length: 0\r\n\r\n', false, 302],
    [
      'HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 202 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      false,
      202,
    ],
    ['HTTP/1.0 200 OK\r\n\r\n', true, 200],
    ['HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab', true, 'fails'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', true, 'fails'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n', true, 'fails'],
    ['HTTP/1.1 200 OK\r\na: b\n c\r\n\r\n', true, 'fails'],
    ['no http at all\r\n\r\n', true, 'fails'],
  ])('reads %j as the general client does', async (answer, closes, expected) => {
    const url = await startRaw(answer, closes);
    expect(await askGenerally(url)).toBe(expected);
    const ours = await post(kept(createPoster(development)), url);
    expect(ours.error === null ? ours.status : 'fails').toBe(expected);
  });
});

describe('the guard', () => {
  const { cert, key } = makeSelfSigned([NAME]);
  const four = (address: string): ResolvedAddress => ({ address, family: 4 });

  async function startHttps() {
    const hits: (string | undefined)[] = [];
    const server = createHttpsServer({ cert, key }, (request, response) => {
      hits.push(request.headers.host);
      request.resume();
      response.end('ok');
    });
    return { hits, server, port: await listen(server, PUBLIC) };
  }

  function posterFor(
    port: number,
    resolve: () => Promise<ResolvedAddress[]>,
    others: readonly string[] = [],
  ): Poster {
    const allow = [PUBLIC, ...others].map((address) => `${address}:${port}`);
    return kept(createPoster(createEgressPolicy({ allow, resolve }), { tls: { ca: cert } }));
  }

  it('dials the checked address under the real name, which TLS verifies', async () => {
    const { port, hits } = await startHttps();
    const poster = posterFor(port, async () => [four(PUBLIC)]);
    expect((await post(poster, `https://${NAME}:${port}/hook`)).status).toBe(200);
    expect((await post(poster, `https://${NAME}:${port}/hook`)).status).toBe(200);
    expect(hits).toEqual(Array(2).fill(`${NAME}:${port}`));
    expect((await post(poster, `https://other.example:${port}/`)).error?.code).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
    const { error } = await post(
      kept(createPoster(createEgressPolicy({ allow: [`${PUBLIC}:${port}`] }))),
      `https://${PUBLIC}:${port}/`,
    );
    expect(error?.code).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(hits).toHaveLength(2);
  });

  it('looks a name up once per connection, so that no second answer can be dialled', async () => {
    const { port, hits } = await startHttps();
    let privateConnections = 0;
    const hidden = createServer(() => {
      privateConnections += 1;
    });
    await listen(hidden, PRIVATE, port);
    const given = [PUBLIC, PRIVATE];
    let lookups = 0;
    const poster = posterFor(port, async () => [four(given[lookups++ % 2] ?? '')]);
    const url = `https://${NAME}:${port}/`;
    const [first, second] = await Promise.all([post(poster, url), post(poster, url)]);
    expect([first.status, second.error?.code]).toEqual([200, 'EGRESS_REFUSED']);
    expect([lookups, hits.length, privateConnections]).toEqual([2, 1, 0]);
  });

  it('refuses addresses, local names and plain http', async () => {
    const { port } = await startHttps();
    const poster = posterFor(port, async () => [four(PUBLIC)]);
    for (const place of [PRIVATE, 'localhost', '2130706433', '[::ffff:127.0.0.1]'])
      expect((await post(poster, `https://${place}:${port}/`)).error?.code).toBe('EGRESS_REFUSED');
    expect((await post(poster, `http://${NAME}:${port}/`)).error?.code).toBe('EGRESS_REFUSED');
    const empty = posterFor(port, async () => []);
    expect((await post(empty, `https://${NAME}:${port}/`)).error?.code).toBe('EGRESS_UNRESOLVED');
  });

  it('tries three addresses of a name and no more', async () => {
    const { port } = await startHttps();
    const silent = ['127.0.0.3', '127.0.0.4', '127.0.0.5'];
    const near = posterFor(port, async () => [silent[0] ?? '', PUBLIC].map(four), silent);
    expect((await post(near, `https://${NAME}:${port}/`)).status).toBe(200);
    const far = posterFor(port, async () => [...silent, PUBLIC].map(four), silent);
    expect((await post(far, `https://${NAME}:${port}/`)).error?.code).toBe('ECONNREFUSED');
  });
});

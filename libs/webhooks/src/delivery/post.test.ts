import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEgressPolicy, createPoster, type Poster } from '@libs/egress';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Post } from './post.ts';
import type { TryOutcome } from './schedule.ts';

let server: Server;
let origin: string;
let poster: Poster;
let respond: { status: number; parts: readonly Buffer[]; cut?: 'end' | 'resetAndDestroy' };

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(respond.status);
    for (const part of respond.parts) response.write(part);
    // Once that has left, or there would be nothing to cut.
    if (respond.cut === undefined) response.end();
    else setImmediate(() => request.socket[respond.cut ?? 'end']());
  });
  await new Promise<void>((started) => server.listen(0, '127.0.0.1', started));
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  poster = createPoster(createEgressPolicy({ allow: [`127.0.0.1:${port}`] }));
});
afterAll(() => {
  poster.destroy();
  server.close();
});

function send(
  status: number,
  parts: readonly (string | Buffer)[],
  more: Pick<typeof respond, 'cut'> = {},
): Promise<TryOutcome> {
  respond = { status, parts: parts.map((part) => Buffer.from(part)), ...more };
  return new Promise((done) =>
    new Post(done).start(poster, { origin, path: '/', headers: [], body: Buffer.from('{}') }),
  );
}

it('keeps how the answer to a failed try begins, as text that a database can hold', async () => {
  expect(await send(500, ['{"error":', '"no such order"}'])).toMatchObject({
    ...{ status: 500, error: 'answered 500', response: '{"error":"no such order"}' },
  });
  expect((await send(404, ['a\0b', Buffer.from([0xff])])).response).toBe('ab');
  expect((await send(302, ['x'.repeat(300), 'y'.repeat(300)])).response).toBe(
    'x'.repeat(300) + 'y'.repeat(200),
  );
  expect((await send(500, [`${'z'.repeat(499)}é`])).response).toBe('z'.repeat(499));
  expect((await send(500, ['w'.repeat(20_000)])).response).toHaveLength(500);
});

it('keeps nothing of a success, nor of an answer without a body', async () => {
  expect(await send(200, ['welcome'])).toEqual({ status: 200, error: null, retryAfter: null });
  expect('response' in (await send(503, []))).toBe(false);
});

it.each(['end', 'resetAndDestroy'] as const)(
  'says of an answer that was cut that it had begun: %s',
  async (cut) => {
    expect(await send(200, ['wel'], { cut })).toMatchObject({
      ...{ status: 200, error: 'the connection was closed before the end of the answer' },
    });
  },
);

import { afterEach, expect, test, vi } from 'vitest';
import { createClient } from './client.ts';
import { connection } from './connection.ts';
import { ConnectionLost } from './problem.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('a call waits half a minute, and longer where its answer takes longer', async () => {
  vi.stubGlobal('fetch', async () => Response.json({}));
  const waited = vi.spyOn(AbortSignal, 'timeout');
  const client = createClient({ headers: () => ({}), onUnauthenticated: () => {} });
  await client.post('/api/quick');
  await client.post('/api/slow', {}, { timeoutMs: 3_600_000 });
  expect(waited.mock.calls).toEqual([[30_000], [3_600_000]]);
});

/** An answer of which a beginning comes, and then nothing more. */
function brokenOff(error: Error): Response {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"id":'));
      controller.error(error);
    },
  });
  return new Response(body, { status: 201 });
}

test('an answer that breaks off is a lost one, so that the same is sent again with the same key', async () => {
  const lost = vi.spyOn(connection, 'reportLost').mockImplementation(() => {});
  const client = createClient({ headers: () => ({}), onUnauthenticated: () => {} });
  vi.stubGlobal('fetch', async () => brokenOff(new TypeError('network error')));
  await expect(client.post('/v1/payments', {})).rejects.toBeInstanceOf(ConnectionLost);
  vi.stubGlobal('fetch', async () => new Response('{"id":', { status: 201 }));
  await expect(client.post('/v1/payments', {})).rejects.toBeInstanceOf(ConnectionLost);
  expect(lost).toHaveBeenCalledTimes(2);
});

test('who gives up a call while its answer comes has lost no connection', async () => {
  const lost = vi.spyOn(connection, 'reportLost').mockImplementation(() => {});
  const client = createClient({ headers: () => ({}), onUnauthenticated: () => {} });
  const leaving = new AbortController();
  const gone = new DOMException('left', 'AbortError');
  vi.stubGlobal('fetch', async () => {
    leaving.abort();
    return brokenOff(gone);
  });
  await expect(client.get('/v1/payments', { signal: leaving.signal })).rejects.toBe(gone);
  expect(lost).not.toHaveBeenCalled();
});

test('what a gateway says in place of the server is no answer: what became of the call is open', async () => {
  const lost = vi.spyOn(connection, 'reportLost').mockImplementation(() => {});
  const client = createClient({ headers: () => ({}), onUnauthenticated: () => {} });
  for (const status of [502, 503, 504, 524])
    for (const body of ['<html>Bad gateway</html>', '{"message":"no healthy upstream"}']) {
      vi.stubGlobal('fetch', async () => new Response(body, { status }));
      await expect(client.post('/api/tokens', {})).rejects.toBeInstanceOf(ConnectionLost);
    }
  expect(lost).toHaveBeenCalledTimes(8);
  for (const [status, code] of [
    [503, 'not_ready'],
    [500, 'internal'],
  ] as const) {
    vi.stubGlobal('fetch', async () => Response.json({ code, title: 'Not now' }, { status }));
    await expect(client.post('/api/tokens', {})).rejects.toMatchObject({ name: 'ApiError', code });
  }
  expect(lost).toHaveBeenCalledTimes(8);
});

test('to delete what is gone is done: the answer to an earlier try was lost, or another window was quicker', async () => {
  const client = createClient({ headers: () => ({}), onUnauthenticated: () => {} });
  const refuse = (code: string, status: number) =>
    vi.stubGlobal('fetch', async () => Response.json({ code }, { status }));
  refuse('not_found', 404);
  await client.delete('/api/tokens/tok_1');
  await expect(client.get('/api/tokens/tok_1')).rejects.toMatchObject({ code: 'not_found' });
  refuse('forbidden', 403);
  await expect(client.delete('/api/tokens/tok_1')).rejects.toMatchObject({ code: 'forbidden' });
});

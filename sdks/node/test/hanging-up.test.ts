// Whoever stops reading, or aborts, leaves no connection open and nothing on the signal.
import { getEventListeners } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { Payments } from '../src/index.ts';
import { type Answer, json, problem, scriptedServer, text } from './scripted-server.ts';

/** An answer that nobody holds is hung up on by the garbage collector, sooner or later. */
const held: Response[] = [];
afterEach(async () => {
  held.length = 0;
});

async function serve(...answers: [Answer, ...Answer[]]) {
  const server = await scriptedServer(...answers);
  return new Payments({
    apiKey: 'sk_test_x',
    baseUrl: server.url,
    maxRetries: 0,
    // Longer than any test may take: what ends sooner ends for another reason.
    timeoutMs: 600_000,
    async fetch(input, init) {
      const response = await fetch(input, init);
      held.push(response);
      return response;
    },
  });
}

test('a signal that serves many calls is let go of after each', async () => {
  const client = await serve(json(200, { id: 'pay_1' }), problem(404, 'not_found'), text(200, 'id\n'));
  const { signal } = new AbortController();
  await client.payments.get('pay_1', { signal });
  await client.payments.get('pay_1', { signal }).catch(() => undefined);
  for await (const _chunk of client.payments.export({}, { signal }));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

/** Answers with what begins a body and never ends it; tells when the client has hung up. */
function open(contentType: string): { answer: Answer; closed: Promise<void> } {
  let tell: () => void;
  const closed = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const answer: Answer = (_request, response) => {
    response.once('close', () => tell());
    response.writeHead(200, { 'content-type': contentType });
    response.write(': alive\n\n');
  };
  return { answer, closed };
}

test('a stream that is left while it catches up hangs up', async () => {
  const { answer, closed } = open('text/event-stream');
  const event = { id: 'evt_1', type: 'payment.pending', data: {} };
  const client = await serve(answer, json(200, { object: 'list', data: [event], next_cursor: null }));
  for await (const { id } of client.events.stream({ lastEventId: '' })) {
    expect(id).toBe('evt_1');
    break;
  }
  await closed;
});

test('a page instead of a stream is hung up on', async () => {
  const { answer, closed } = open('text/html');
  const client = await serve(answer);
  await expect(client.events.stream({ lastEventId: 'evt_0' }).next()).rejects.toMatchObject({
    code: 'invalid_response',
  });
  await closed;
});

test('a stream ends with its signal also while it asks for the newest event', async () => {
  const stop = new AbortController();
  const client = await serve(() => stop.abort(new Error('enough')));
  await expect(client.events.stream({ signal: stop.signal }).next()).rejects.toThrow('enough');
});

test('a stream comes back no sooner than the server asks', async () => {
  const client = await serve(problem(503, 'not_ready', { 'retry-after': '7' }));
  const stop = new AbortController();
  const delays: number[] = [];
  const stream = client.events.stream({
    lastEventId: 'evt_0',
    signal: stop.signal,
    onReconnect(_error, delayMs) {
      delays.push(delayMs);
      stop.abort();
    },
  });
  await expect(stream.next()).rejects.toMatchObject({ name: 'AbortError' });
  expect(delays[0]).toBeGreaterThanOrEqual(7_000);
});

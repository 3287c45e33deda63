// The trace of a request (W3C Trace Context) goes on in its jobs, its webhooks, its calls to the outside and its log lines.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEgressPolicy, createHttpClient } from '@libs/egress';
import { createLogger, currentTrace, parseTraceparent, runInTrace } from '@libs/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../contract/payments/harness.ts';
import { type Received, type Receiver, startReceiver } from '../contract/payments/receiver.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const OTHER_ID = '7'.repeat(32);
const PARENT_ID = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE_ID}-${PARENT_ID}-01`;

let harness: Harness;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '1' } });
  await harness.call('POST', '/v1/webhook_endpoints', { body: { url: `${receiver.url}/hook` } });
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

const pay = (key: string, headers: Record<string, string> = {}) =>
  harness.call('POST', '/v1/payments', {
    headers: { 'idempotency-key': key, ...headers },
    body: {
      amount: 100,
      currency: 'USD',
      source: { payment_method_id: 'pm_alice' },
      destination: { payment_method_id: 'pm_bob' },
      rail: 'rtp',
    },
  });

const toldOf = (id: string): Received[] => receiver.at('/hook').filter(({ body }) => body.data.id === id);

test('every webhook of a payment names the trace of its request, and those of others in the same batch do not', async () => {
  const [traced, another, plain, invalid] = await Promise.all([
    pay('traced', { traceparent: TRACEPARENT }),
    pay('another', { traceparent: `00-${OTHER_ID}-${PARENT_ID}-01` }),
    pay('plain'),
    pay('invalid', { traceparent: `00-${'0'.repeat(32)}-${PARENT_ID}-01` }),
  ]);
  const ids = [traced, another, plain, invalid].map(({ body }) => body.id as string);
  for (const id of ids)
    await expect
      .poll(() =>
        toldOf(id)
          .map(({ body }) => body.type)
          .toSorted(),
      )
      .toEqual(['payment.completed', 'payment.pending', 'payment.processing']);
  const traces = toldOf(ids[0] ?? '').map(({ headers }) => parseTraceparent(headers.traceparent));
  expect(traces.map((trace) => trace?.traceId)).toEqual([TRACE_ID, TRACE_ID, TRACE_ID]);
  // Each is a step of its own, and none the caller's.
  const steps = new Set([PARENT_ID, ...traces.map((trace) => trace?.parentId)]);
  expect(steps.size).toBe(4);
  const others = toldOf(ids[1] ?? '').map(({ headers }) => parseTraceparent(headers.traceparent)?.traceId);
  expect(others).toEqual([OTHER_ID, OTHER_ID, OTHER_ID]);
  for (const id of ids.slice(2))
    expect(toldOf(id).map(({ headers }) => headers.traceparent)).toEqual([undefined, undefined, undefined]);
});

test('a job keeps the trace of the transaction that adds it', async () => {
  const add = () =>
    harness.database.transaction(async (tx) => {
      const { rows } = await tx.query(
        `insert into jobs (name, payload, ready_at) values ('nobody.takes.this', '{}', now()) returning traceparent`,
      );
      return rows;
    });
  expect(await runInTrace(parseTraceparent(TRACEPARENT), add)).toEqual([{ traceparent: TRACEPARENT }]);
  // The connection is the same one, and the trace ended with its transaction.
  expect(await add()).toEqual([{ traceparent: null }]);
});

test('calls to the outside carry it on', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.traceparent as string | undefined);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const policy = createEgressPolicy({ allow: [`127.0.0.1:${port}`] });
  const client = createHttpClient(policy, { timeoutMs: 5_000, answerBytesMax: 1_000 });
  const get = () => client.request(`http://127.0.0.1:${port}/`);
  await runInTrace(parseTraceparent(TRACEPARENT), get);
  await get();
  await client.close();
  server.close();
  expect(parseTraceparent(seen[0])).toMatchObject({ traceId: TRACE_ID, sampled: true });
  expect(seen[0]).not.toBe(TRACEPARENT);
  expect(seen[1]).toBeUndefined();
});

test('lines of the log name it', async () => {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLogger({ name: 'tests', level: 'info', destination });
  await runInTrace(parseTraceparent(TRACEPARENT), async () => {
    await Promise.resolve();
    log.info('in the background');
    log.child({ trace_id: 'of the request' }).info('of a request');
  });
  log.info('of nobody');
  expect(currentTrace()).toBeUndefined();
  expect(lines.map((line) => line.trace_id)).toEqual([TRACE_ID, 'of the request', undefined]);
});

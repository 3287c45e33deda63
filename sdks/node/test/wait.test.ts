import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Payment,
  type PaymentStatus,
  Payments,
  UnexpectedStatusError,
  WaitTimeoutError,
} from '../src/index.ts';
import { judge } from '../src/wait.ts';
import { type Answer, json, problem, type ScriptedServer, startScriptedServer } from './scripted-server.ts';

function payment(...statuses: PaymentStatus[]): Payment {
  const timeline = statuses.map((status) => ({ status, timestamp: '2026-11-15T12:00:00.000Z' }));
  const failure = statuses.includes('failed')
    ? { code: 'account_closed', network_code: 'AC04', detail: 'Closed.' }
    : null;
  return { id: 'pay_1', status: statuses.at(-1), timeline, failure } as unknown as Payment;
}

test.each<[PaymentStatus[], PaymentStatus[], string]>([
  [['pending'], ['completed'], 'waiting'],
  [['pending', 'processing'], ['completed'], 'waiting'],
  [['pending', 'processing', 'completed'], ['completed'], 'there'],
  [['pending', 'processing', 'completed'], ['processing'], 'there'],
  [['pending', 'processing', 'completed'], ['returned'], 'waiting'],
  [['pending', 'processing', 'completed'], ['failed'], 'pointless'],
  [['pending', 'processing'], ['canceled'], 'pointless'],
  [['pending', 'processing', 'failed'], ['completed'], 'pointless'],
  [['pending', 'processing', 'failed'], ['completed', 'failed'], 'there'],
  [['pending', 'canceled'], ['completed'], 'pointless'],
  [['pending', 'processing', 'completed', 'returned'], ['completed'], 'pointless'],
  [['pending', 'processing', 'completed', 'returned'], ['returned'], 'there'],
])('a payment that was %j, for somebody who waits for %j: %s', (statuses, wanted, expected) => {
  expect(judge(payment(...statuses), wanted)).toBe(expected);
});

test('a look takes no longer than any try of the client, so that an answer that was lost costs no more', async () => {
  const lost: Answer = () => undefined;
  const silent = await startScriptedServer(lost, json(200, payment('pending', 'processing', 'completed')));
  const { payments } = new Payments({ apiKey: 'sk_test_x', baseUrl: silent.url, timeoutMs: 200 });
  expect((await payments.waitFor('pay_1', 'completed', { timeoutMs: 20_000 })).status).toBe('completed');
  expect(silent.seen).toHaveLength(2);
  await silent.close();
}, 15_000);

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer(
    json(200, payment('pending')),
    problem(503, 'shutting_down'),
    (_request, response) => response.destroy(),
    json(200, payment('pending', 'processing', 'failed')),
    json(200, payment('pending')),
  );
});
afterAll(() => server.close());

test('waits over a restart of the server, and says at once when it is pointless, and when time is over', async () => {
  const { payments } = new Payments({ apiKey: 'sk_test_x', baseUrl: server.url });
  const failed = await payments.waitFor('pay_1', 'completed').catch((error) => error);
  expect(failed).toBeInstanceOf(UnexpectedStatusError);
  expect(failed.message).toBe(
    'Payment pay_1 is failed (account_closed: Closed.) and will not become completed.',
  );
  expect(failed.payment.status).toBe('failed');
  expect((await payments.waitFor('pay_1', 'pending', { timeoutMs: 3_600_000 })).status).toBe('pending');
  const late = await payments
    .waitFor('pay_1', ['completed', 'failed'], { timeoutMs: 300 })
    .catch((error) => error);
  expect(late).toBeInstanceOf(WaitTimeoutError);
  expect(late).toMatchObject({ message: 'Payment pay_1 is pending after 300 ms.', code: 'wait_timeout' });
});

/** Answers at once the first time, and after a moment from then on. */
function slowAfterTheFirst(first: Payment, then: Payment): [Answer, Answer] {
  const late: Answer = (request, response) => void setTimeout(() => json(200, then)(request, response), 50);
  return [json(200, first), late];
}

test('the last look counts, however little time was left for it, and no time at all is one look', async () => {
  const done = payment('pending', 'processing', 'completed');
  const slow = await startScriptedServer(...slowAfterTheFirst(payment('pending'), done));
  const { payments } = new Payments({ apiKey: 'sk_test_x', baseUrl: slow.url });
  expect((await payments.waitFor('pay_1', 'completed', { timeoutMs: 100 })).status).toBe('completed');
  expect((await payments.waitFor('pay_1', 'completed', { timeoutMs: 0 })).status).toBe('completed');
  expect((await payments.waitFor('pay_1', 'completed', { timeoutMs: -1 })).status).toBe('completed');
  await slow.close();
});

test('a time to wait that is no number is a mistake in the call', async () => {
  const { payments } = new Payments({ apiKey: 'sk_test_x', baseUrl: server.url });
  const asked = server.seen.length;
  for (const timeoutMs of ['5000', Number.NaN, {}]) {
    const waiting = payments.waitFor('pay_1', 'completed', { timeoutMs } as object);
    await expect(waiting).rejects.toThrow('timeoutMs must be a number');
  }
  expect(server.seen).toHaveLength(asked);
});

test('waits between two looks as long as the server asks', async () => {
  const done = payment('pending', 'processing', 'completed');
  const busy = await startScriptedServer(
    problem(429, 'rate_limited', { 'retry-after': '1' }),
    json(200, done),
  );
  const startedMs = performance.now();
  await new Payments({ apiKey: 'sk_test_x', baseUrl: busy.url }).payments.waitFor('pay_1', 'completed');
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(990);
  await busy.close();
});

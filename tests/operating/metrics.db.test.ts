// What /metrics of both services shows after some work: the figures that the rules and the dashboard go by.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../../services/toolhub/test/accounts.ts';
import {
  ADMIN_TOKEN,
  createToolhubDatabase,
  type Instance,
  startInstance,
} from '../../services/toolhub/test/instance.ts';
import { type Harness, startHarness } from '../contract/payments/harness.ts';
import { type Receiver, startReceiver } from '../contract/payments/receiver.ts';
import { apiOf, newCustomer } from '../contract/toolhub/customer.ts';
import { metricsNamed } from './rules.ts';

let payments: Harness;
let toolhub: Instance;
let receiver: Receiver;
let dropToolhub: () => Promise<void>;

beforeAll(async () => {
  receiver = await startReceiver();
  payments = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '1' } });
  const database = await createToolhubDatabase();
  dropToolhub = database.drop;
  toolhub = await startInstance(database.url, { jobs: true });
});
afterAll(async () => {
  await payments.stop();
  await toolhub.stop();
  await dropToolhub();
  await receiver.stop();
});

const metricsOf = async (url: string) => (await fetch(`${url}/metrics`)).text();

/** The value of the series that has these labels, whatever others it has. */
function seriesValue(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const line = text
    .split('\n')
    .find(
      (one) =>
        (one.startsWith(`${name}{`) || one.startsWith(`${name} `)) &&
        Object.entries(labels).every(([label, value]) => one.includes(`${label}="${value}"`)),
    );
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

test('payments: moves, time in states, batches, queues, webhooks and the pool', async () => {
  await payments.call('POST', '/v1/webhook_endpoints', { body: { url: `${receiver.url}/hook` } });
  const pay = (rail: string, key: string, destination = 'pm_bob') =>
    payments.call('POST', '/v1/payments', {
      headers: { 'idempotency-key': key },
      body: {
        amount: 100,
        currency: 'USD',
        source: { payment_method_id: 'pm_alice' },
        destination: { payment_method_id: destination },
        rail,
      },
    });
  for (const answer of await Promise.all([pay('rtp', 'a'), pay('rtp', 'b'), pay('ach', 'c')]))
    expect(answer.status).toBe(202);
  const completed = { rail: 'rtp', status: 'completed', mode: 'test' };
  await expect
    .poll(async () => seriesValue(await metricsOf(payments.url), 'payments_moves_total', completed))
    .toBe(2);
  await expect.poll(() => receiver.at('/hook').length).toBeGreaterThanOrEqual(7);
  const text = await metricsOf(payments.url);
  const moves = (rail: string, status: string) =>
    seriesValue(text, 'payments_moves_total', { rail, status, mode: 'test' });
  expect([moves('rtp', 'pending'), moves('rtp', 'processing'), moves('ach', 'pending')]).toEqual([2, 2, 1]);
  expect(seriesValue(text, 'payments_state_seconds_count', { rail: 'rtp', status: 'pending' })).toBe(2);
  expect(seriesValue(text, 'payments_state_seconds_count', { rail: 'rtp', status: 'processing' })).toBe(2);
  expect(seriesValue(text, 'payments_accept_batch_size_sum')).toBe(3);
  expect(seriesValue(text, 'jobs_batch_size_count', { name: 'payments.submit' })).toBeGreaterThan(0);
  expect(seriesValue(text, 'jobs_batches_at_once_count', { name: 'payments.submit' })).toBeGreaterThan(0);
  expect(seriesValue(text, 'jobs_tries_total', { name: 'payments.submit', outcome: 'done' })).toBeGreaterThan(
    0,
  );
  expect(seriesValue(text, 'jobs_due', { name: 'payments.submit.live' })).toBe(0);
  expect(seriesValue(text, 'webhooks_tries_total', { result: 'delivered' })).toBeGreaterThanOrEqual(7);
  expect(seriesValue(text, 'webhooks_delivery_lag_seconds_count')).toBeGreaterThanOrEqual(7);
  expect(seriesValue(text, 'webhooks_queued')).toBeGreaterThanOrEqual(0);
  expect(seriesValue(text, 'db_pool_connections', { pool: 'test', state: 'idle' })).toBeGreaterThan(0);
  expect(seriesValue(text, 'payments_reconciliation_open_differences', { rail: 'ach', mode: 'live' })).toBe(
    0,
  );
});

test('queues are counted without being read: the oldest and the given up are seen', async () => {
  await payments.database.query(
    `insert into jobs (name, payload, ready_at, failed_at) values
       ('retention.sweep', '{}', now() - interval '1 hour', now()), ('nobody.takes.this', '{}', now(), null)`,
  );
  const text = await metricsOf(payments.url);
  expect(seriesValue(text, 'jobs_failed', { name: 'retention.sweep' })).toBe(1);
  expect(text).not.toContain('nobody.takes.this');
  const { rows } = await payments.database.query<{ plan: string }>(
    `explain (format text) select count(*) from (select 1 from jobs where name = 'retention.sweep' and failed_at is null
       and ready_at <= now() limit 10) as counted`,
  );
  expect(JSON.stringify(rows)).toContain('jobs_ready');
});

test('toolhub: calls, what the gate refused, runs of the invoices', async () => {
  const customer = await newCustomer(toolhub.url);
  const called = (args: object) =>
    call(`${toolhub.url}/api/tools/accounts_list/call`, {
      body: { arguments: args },
      cookie: customer.cookie,
    });
  expect((await called({})).status).toBe(200);
  expect((await called({ nothing: 'of the kind' })).body).toMatchObject({ is_error: true });
  // A run that fails is the first of its process as a rule: what an alert sees increase must be there before.
  const before = await metricsOf(toolhub.url);
  expect(seriesValue(before, 'toolhub_invoice_runs_total', { outcome: 'error' })).toBe(0);
  expect(seriesValue(before, 'toolhub_invoices_total', { result: 'failed' })).toBe(0);
  const runsBefore = seriesValue(before, 'toolhub_invoice_runs_total', { outcome: 'done' }) ?? 0;
  const run = await apiOf(toolhub.url, ADMIN_TOKEN)('POST', '/api/admin/invoices/run', { period: '2020-01' });
  expect(run.status).toBe(200);
  const text = await metricsOf(toolhub.url);
  // On the first of a month the run of its own may come in between.
  expect(seriesValue(text, 'toolhub_invoice_runs_total', { outcome: 'done' })).toBeGreaterThan(runsBefore);
  expect(seriesValue(text, 'toolhub_invoices_total', { result: 'failed' })).toBe(0);
  const accounts = { platform: 'accounts' };
  expect(seriesValue(text, 'toolhub_tool_calls_total', { ...accounts, outcome: 'success' })).toBe(1);
  expect(seriesValue(text, 'toolhub_tool_call_duration_seconds_count', accounts)).toBe(2);
  expect(seriesValue(text, 'toolhub_gate_refusals_total', { gate: 'arguments' })).toBe(1);
});

test('every metric that a rule or a panel names is there', async () => {
  // Shown by `main.ts` alone: the process itself, and what is an error at once outside production.
  const ofTheProcess = /^(process|nodejs)_|^db_second_connections_total$/;
  const shown = (await metricsOf(payments.url)) + (await metricsOf(toolhub.url));
  const types = new Set([...shown.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name));
  const named = metricsNamed();
  expect(named.length).toBeGreaterThan(20);
  const missing = named.filter((name) => !types.has(name) && !ofTheProcess.test(name));
  expect(missing).toEqual([]);
});

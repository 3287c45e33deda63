// The command line against the real service.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, NEXT_YEAR, startHarness } from '../../../tests/contract/payments/harness.ts';
import { type Switchboard, startSwitchboard } from '../../test/switchboard.ts';
import { Payments, webhooks } from '../src/index.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'payments-cli-'));
let harness: Harness;
let switchboard: Switchboard;
let apiKey: string;
let receiver: Server;
let address: string;
let secret: string;
let endpointSecret: string;
const received: string[] = [];

const env = () => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  XDG_CONFIG_HOME: home,
  PAYMENTS_API_KEY: apiKey,
  PAYMENTS_API_URL: switchboard.url,
});
const command = (words: string[]) => ['--no-warnings', program, ...words];

async function payments(...words: string[]): Promise<string> {
  return (await run(process.execPath, command(words), { env: env() })).stdout;
}

beforeAll(async () => {
  switchboard = await startSwitchboard();
  apiKey = 'sk_test_sandbox';
  secret = (await payments('listen', '--print-secret')).trim();
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const by = request.url === '/endpoint' ? endpointSecret : secret;
    received.push(webhooks.verify(body, request.headers, by).id);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0', PAYMENTS_EGRESS_ALLOW: address } });
  switchboard.connect(harness.url);
  apiKey = (await harness.organisation()).test;
});
afterAll(async () => {
  await switchboard.close();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
  await harness.stop();
  rmSync(home, { recursive: true, force: true });
});

const create = ['create', '--amount', '2500', '--source', 'pm_alice', '--destination', 'pm_bob'];

test('a payment is made, followed, shown and listed, and an event of it is sent again', async () => {
  const followed = (await payments(...create, '--rail', 'rtp', '--wait')).trim().split('\n');
  expect(followed.map((line) => line.split(/ +/)[1])).toEqual(['pending', 'processing', 'completed']);
  const id = followed[0]?.split(/ +/)[2] as string;
  expect(JSON.parse(await payments('get', id, '--json'))).toMatchObject({ id, status: 'completed' });
  expect(await payments('list', '--status', 'completed')).toContain(id);
  const events = JSON.parse(await payments('events', 'list', '--object', id, '--json'));
  await payments('events', 'resend', events.data[0].id, '--forward-to', address);
  expect(received.splice(0)).toEqual([events.data[0].id]);
}, 60_000);

test('a payment is canceled while it waits, and refunded in part and then whole', async () => {
  await payments('sandbox', 'clock', '--now', `${NEXT_YEAR}-01-05T12:00:00Z`);
  const waiting = JSON.parse(await payments(...create, '--rail', 'ach', '--json'));
  expect(await payments('cancel', waiting.id)).toMatch(/status {7}canceled/);
  const paid = JSON.parse(await payments(...create, '--rail', 'ach', '--json'));
  await payments('sandbox', 'settle', paid.id);
  const part = JSON.parse(await payments('refund', paid.id, '--amount', '500', '--json'));
  expect(part).toMatchObject({ amount: 500, refund_of: paid.id });
  expect(await payments('refund', paid.id)).toMatch(/amount {7}20\.00 USD/);
  expect(await payments('get', paid.id)).toMatch(/refunded {5}25\.00 USD/);
  await payments('sandbox', 'reset');
}, 60_000);

test('an event is sent again to the webhook endpoint that got it', async () => {
  const client = new Payments({ apiKey, baseUrl: harness.url });
  const endpoint = await client.webhookEndpoints.create({ url: `http://${address}/endpoint` });
  endpointSecret = endpoint.secret;
  const { id } = await client.paymentMethods.create({ type: 'balance' });
  const [event] = (await client.events.list({ object_id: id }).page()).data;
  await expect.poll(() => received).toEqual([event?.id]);
  expect(await payments('events', 'resend', event?.id as string)).toContain(`→ ${endpoint.id}: on its way`);
  await expect.poll(() => received).toEqual([event?.id, event?.id]);
  await client.webhookEndpoints.delete(endpoint.id);
  received.length = 0;
}, 60_000);

test('the sandbox: a clock, money, forced outcomes, and all of it anew', async () => {
  expect(await payments('sandbox', 'clock', '--advance', 'P1D')).toMatch(/state {2}frozen/);
  const client = new Payments({ apiKey, baseUrl: harness.url });
  const { id: balance } = await client.paymentMethods.create({ type: 'balance' });
  expect(await payments('sandbox', 'fund', balance, '5000')).toMatch(/available {2}50\.00 USD/);
  const made = JSON.parse(await payments(...create, '--rail', 'ach', '--json'));
  expect(JSON.parse(await payments('sandbox', 'settle', made.id, '--json')).status).toBe('completed');
  expect(await payments('sandbox', 'return', made.id, 'R10')).toMatch(/status {7}returned/);
  expect(await payments('sandbox', 'reset')).toBe('Test mode is empty again.\n');
  expect(await payments('list')).toBe('No payments.\n');
}, 60_000);

test('listen forwards every event once, over restarts of the server and of itself, and over a reset', async () => {
  const listen = async () => {
    const child = spawn(process.execPath, command(['listen', '--forward-to', address]), { env: env() });
    const said: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const stop = () => {
      child.kill('SIGTERM');
      return ended;
    };
    await expect.poll(() => said.join()).toContain('Connected.');
    return stop;
  };
  const direct = new Payments({ apiKey, baseUrl: harness.url });
  const pay = async () => {
    const body = {
      amount: 100,
      currency: 'USD',
      source: { payment_method_id: 'pm_alice' },
      destination: { payment_method_id: 'pm_bob' },
      rail: 'rtp',
    } as const;
    const { id } = await direct.payments.create(body);
    await direct.payments.waitFor(id, 'completed');
  };
  const settled = async () => {
    const happened = (await direct.events.list({ limit: 100 }).page()).data.map(({ id }) => id);
    await expect.poll(() => received.toSorted()).toEqual(happened.toSorted());
  };

  received.length = 0;
  const first = await listen();
  await pay();
  await settled();
  switchboard.disconnect();
  await pay();
  switchboard.connect((await harness.another()).url);
  await settled();
  expect(await first()).toBe(0);
  await pay();
  const second = await listen();
  await pay();
  await settled();
  await direct.sandbox.reset();
  received.length = 0;
  await pay();
  await settled();
  expect(await second()).toBe(0);
}, 120_000);

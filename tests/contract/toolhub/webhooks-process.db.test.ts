// The service as a process: what it logs, what a kill leaves behind, and what a stop waits for.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestDatabase } from '@libs/db/testing';
import { freePort } from '@libs/runtime/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createToolhubDatabase, environment } from '../../../services/toolhub/test/instance.ts';
import { apiOf, newCustomer } from './customer.ts';
import { answer, hang, type Receiver, startReceiver, verify } from './receiver.ts';

const main = fileURLToPath(new URL('../../../services/toolhub/src/main.ts', import.meta.url));

let db: TestDatabase;
let receiver: Receiver;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  db = await createToolhubDatabase();
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const child of running) await end(child, 'SIGKILL');
});
afterAll(async () => {
  await receiver.stop();
  await db.drop();
});

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  child.kill(signal);
  const [code] = await once(child, 'exit');
  return code;
}

async function startProcess() {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: {
      ...environment(db.url, port),
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      TOOLHUB_LOG_LEVEL: 'trace',
      TOOLHUB_EGRESS_ALLOW: receiver.place,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => output.push(String(data)));
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      (response) => response.status === 200,
      () => false,
    );
  await expect.poll(isReady, { interval: 50 }).toBe(true);
  return { child, url, output };
}

async function setUp(url: string, path: string) {
  const { token } = await newCustomer(url);
  const api = apiOf(url, token);
  const { body } = await api('POST', '/api/webhooks/config', { webhook_url: receiver.url + path });
  return { api, token, secret: body.webhook_secret as string };
}

test('[TH-8.6] a kill loses nothing, a stop waits for what is under way, and the log never has the secret', {
  timeout: 60_000,
}, async () => {
  const first = await startProcess();
  const { api, token, secret } = await setUp(first.url, '/hooks');
  receiver.on('/hooks', hang);
  const { body: sent } = await api('POST', '/api/webhooks/test');
  // An address that is refused may be anything, even the secret itself.
  expect((await api('POST', '/api/webhooks/config', { webhook_url: secret })).status).toBe(422);
  await expect.poll(() => receiver.received.length).toBe(1);
  // Lines are written a little later, together: a kill may take the last of them along.
  await expect.poll(() => first.output.join('')).toContain('"status":422');
  await end(first.child, 'SIGKILL');

  receiver.on('/hooks', answer(204));
  const second = await startProcess();
  await expect.poll(() => receiver.received.length).toBe(2);
  const [before, after] = receiver.received;
  expect([before?.id, after?.id]).toEqual([sent.event_id, sent.event_id]);
  expect(after?.text).toBe(before?.text);
  verify(after as never, secret);
  const secondApi = apiOf(second.url, token);
  const newest = async () => (await secondApi('GET', '/api/webhooks/deliveries?limit=1')).body.data[0];
  await expect.poll(async () => (await newest()).status).toBe('delivered');

  receiver.on('/hooks', (response, received) => {
    setTimeout(() => answer(204)(response, received), 1_500);
  });
  const { body: last } = await secondApi('POST', '/api/webhooks/test');
  await expect.poll(() => receiver.received.length).toBe(3);
  expect(await end(second.child, 'SIGTERM')).toBe(0);
  const { rows } = await db.database.query(
    'select status, attempts from toolhub_webhooks.deliveries where id = $1',
    [last.id],
  );
  expect(rows).toMatchObject([{ status: 'delivered', attempts: [{ status: 204, error: null }] }]);

  const log = [...first.output, ...second.output].join('');
  expect(log).toContain('/api/webhooks/config');
  expect(log).not.toContain(secret.slice('whsec_'.length, 30));
});

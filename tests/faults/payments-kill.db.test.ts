// The server is killed at random points under load, again and again. What a client was promised must be there.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';

/** `npm run faults` kills twenty times; the short form keeps `npm test` short. */
const KILLS = Number(process.env.FAULTS_KILLS ?? 3);
const CLIENTS = 8;
const ALIVE_MS_MAX = 1_500;
const END_TIMEOUT_MS = 90_000;

const main = fileURLToPath(new URL('../../services/payments/src/main.ts', import.meta.url));
const KEY = 'sk_test_sandbox';

let testDatabase: TestDatabase;
let dataDir: string;
let port: number;
let child: ChildProcess | undefined;
let receiver: Server;
const received = new Map<string, { type: string; paymentId: string }>();
/** Payments that a client saw accepted, by their idempotency key. */
const promised = new Map<string, string>();

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return free;
}

async function start(): Promise<void> {
  child = spawn(process.execPath, [main], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      DATABASE_URL: testDatabase.url,
      DATA_DIR: dataDir,
      PAYMENTS_PORT: String(port),
      PAYMENTS_RATE_TEST: '0',
      PAYMENTS_SANDBOX_RTP_MS: '20',
      PAYMENTS_SANDBOX_ACH_MS: '200',
      PAYMENTS_LOG_LEVEL: 'fatal',
    },
  });
  await vi.waitUntil(
    () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        (r) => r.ok,
        () => false,
      ),
    { timeout: 30_000 },
  );
}

async function kill(): Promise<void> {
  const dying = child;
  child = undefined;
  dying?.kill('SIGKILL');
  if (dying) await once(dying, 'exit');
}

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely by the test.
  body: any;
}

async function call(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${KEY}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: await response.json() };
}

/** Sends payments as a careful client does: the same key until there is an answer. */
async function client(stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const key = randomUUID();
    const body = {
      amount: 1 + Math.floor(Math.random() * 10_000),
      currency: 'USD',
      source: { payment_method_id: 'pm_alice' },
      destination: { payment_method_id: Math.random() < 0.2 ? 'pm_test_rtp_reject_ac04' : 'pm_bob' },
      rail: Math.random() < 0.7 ? 'rtp' : 'ach',
    };
    for (;;) {
      const answer = await call('POST', '/v1/payments', body, { 'idempotency-key': key }).catch(
        () => undefined,
      );
      if (answer?.status === 202) {
        promised.set(key, answer.body.id);
        break;
      }
      if (answer) expect(answer.status, JSON.stringify(answer.body)).toBeGreaterThanOrEqual(500);
      await sleep(20);
    }
  }
}

beforeAll(async () => {
  testDatabase = await createTestDatabase(paymentsMigrations());
  dataDir = await mkdtemp(join(tmpdir(), 'faults-'));
  port = await freePort();
  receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const event = JSON.parse(text);
      received.set(request.headers['webhook-id'] as string, { type: event.type, paymentId: event.data.id });
      response.end();
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
afterAll(async () => {
  await kill();
  receiver.close();
  await testDatabase.drop();
  await rm(dataDir, { recursive: true, force: true });
});

test(
  `[P-8.13] after ${KILLS} kills every promise is kept exactly once, every webhook arrives and the books are clean`,
  async () => {
    await start();
    const hook = { url: `http://127.0.0.1:${(receiver.address() as { port: number }).port}/hook` };
    expect((await call('POST', '/v1/webhook_endpoints', hook)).status).toBe(201);
    const stop = new AbortController();
    const clients = Promise.all(Array.from({ length: CLIENTS }, () => client(stop.signal)));
    for (let round = 0; round < KILLS; round += 1) {
      await sleep(200 + Math.random() * ALIVE_MS_MAX);
      await kill();
      await start();
    }
    await sleep(500);
    stop.abort();
    await clients;
    expect(promised.size).toBeGreaterThan(KILLS);

    const { database } = testDatabase;
    const open = async () =>
      (
        await database.query(
          `select id, status, rail_selected from payments where status in ('pending', 'processing')`,
        )
      ).rows;
    await vi
      .waitUntil(async () => (await open()).length === 0, { timeout: END_TIMEOUT_MS, interval: 250 })
      .catch(() => {});
    expect(await open()).toEqual([]);
    const stored = await database.query<{ key: string; id: string }>(
      `select k.key, e.subject_id as id from idempotency_keys k join events e on e.tenant_id = k.tenant_id and e.id = k.event_id`,
    );
    const byKey = new Map(stored.rows.map((row) => [row.key, row.id]));
    for (const [key, id] of promised) expect(byKey.get(key)).toBe(id);
    const payments = await database.query('select count(*)::int as n from payments');
    expect(payments.rows).toEqual([{ n: byKey.size }]);

    const events = (await database.query<{ id: string }>('select id from events')).rows;
    const missing = () => events.filter((event) => !received.has(event.id)).length;
    await vi.waitUntil(() => missing() === 0, { timeout: END_TIMEOUT_MS, interval: 250 }).catch(() => {});
    expect(missing()).toBe(0);
    expect((await call('GET', '/v1/ledger/check')).body).toMatchObject({ ok: true });
  },
  60_000 + KILLS * 10_000 + 2 * END_TIMEOUT_MS,
);

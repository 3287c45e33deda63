// Both services as processes behind PgBouncer in transaction mode, from an empty database to a delivered webhook and a
// listed tool. `npm run pooled` runs all contract tests this way.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  databaseSettings,
  PGBOUNCER,
  startPooler,
  type TestDatabase,
  type TestPooler,
} from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeToken, signUp } from '../../services/toolhub/test/accounts.ts';
import { spawnInstance } from '../../services/toolhub/test/instance.ts';
import { type Receiver, startReceiver } from '../contract/payments/receiver.ts';
import { type LoggedService, startLogged } from '../logs/process.ts';

const PAYMENTS = 40;

describe.runIf(existsSync(PGBOUNCER))('behind PgBouncer', () => {
  let pooler: TestPooler;
  let databases: TestDatabase[];
  let receiver: Receiver;
  let dataDir: string;

  beforeAll(async () => {
    pooler = await startPooler(process.env.TEST_POSTGRES_URL as string);
    databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
    receiver = await startReceiver();
    dataDir = await mkdtemp(join(tmpdir(), 'pooled-'));
  });
  afterAll(async () => {
    await receiver.stop();
    await Promise.all(databases.map((database) => database.drop()));
    await pooler.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const startPayments = () =>
    startLogged('payments', {
      ...databaseSettings('PAYMENTS', (databases[0] as TestDatabase).url, pooler.url),
      NODE_ENV: 'development',
      PAYMENTS_LOG_LEVEL: 'error',
      PAYMENTS_RATE_TEST: '0',
      DATA_DIR: dataDir,
    });

  test('payments complete over two processes, and every webhook arrives', { timeout: 180_000 }, async () => {
    const first = await startPayments();
    const second = await startPayments();
    const call = async (at: LoggedService, method: string, path: string, body?: unknown, key = '') =>
      (
        await fetch(`${at.url}${path}`, {
          method,
          headers: {
            authorization: 'Bearer sk_test_sandbox',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(key === '' ? {} : { 'idempotency-key': key }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
      ).json() as Promise<Record<string, unknown>>;
    await call(first, 'POST', '/v1/webhook_endpoints', {
      url: `${receiver.url}/hook`,
      events: ['payment.completed'],
    });
    const order = {
      amount: 2500,
      currency: 'USD',
      source: { payment_method_id: 'pm_alice' },
      destination: { payment_method_id: 'pm_bob' },
      rail: 'rtp',
    };
    const accepted = await Promise.all(
      Array.from({ length: PAYMENTS }, (_, index) =>
        call(index % 2 === 0 ? first : second, 'POST', '/v1/payments', order, `pooled-${index}`),
      ),
    );
    const ids = accepted.map(({ id }) => id);
    expect(new Set(ids).size).toBe(PAYMENTS);
    expect((await call(second, 'POST', '/v1/payments', order, 'pooled-0')).id).toBe(ids[0]);
    await expect
      .poll(() => new Set(receiver.at('/hook').map(({ body }) => body.data.id)).size)
      .toBe(PAYMENTS);
    expect(await call(second, 'GET', '/v1/ledger/check')).toMatchObject({ ok: true });
    const printed = await Promise.all([first.stop(), second.stop()]);
    expect(printed.join('')).not.toMatch(/"level":"(error|fatal)"/);
  });

  test('an assistant lists its tools', { timeout: 180_000 }, async () => {
    const { url: databaseUrl } = databases[1] as TestDatabase;
    const service = await spawnInstance(databaseUrl, {
      env: { ...databaseSettings('TOOLHUB', databaseUrl, pooler.url), DATA_DIR: dataDir },
    });
    const { url } = service;
    const { token } = await makeToken(url, await signUp(url));
    const answer = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('"tools"');
    await service.stop();
  });
});

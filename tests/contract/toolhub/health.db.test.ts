// GET /api/health/platforms, asked of two processes over one database.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTelegramConnector } from '../../../services/toolhub/src/connectors/telegram/connector.ts';
import { createPlatform, unavailable } from '../../../services/toolhub/src/health/test/platform.ts';
import { call, makeToken } from '../../../services/toolhub/test/accounts.ts';
import {
  ADMIN_TOKEN,
  createToolhubDatabase,
  INTERNAL_TOKEN,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { apiOf, type Customer, newCustomer } from './customer.ts';
import { startReceiver } from './receiver.ts';
import { createTime } from './time.ts';

const HEALTH = '/api/health/platforms';
const MINUTE_MS = 60_000;

const time = createTime();
const alpha = createPlatform('alpha', time.now);
const beta = createPlatform('beta', time.now);

let db: TestDatabase;
let telegram: Server;
let asked = 0;
let answered = 404;
let services: [Instance, Instance];

beforeAll(async () => {
  db = await createToolhubDatabase();
  // Where the third platform is: it answers everyone, and counts.
  telegram = createServer((_request, response) => {
    asked += 1;
    setTimeout(() => response.writeHead(answered).end('{}'), 100);
  });
  await new Promise<void>((started) => telegram.listen(0, '127.0.0.1', started));
  const options = {
    now: time.now,
    connectors: [alpha.connector, beta.connector, createTelegramConnector()],
    env: {
      TOOLHUB_CONNECTOR_TELEGRAM_URL: `http://127.0.0.1:${(telegram.address() as AddressInfo).port}`,
    },
  };
  services = [await startInstance(db.url, options), await startInstance(db.url, options)];
});
afterAll(async () => {
  for (const service of services) await service.stop();
  await new Promise((stopped) => telegram.close(stopped));
  await db.drop();
});
beforeEach(() => {
  for (const platform of [alpha, beta]) {
    platform.probes.length = 0;
    platform.delayMs = 0;
    platform.refuseRefresh = false;
    platform.revoked.clear();
    platform.respond = async () => ({ status: 'ok', message: null });
  }
  asked = 0;
  answered = 404;
});

interface Shown {
  platform: string;
  status: string;
  token_expires_at: string | null;
  latency_ms: number | null;
  message: string | null;
}
interface Report {
  checked_at: string;
  cached: boolean;
  platforms: Shown[];
}

const connect = async (customer: Customer, platform: string, credential: object) => {
  const put = `/api/credentials/${platform}?verify=false`;
  expect((await apiOf(services[0].url, customer.token)('PUT', put, credential)).status).toBe(200);
};

async function ask(customer: Customer | undefined, nth: 0 | 1 = 0): Promise<Report> {
  const { status, body } = await call(services[nth].url + HEALTH, customer ? { token: customer.token } : {});
  expect(status).toBe(200);
  return body as unknown as Report;
}

const statusOf = (report: Report, platform: string) =>
  report.platforms.find((one) => one.platform === platform)?.status;

describe("a customer's accounts", () => {
  test('are shown as they are', async () => {
    const customer = await newCustomer(services[0].url);
    const expires_at = new Date(time.now().getTime() + 3_600_000).toISOString();
    await connect(customer, 'alpha', { token: 'a', expires_at });
    const report = await ask(customer);
    expect(report).toEqual({
      checked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      cached: false,
      platforms: [
        {
          platform: 'alpha',
          status: 'ok',
          token_expires_at: expires_at,
          latency_ms: expect.any(Number),
          message: null,
        },
        ...['beta', 'telegram'].map((platform) => ({
          platform,
          status: 'not_connected',
          token_expires_at: null,
          latency_ms: null,
          message: null,
        })),
      ],
    });
    expect(beta.probes).toEqual([]);
    expect(asked).toBe(0);
  });

  test('[TH-10.1] are asked for once, however many ask, over both processes', async () => {
    const customer = await newCustomer(services[0].url);
    await connect(customer, 'alpha', { token: 'a' });
    await connect(customer, 'beta', { token: 'b' });
    alpha.delayMs = 300;
    beta.delayMs = 100;
    const reports = await Promise.all(
      Array.from({ length: 100 }, (_, nth) => ask(customer, (nth % 2) as 0 | 1)),
    );
    expect([alpha.probes, beta.probes]).toEqual([['a'], ['b']]);
    const [{ checked_at, platforms }] = reports as [Report];
    for (const report of reports) expect(report).toMatchObject({ checked_at, platforms });
  });

  test('[TH-10.1] are kept for 10 minutes, for both processes', async () => {
    const customer = await newCustomer(services[0].url);
    await connect(customer, 'alpha', { token: 'a' });
    const first = await ask(customer, 0);
    const second = await ask(customer, 1);
    expect([first.cached, second.cached]).toEqual([false, true]);
    expect(second).toEqual({ ...first, cached: true });
    time.advance(10 * MINUTE_MS - 5_000);
    expect(await ask(customer, 0)).toEqual({ ...first, cached: true });
    expect(alpha.probes.length).toBe(1);
    time.advance(5_000);
    const third = await ask(customer, 1);
    expect(third.cached).toBe(false);
    expect(alpha.probes.length).toBe(2);
    expect(Date.parse(third.checked_at) - Date.parse(first.checked_at)).toBeGreaterThanOrEqual(
      10 * MINUTE_MS,
    );
    expect((await ask(customer, 0)).checked_at).toBe(third.checked_at);
  });

  test('[TH-10.2] are asked for anew as soon as a credential changes', async () => {
    const customer = await newCustomer(services[0].url);
    const bystander = await newCustomer(services[0].url);
    await connect(customer, 'alpha', { token: 'old' });
    await connect(bystander, 'alpha', { token: 'other' });
    for (const one of [customer, bystander]) await ask(one, 1);
    await connect(customer, 'alpha', { token: 'new' });
    expect(await ask(customer, 1)).toMatchObject({ cached: false });
    expect(await ask(bystander, 1)).toMatchObject({ cached: true });
    expect(alpha.probes).toEqual(['old', 'other', 'new']);
    const removed = await apiOf(services[0].url, customer.token)('DELETE', '/api/credentials/alpha');
    expect(removed.status).toBe(204);
    const after = await ask(customer, 1);
    expect([after.cached, statusOf(after, 'alpha')]).toEqual([false, 'not_connected']);
  });

  test('are nobody else’s', async () => {
    const [one, other] = [await newCustomer(services[0].url), await newCustomer(services[0].url)];
    await connect(one, 'alpha', { token: 'one', expires_at: '2099-01-01T00:00:00.000Z' });
    await connect(other, 'beta', { token: 'other' });
    alpha.respond = unavailable('alpha is away for one');
    expect((await ask(one)).platforms.map(({ status }) => status)).toEqual([
      'down',
      'not_connected',
      'not_connected',
    ]);
    expect((await ask(other)).platforms.map(({ status }) => status)).toEqual([
      'not_connected',
      'ok',
      'not_connected',
    ]);
    expect(JSON.stringify(await ask(other))).not.toContain('2099');
    const everyone = JSON.stringify(await ask(undefined));
    expect(everyone).not.toContain('2099');
    expect(everyone).not.toContain('away for one');
  });

  test('are found with the cookie as with a token', async () => {
    const customer = await newCustomer(services[0].url);
    await connect(customer, 'alpha', { token: 'a' });
    const { cookie } = customer;
    const { body } = await call(services[0].url + HEALTH, { cookie });
    expect(statusOf(body as unknown as Report, 'alpha')).toBe('ok');
    expect((await ask(customer)).cached).toBe(true);
  });

  test('of an expired token are marked and told of', async () => {
    const customer = await newCustomer(services[0].url);
    await connect(customer, 'alpha', { token: 'gone' });
    alpha.revoked.add('gone');
    const report = await ask(customer);
    expect(report.platforms[0]).toMatchObject({
      status: 'token_expired',
      latency_ms: null,
      message: expect.stringContaining('connect the account again'),
    });
    const { body } = await apiOf(services[0].url, customer.token)('GET', '/api/credentials');
    expect(body.data).toMatchObject([{ platform: 'alpha', status: 'expired' }]);
    const { rows } = await db.database.query('select type from events where customer_id = $1', [customer.id]);
    expect(rows).toEqual([{ type: 'credential.expired' }]);
    expect(await ask(customer, 1)).toEqual({ ...report, cached: true });
    expect(alpha.probes).toEqual(['gone']);
  });

  test('of a token that can be renewed are renewed', async () => {
    const customer = await newCustomer(services[0].url);
    await connect(customer, 'alpha', { token: 'stale', renewable: true });
    alpha.revoked.add('stale');
    const report = await ask(customer);
    expect(report.platforms[0]).toMatchObject({ status: 'ok', token_expires_at: expect.any(String) });
    expect(alpha.probes.slice(0, 2)).toEqual(['stale', 'stale+']);
    expect(await ask(customer, 1)).toEqual({ ...report, cached: true });
  });
});

describe('without a customer', () => {
  test('[TH-10.3] the platforms as such are shown, asked for once over both processes', async () => {
    time.advance(11 * MINUTE_MS);
    const reports = await Promise.all(
      Array.from({ length: 40 }, (_, nth) => ask(undefined, (nth % 2) as 0 | 1)),
    );
    expect(asked).toBe(1);
    for (const { platforms } of reports) {
      expect(platforms.map(({ platform, status }) => [platform, status])).toEqual([
        ['alpha', 'unknown'],
        ['beta', 'unknown'],
        ['telegram', 'ok'],
      ]);
      for (const one of platforms) expect(one.token_expires_at).toBeNull();
    }
    expect(alpha.probes).toEqual([]);
    expect((await ask(undefined, 1)).cached).toBe(true);
  });

  test('[TH-10.3] a platform that answers with an error of its own is degraded', async () => {
    time.advance(11 * MINUTE_MS);
    answered = 500;
    expect((await ask(undefined)).platforms.at(-1)).toMatchObject({
      ...{ platform: 'telegram', status: 'degraded', message: 'The platform answered 500.' },
    });
  });

  test("[TH-10.3] a platform that is down is shown without the operator's own addresses", async () => {
    time.advance(11 * MINUTE_MS);
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const inside = await startInstance(db.url, {
      now: time.now,
      connectors: [createTelegramConnector()],
      env: { TOOLHUB_CONNECTOR_TELEGRAM_URL: `http://127.0.0.1:${port}/inside` },
    });
    try {
      const { body } = await call(inside.url + HEALTH);
      expect(body).toMatchObject({
        platforms: [{ platform: 'telegram', status: 'down', message: 'The platform does not answer.' }],
      });
      expect(JSON.stringify(body)).not.toMatch(new RegExp(`127\\.0\\.0\\.1|${port}|inside`));
    } finally {
      await inside.stop();
    }
    time.advance(11 * MINUTE_MS);
  });

  test('a bad token is refused, and so is one without the scope or without an account', async () => {
    const url = services[0].url + HEALTH;
    expect((await call(url, { token: 'thp_wrong' })).status).toBe(401);
    expect((await call(url, { token: INTERNAL_TOKEN })).status).toBe(403);
    // The operator sees the platforms as such.
    const shown = await call<{ platforms: { status: string }[] }>(url, { token: ADMIN_TOKEN });
    expect([shown.status, shown.body.platforms[0]?.status]).toEqual([200, 'unknown']);
    const customer = await newCustomer(services[0].url);
    const { token } = await makeToken(services[0].url, customer, { scopes: ['tools:read'] });
    expect((await call(url, { token })).status).toBe(403);
    expect((await call(url, { method: 'POST' })).status).toBe(405);
  });
});

test('a token that runs out is told of before anybody asks', { timeout: 30_000 }, async () => {
  const receiver = await startReceiver();
  const env = { TOOLHUB_EGRESS_ALLOW: receiver.place };
  const customer = await newCustomer(services[0].url);
  const expires_at = new Date(time.now().getTime() + 1_000).toISOString();
  await connect(customer, 'alpha', { token: 'short', expires_at });
  const working = await startInstance(db.url, {
    now: time.now,
    connectors: [alpha.connector],
    env,
    jobs: true,
  });
  try {
    const api = apiOf(working.url, customer.token);
    const hook = { webhook_url: `${receiver.url}/hooks`, events: ['credential.expired'] };
    expect((await api('POST', '/api/webhooks/config', hook)).status).toBe(201);
    time.advance(2_000);
    // The job runs each minute; this one cannot wait for it.
    await db.database.query(`update jobs set ready_at = now() where name = 'health.run_out'`);
    await db.database.query(`select pg_notify('toolhub_jobs', 'health.run_out')`);
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(receiver.received[0]?.body).toEqual({
      type: 'credential.expired',
      timestamp: expect.any(String),
      data: { platform: 'alpha', account: 'account of 5', reason: 'the token has expired' },
    });
    expect(alpha.probes).toEqual([]);
  } finally {
    await working.stop();
    await receiver.stop();
  }
});

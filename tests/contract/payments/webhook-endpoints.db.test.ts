// Endpoints and their addresses: a process that serves the API alone, and workers beside it that come and go.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { answer, type Receiver, startReceiver } from './receiver.ts';
import { arrivals, ENDPOINTS, setUpWebhooks } from './webhook-rig.ts';

let harness: Harness;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  harness = await startHarness({
    env: { PAYMENTS_ROLE: 'api' },
    service: { webhooks: { rules: { drainMs: 50, retryDelaysMs: [60_000] } } },
  });
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

const setUp = () => setUpWebhooks(harness, receiver);

describe('endpoints', () => {
  test('[P-8.1] [P-10.1] [P-10.9] are created, read, listed, changed and deleted; the secret is shown once', async () => {
    const { call } = await setUp();
    const created = await call('POST', ENDPOINTS, {
      url: `${receiver.url}/hooks`,
      events: ['payment.completed', 'payment.failed'],
      description: 'orders',
    });
    expect(created.status).toBe(201);
    const { secret, ...endpoint } = created.body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^we_/),
      object: 'webhook_endpoint',
      url: `${receiver.url}/hooks`,
      events: ['payment.completed', 'payment.failed'],
      description: 'orders',
      status: 'enabled',
      disabled_reason: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const path = `${ENDPOINTS}/${endpoint.id}`;
    expect((await call('GET', path)).body).toEqual(endpoint);
    const listed = await call('GET', ENDPOINTS);
    expect(listed.body).toEqual({ object: 'list', data: [endpoint], next_cursor: null });
    const changed = await call('PATCH', path, {
      url: `${receiver.url}/other`,
      events: ['*'],
      description: null,
      status: 'disabled',
    });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({
      url: `${receiver.url}/other`,
      events: ['*'],
      description: null,
      status: 'disabled',
      disabled_reason: 'manual',
    });
    expect((await call('PATCH', path, { status: 'enabled' })).body).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
      url: `${receiver.url}/other`,
    });
    expect((await call('DELETE', path)).status).toBe(204);
    for (const method of ['GET', 'DELETE'] as const) expect((await call(method, path)).status).toBe(404);
    const { rows } = await harness.database.query('select e::text as row from webhook_endpoints e');
    expect(rows.map(({ row }) => row).join()).not.toContain(secret.slice(6, 20));
  });

  test('[P-2.11] those of others are 404 on every path', async () => {
    const { endpoint, live } = await setUp();
    const { id } = await endpoint();
    const stranger = await harness.organisation();
    for (const key of [live, stranger.test, stranger.live]) {
      for (const [method, path] of [
        ['GET', `${ENDPOINTS}/${id}`],
        ['PATCH', `${ENDPOINTS}/${id}`],
        ['DELETE', `${ENDPOINTS}/${id}`],
        ['POST', `${ENDPOINTS}/${id}/rotate_secret`],
        ['POST', `${ENDPOINTS}/${id}/test`],
        ['GET', `${ENDPOINTS}/${id}/deliveries`],
      ] as const) {
        const body = method === 'PATCH' ? { body: { url: receiver.url } } : {};
        expect((await harness.call(method, path, { key, ...body })).status).toBe(404);
      }
    }
  });

  test('[P-2.7] bad fields are named, also of changes', async () => {
    const { call, endpoint } = await setUp();
    const created = await call('POST', ENDPOINTS, { events: ['payment.everything'], colour: 1 });
    expect(created.status).toBe(422);
    expect(created.body.errors.map((error: { pointer: string }) => error.pointer).sort()).toEqual([
      '/colour',
      '/events/0',
      '/url',
    ]);
    const { id } = await endpoint();
    for (const body of [{ events: [] }, { status: 'off' }, { secret: 'x' }, { events: ['*', '*'] }]) {
      expect((await call('PATCH', `${ENDPOINTS}/${id}`, body)).status).toBe(422);
    }
    expect((await call('PATCH', `${ENDPOINTS}/${id}`, {})).status).toBe(200);
  });
});

describe('addresses', () => {
  const create = async (url: string, instance = harness.call) =>
    instance('POST', ENDPOINTS, { key: 'sk_test_sandbox', body: { url } });

  test('[P-8.11] [P-10.12] what is not public is refused at registration, and development lets loopback through', async () => {
    for (const url of [
      'http://127.0.0.1:9/',
      'http://127.9.9.9/',
      'http://localhost:9/',
      'http://a.localhost/',
    ]) {
      expect([url, (await create(url)).status]).toEqual([url, 201]);
    }
    const refused = [
      'http://example.com/hooks',
      'https://10.0.0.1/',
      'https://192.168.1.1/',
      'https://169.254.169.254/latest/meta-data',
      'https://[fe80::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://0.0.0.0/',
      'https://[::]/',
      'https://100.64.0.1/',
      'https://224.0.0.1/',
      'https://2130706433/',
      'https://user:secret@example.com/',
      'ftp://example.com/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'not an address',
      '//example.com/',
    ];
    for (const url of refused) {
      const answer_ = await create(url);
      expect([url, answer_.status, answer_.body.code]).toEqual([url, 422, 'webhook_url_refused']);
      expect(answer_.body.errors).toMatchObject([{ pointer: '/url' }]);
    }
  });

  test('[P-10.12] production takes https and public addresses, and places that are allowed', async () => {
    const resolved = new Map([
      ['public.example', '93.184.216.34'],
      ['private.example', '10.1.2.3'],
    ]);
    const production = await harness.another({
      env: {
        NODE_ENV: 'production',
        PAYMENTS_ROLE: 'api',
        PAYMENTS_EGRESS_ALLOW: '127.0.0.1:4999',
      },
      service: {
        webhooks: {
          resolveHost: async (host) => {
            const address = resolved.get(host);
            if (address === undefined) throw new Error('no such name');
            return [{ address, family: 4 }];
          },
        },
      },
    });
    const expected: [string, number][] = [
      ['https://public.example/hooks', 201],
      ['https://nowhere.example/hooks', 201],
      ['http://127.0.0.1:4999/hooks', 201],
      ['http://public.example/hooks', 422],
      ['https://private.example/', 422],
      ['https://127.0.0.1/', 422],
      ['https://localhost/', 422],
      ['http://127.0.0.1:5000/', 422],
    ];
    for (const [url, status] of expected) {
      expect([url, (await create(url, production.call)).status]).toEqual([url, status]);
    }
  });
});

test('[P-8.13] what a process that stops half-way leaves behind is sent by another, with the same id', async () => {
  const worker = () => harness.another({ env: { PAYMENTS_ROLE: 'worker' } });
  const { call, endpoint, deliveries } = await setUp();
  const { id } = await endpoint('/survivor');
  await call('POST', `${ENDPOINTS}/${id}/test`);
  receiver.respond = () => {};
  const dying = await worker();
  await arrivals(receiver, '/survivor', 1);
  await dying.stop();
  receiver.respond = answer(200);
  await worker();
  await arrivals(receiver, '/survivor', 2);
  const [first, second] = receiver.at('/survivor');
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  await expect.poll(async () => (await deliveries(id))[0].status).toBe('delivered');
});

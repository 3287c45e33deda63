// The customer's webhook: setting it up, what arrives, and what could not be delivered.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, makeToken } from '../../../services/toolhub/test/accounts.ts';
import {
  ADMIN_TOKEN,
  createToolhubDatabase,
  INTERNAL_TOKEN,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { apiOf, type Customer, newCustomer } from './customer.ts';
import { answer, hang, type Receiver, startReceiver, verify } from './receiver.ts';
import { CONFIG, webhookRig } from './webhook-rig.ts';

const RETRY_MS = 60;
const EVENTS = [
  'whatsapp.message.received',
  'whatsapp.message.status',
  'slack.message.received',
  'discord.message.received',
  'telegram.message.received',
  'credential.expiring',
  'credential.expired',
  'credential.recovered',
  'usage.threshold',
  'invoice.created',
  'tool.call.failed',
  'webhook.test',
];

let db: TestDatabase;
let service: Instance;
let receiver: Receiver;

beforeAll(async () => {
  db = await createToolhubDatabase();
  receiver = await startReceiver();
  service = await startInstance(db.url, {
    jobs: true,
    env: { TOOLHUB_EGRESS_ALLOW: receiver.place },
    webhooks: { rules: { retryDelaysMs: [RETRY_MS, RETRY_MS, RETRY_MS], timeoutMs: 500, drainMs: 100 } },
  });
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
  await db.drop();
});

const { setUp, arrivals, deliveries, deadLetters, makeDeadLetter } = webhookRig(() => ({
  service,
  receiver,
}));

describe('the configuration', () => {
  test('[TH-8.1] is made, shown without its secret, made anew, and removed', async () => {
    const customer = await newCustomer(service.url);
    const api = apiOf(service.url, customer.token);
    expect((await api('GET', CONFIG)).status).toBe(404);
    expect((await api('DELETE', CONFIG)).status).toBe(404);

    const url = `${receiver.url}/life`;
    const made = await api('POST', CONFIG, { webhook_url: url, events: ['credential.expired'] });
    expect(made.status).toBe(201);
    const { webhook_secret: secret, ...shown } = made.body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toEqual({
      webhook_url: url,
      events: ['credential.expired'],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(await api('GET', CONFIG)).toEqual({ status: 200, body: { ...shown, last_delivery: null } });

    const again = await api('POST', CONFIG, { webhook_url: url });
    expect(again.status).toBe(201);
    expect(again.body.webhook_secret).not.toBe(secret);
    expect(again.body.events).toEqual(EVENTS);
    const { created_at } = again.body;
    expect((await api('GET', CONFIG)).body).toMatchObject({ events: EVENTS, created_at });

    expect((await api('DELETE', CONFIG)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect((await api(method, CONFIG)).status).toBe(404);
  });

  test('a new secret signs what comes after it, also what was waiting', async () => {
    const { api, path, secret: old } = await setUp();
    // Nothing is over, and so nothing tried again, before there is a new secret.
    const renewed = Promise.withResolvers<void>();
    let isRenewed = false;
    receiver.on(path, (response, received) => {
      if (isRenewed) answer(204)(response, received);
      else void renewed.promise.then(() => answer(500)(response, received));
    });
    await api('POST', '/api/webhooks/test');
    await arrivals(path, 1);
    const { body } = await api('POST', CONFIG, { webhook_url: receiver.url + path });
    const before = receiver.at(path).length;
    isRenewed = true;
    renewed.resolve();
    await arrivals(path, before + 1);
    const [first] = receiver.at(path);
    const second = receiver.at(path)[before];
    verify(first as never, old);
    verify(second as never, body.webhook_secret);
    expect(() => verify(second as never, old)).toThrow();
  });

  test.each([
    [{}, ['/webhook_url']],
    [{ webhook_url: 5 }, ['/webhook_url']],
    [{ webhook_url: 'https://example.com', events: ['payment.completed'] }, ['/events/0']],
    [
      { webhook_url: 'https://example.com', events: ['webhook.test', 'everything', '*'] },
      ['/events/1', '/events/2'],
    ],
    [{ webhook_url: 'https://example.com', events: [] }, ['/events']],
    [{ webhook_url: 'https://example.com', events: 'webhook.test' }, ['/events']],
    [{ webhook_url: 'https://example.com', events: ['webhook.test', 'webhook.test'] }, ['/events']],
    [{ webhook_url: 'https://example.com', secret: 'whsec_mine' }, ['/secret']],
  ])('%j is refused by field', async (body, pointers) => {
    const { api } = await setUp();
    const refused = await api('POST', CONFIG, body);
    expect(refused.status).toBe(422);
    expect(refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
  });

  test('a refused change leaves the webhook as it was', async () => {
    const { api, path, secret } = await setUp();
    expect((await api('POST', CONFIG, { webhook_url: 'http://10.0.0.1/' })).status).toBe(422);
    await api('POST', '/api/webhooks/test');
    await arrivals(path, 1);
    verify(receiver.at(path)[0] as never, secret);
  });
});

describe('a delivery', () => {
  test('carries the trace of the request on that it follows from', async () => {
    const { customer, path } = await setUp();
    const traceId = 'a'.repeat(32);
    await call(`${service.url}/api/webhooks/test`, {
      method: 'POST',
      token: customer.token,
      headers: { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` },
    });
    await arrivals(path, 1);
    expect(receiver.at(path)[0]?.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  });

  test('[TH-8.4] carries type, timestamp and data, signed under the id of its event', async () => {
    const { api, path, secret } = await setUp();
    const sent = await api('POST', '/api/webhooks/test');
    expect(sent).toEqual({
      status: 202,
      body: {
        id: expect.stringMatching(/^dlv_[0-9a-z]{26}$/),
        event_id: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
        event_type: 'webhook.test',
        status: 'pending',
        attempts: [],
        next_attempt_at: expect.any(String),
      },
    });
    await arrivals(path, 1);
    const [received] = receiver.at(path);
    expect(verify(received as never, secret)).toEqual({
      type: 'webhook.test',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: { message: expect.any(String), webhook_url: receiver.url + path },
    });
    expect(Object.keys(received?.body)).toEqual(['type', 'timestamp', 'data']);
    expect(received?.headers).toMatchObject({
      'webhook-id': sent.body.event_id,
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      'content-type': 'application/json',
    });
    await expect.poll(async () => (await deliveries(api))[0]?.status).toBe('delivered');
    const [delivered] = await deliveries(api);
    expect(delivered).toEqual({
      ...sent.body,
      status: 'delivered',
      attempts: [{ at: expect.any(String), status: 204, error: null, duration_ms: expect.any(Number) }],
      next_attempt_at: null,
    });
    expect((await api('GET', CONFIG)).body.last_delivery).toEqual(delivered);
  });

  test('of a test is sent whatever the webhook subscribes to', async () => {
    const { api, path } = await setUp({ events: ['invoice.created'] });
    expect((await api('POST', '/api/webhooks/test')).status).toBe(202);
    await arrivals(path, 1);
  });

  test('needs a webhook', async () => {
    const customer = await newCustomer(service.url);
    const sent = await apiOf(service.url, customer.token)('POST', '/api/webhooks/test');
    expect([sent.status, sent.body.code]).toEqual([404, 'not_found']);
  });

  test('[TH-8.3] follows no redirect', async () => {
    const { api, path } = await setUp();
    receiver.on(path, answer(302, { location: `${receiver.url}/elsewhere` }));
    await api('POST', '/api/webhooks/test');
    await expect.poll(async () => (await deliveries(api))[0]?.status).toBe('dead');
    expect((await deliveries(api))[0].attempts[0]).toMatchObject({
      status: 302,
      error: 'answered 302; redirects are not followed',
    });
    expect(receiver.at('/elsewhere')).toEqual([]);
  });

  test('that gets no answer in time has failed', async () => {
    const { api, path } = await setUp();
    receiver.on(path, hang);
    await api('POST', '/api/webhooks/test');
    await expect.poll(async () => (await deliveries(api))[0]?.attempts.length).toBe(1);
    expect((await deliveries(api))[0]).toMatchObject({
      status: 'pending',
      attempts: [{ status: null, error: 'no complete answer within 500 ms' }],
      next_attempt_at: expect.any(String),
    });
    expect((await api('DELETE', CONFIG)).status).toBe(204);
    expect((await deliveries(api))[0]).toMatchObject({ status: 'failed', next_attempt_at: null });
  });

  test('is listed page by page, newest first', async () => {
    const { api, path } = await setUp();
    const sent: string[] = [];
    for (let nth = 0; nth < 5; nth += 1) sent.push((await api('POST', '/api/webhooks/test')).body.id);
    await arrivals(path, 5);
    const listed: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await api('GET', `/api/webhooks/deliveries?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(page.body.data.length).toBeLessThanOrEqual(2);
      listed.push(...page.body.data.map(({ id }: { id: string }) => id));
      cursor = page.body.next_cursor;
    }
    expect(listed).toEqual(sent.reverse());
    expect((await api('GET', '/api/webhooks/deliveries?limit=0')).status).toBe(400);
    expect((await api('GET', '/api/webhooks/deliveries?cursor=x')).status).toBe(400);
  });
});

describe('a dead letter', () => {
  test('[TH-8.8] tells all about the delivery, to the customer and to admins', async () => {
    const { api, path, customer } = await setUp();
    const letter = await makeDeadLetter(api, path);
    const [delivery] = await deliveries(api);
    expect(letter).toEqual({
      id: delivery.id.replace(/^dlv_/, 'dlq_'),
      customer_id: customer.id,
      event_id: delivery.event_id,
      event_type: 'webhook.test',
      webhook_url: receiver.url + path,
      payload: receiver.at(path)[0]?.body,
      attempts: Array.from({ length: 4 }, () => ({
        at: expect.any(String),
        status: 500,
        error: 'answered 500',
        duration_ms: expect.any(Number),
      })),
      failed_at: expect.any(String),
      expires_at: expect.any(String),
    });
    expect(Date.parse(letter.expires_at) - Date.parse(letter.failed_at)).toBe(7 * 86_400_000);
    expect(delivery).toMatchObject({ status: 'dead', attempts: letter.attempts, next_attempt_at: null });
    const admin = apiOf(service.url, ADMIN_TOKEN);
    expect(await admin('GET', `/api/admin/webhooks/dlq/${customer.id}`)).toEqual({
      status: 200,
      body: { data: [letter], next_cursor: null },
    });
  });

  test('of another customer does not exist', async () => {
    const { api, path } = await setUp();
    const { id } = await makeDeadLetter(api, path);
    const stranger = await setUp();
    expect(await deadLetters(stranger.api)).toEqual([]);
    expect(await deliveries(stranger.api)).toEqual([]);
    expect((await stranger.api('POST', `/api/webhooks/dlq/${id}/replay`)).status).toBe(404);
    expect((await deadLetters(api)).length).toBe(1);
  });

  test('[TH-4.17] shows no message to a token that only sees the account', async () => {
    const { api, customer, path } = await setUp();
    const letter = await makeDeadLetter(api, path);
    const delivery = `/api/webhooks/deliveries/${letter.id.replace(/^dlq_/, 'dlv_')}`;
    const shown = async (scopes: string[]) => {
      const { token } = await makeToken(service.url, customer, { scopes });
      const asToken = apiOf(service.url, token);
      const [dead] = await deadLetters(asToken);
      return [dead.payload, (await asToken('GET', delivery)).body.request.body];
    };
    expect(await shown(['account:read'])).toEqual([null, null]);
    for (const more of ['tools:read', 'tools:write', 'account:write']) {
      expect(await shown(['account:read', more])).toEqual([letter.payload, letter.payload]);
    }
  });

  test('is for admins with the admin token alone', async () => {
    const { customer } = await setUp();
    const url = `${service.url}/api/admin/webhooks/dlq/${customer.id}`;
    const anonymous = await call(url);
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('www-authenticate')).toMatch(/^Bearer /);
    expect((await call(url, { token: customer.token })).status).toBe(403);
    expect((await call(url, { cookie: customer.cookie })).status).toBe(403);
    expect((await call(url, { token: INTERNAL_TOKEN })).status).toBe(403);
    expect((await call(url, { token: 'tha_wrong' })).status).toBe(401);
    const admin = apiOf(service.url, ADMIN_TOKEN);
    expect((await admin('GET', `/api/admin/webhooks/dlq/cus_${'0'.repeat(26)}`)).status).toBe(404);
    expect((await admin('GET', '/api/admin/webhooks/dlq/nobody')).status).toBe(404);
  });

  test('[TH-8.8] is replayed under the same id, once', async () => {
    const { api, path, secret } = await setUp();
    const letter = await makeDeadLetter(api, path);
    receiver.on(path, answer(200));
    const replays = await Promise.all(
      Array.from({ length: 5 }, () => api('POST', `/api/webhooks/dlq/${letter.id}/replay`)),
    );
    expect(replays.map(({ status }) => status).sort()).toEqual([202, 404, 404, 404, 404]);
    expect(replays.find(({ status }) => status === 202)?.body).toMatchObject({
      id: letter.id.replace(/^dlq_/, 'dlv_'),
      event_id: letter.event_id,
      status: 'pending',
    });
    await arrivals(path, 5);
    await expect.poll(async () => (await deliveries(api))[0].status).toBe('delivered');
    const received = receiver.at(path);
    expect(new Set(received.map(({ id }) => id))).toEqual(new Set([letter.event_id]));
    expect(new Set(received.map(({ text }) => text)).size).toBe(1);
    for (const one of received) verify(one, secret);
    expect(await deadLetters(api)).toEqual([]);
    expect((await deliveries(api))[0].attempts.length).toBe(5);
    expect(receiver.at(path).length).toBe(5);
  });

  test('that fails again is dead again, with all its attempts', async () => {
    const { api, path } = await setUp();
    const { id } = await makeDeadLetter(api, path);
    expect((await api('POST', `/api/webhooks/dlq/${id}/replay`)).status).toBe(202);
    expect(await deadLetters(api)).toEqual([]);
    await expect.poll(async () => (await deadLetters(api))[0]?.id).toBe(id);
    expect((await deadLetters(api))[0].attempts.length).toBe(8);
  });

  test('is counted for the operator, who finds those first whose deliveries were given up last', async () => {
    const [first, second] = [await setUp(), await setUp()];
    const { id } = await makeDeadLetter(first.api, first.path);
    await makeDeadLetter(second.api, second.path);
    const own = [first.customer.id, second.customer.id];
    const admin = apiOf(service.url, ADMIN_TOKEN);
    const listed = async () =>
      (await admin('GET', '/api/admin/webhooks/dlq')).body.data
        .map((entry: { customer_id: string; count: number }) => [entry.customer_id, entry.count])
        .filter(([customerId]: [string]) => own.includes(customerId));
    expect(await listed()).toEqual([
      [second.customer.id, 1],
      [first.customer.id, 1],
    ]);
    // Page by page, to the last of them.
    const turned: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await admin('GET', `/api/admin/webhooks/dlq?limit=1${query}`);
      turned.push(...body.data.map((entry: { customer_id: string }) => entry.customer_id));
      cursor = body.next_cursor;
    }
    expect(new Set(turned).size).toBe(turned.length);
    expect(turned.filter((id) => own.includes(id))).toEqual([second.customer.id, first.customer.id]);
    // One that is replayed and dies again was given up last.
    expect((await first.api('POST', `/api/webhooks/dlq/${id}/replay`)).status).toBe(202);
    expect(await listed()).toEqual([[second.customer.id, 1]]);
    await expect.poll(async () => (await deadLetters(first.api))[0]?.id).toBe(id);
    expect((await listed()).map(([customerId]: [string]) => customerId)).toEqual(own);
  });

  test('outlives its webhook, and waits for a new one to be replayed', async () => {
    const { api, path } = await setUp();
    const { id, event_id } = await makeDeadLetter(api, path);
    await api('DELETE', CONFIG);
    expect((await deadLetters(api)).length).toBe(1);
    const refused = await api('POST', `/api/webhooks/dlq/${id}/replay`);
    expect([refused.status, refused.body.code]).toEqual([409, 'webhook_not_configured']);
    const { body } = await api('POST', CONFIG, { webhook_url: `${receiver.url}${path}/new` });
    expect((await api('POST', `/api/webhooks/dlq/${id}/replay`)).status).toBe(202);
    await arrivals(`${path}/new`, 1);
    const [received] = receiver.at(`${path}/new`);
    expect(received?.id).toBe(event_id);
    verify(received as never, body.webhook_secret);
  });

  test.each(['dlq_unknown', `dlq_${'0'.repeat(26)}`, 'x', `dlv_${'0'.repeat(26)}`])(
    '%s is none',
    async (id) => {
      const { api } = await setUp();
      expect((await api('POST', `/api/webhooks/dlq/${id}/replay`)).status).toBe(404);
    },
  );

  test('goes out again when the operator says so, who finds it at its own customer alone', async () => {
    const { api, path, customer } = await setUp();
    const other = await setUp();
    const { id } = await makeDeadLetter(api, path);
    const admin = apiOf(service.url, ADMIN_TOKEN);
    const replay = (customerId: string) =>
      admin('POST', `/api/admin/webhooks/dlq/${customerId}/${id}/replay`);
    expect((await replay(other.customer.id)).status).toBe(404);
    const before = receiver.at(path).length;
    expect((await replay(customer.id)).status).toBe(202);
    await expect.poll(() => receiver.at(path).length).toBeGreaterThan(before);
    expect((await replay(customer.id)).status).toBe(404);
    const audit = await api('GET', '/api/audit?action=webhook.replayed');
    expect(audit.body.data).toMatchObject([{ actor: { type: 'admin' }, target: id, outcome: 'success' }]);
  });

  test('is listed page by page', async () => {
    const { api, path, customer } = await setUp();
    for (let nth = 0; nth < 3; nth += 1) await makeDeadLetter(api, path);
    const admin = apiOf(service.url, ADMIN_TOKEN);
    for (const [caller, list] of [
      [api, '/api/webhooks/dlq'],
      [admin, `/api/admin/webhooks/dlq/${customer.id}`],
    ] as const) {
      const first = await caller('GET', `${list}?limit=2`);
      const second = await caller('GET', `${list}?limit=2&cursor=${first.body.next_cursor}`);
      expect([first.body.data.length, second.body.data.length]).toEqual([2, 1]);
      expect(second.body.next_cursor).toBeNull();
      const all = [...first.body.data, ...second.body.data].map(({ id }: { id: string }) => id);
      expect(all).toEqual((await deadLetters(api)).map(({ id }: { id: string }) => id));
    }
  });
});

describe('changes are recorded', () => {
  async function auditOf(customer: Customer) {
    const { body } = await apiOf(service.url, customer.token)('GET', '/api/audit?limit=100');
    return body.data
      .filter(({ action }: { action: string }) => action.startsWith('webhook.'))
      .map(({ action, target, outcome }: Record<string, unknown>) => [action, target, outcome])
      .reverse();
  }

  test('with what was done and how it went, and without the path of an address', async () => {
    const { api, path, customer } = await setUp();
    const { id } = await makeDeadLetter(api, path);
    await api('POST', CONFIG, { webhook_url: 'https://user:pass@10.0.0.1/token-in-the-path' });
    await api('POST', `/api/webhooks/dlq/${id}/replay`);
    await api('DELETE', CONFIG);
    await expect
      .poll(() => auditOf(customer))
      .toEqual([
        ['webhook.configured', receiver.place, 'success'],
        ['webhook.tested', null, 'success'],
        ['webhook.configured', '10.0.0.1', 'refused'],
        ['webhook.replayed', id, 'success'],
        ['webhook.removed', null, 'success'],
      ]);
  });

  test('[TH-12.2] and the secret is nowhere: no answer, no row, no audit entry has it', async () => {
    const { api, path, secret, customer } = await setUp();
    await makeDeadLetter(api, path);
    const seen: string[] = [];
    for (const get of [CONFIG, '/api/webhooks/deliveries', '/api/webhooks/dlq', '/api/audit', '/api/me']) {
      seen.push(JSON.stringify(await api('GET', get)));
    }
    const admin = apiOf(service.url, ADMIN_TOKEN);
    seen.push(JSON.stringify(await admin('GET', `/api/admin/webhooks/dlq/${customer.id}`)));
    const tables = await db.database.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname like 'toolhub%'`,
    );
    for (const { name } of tables.rows) {
      const { rows } = await db.database.query<{ row: string }>(`select t::text as row from ${name} t`);
      seen.push(...rows.map(({ row }) => row));
    }
    const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const everything = seen.join('\n');
    expect(everything).toContain(receiver.url + path);
    for (const form of [secret.slice(6, 30), bytes.toString('hex'), Buffer.from(secret).toString('hex')]) {
      expect(everything).not.toContain(form);
    }
  });
});

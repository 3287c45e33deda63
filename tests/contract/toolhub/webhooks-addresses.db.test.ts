// Where webhooks may go, and who may say so: every spelling of an address that is not public, names that lead to one,
// the moment of connecting, and the scopes of callers.
import type { TestDatabase } from '@libs/db/testing';
import type { ResolvedAddress } from '@libs/egress';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, makeToken } from '../../../services/toolhub/test/accounts.ts';
import {
  createToolhubDatabase,
  INTERNAL_TOKEN,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { type Api, apiOf, newCustomer } from './customer.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { CONFIG, webhookRig } from './webhook-rig.ts';

/** What names lead to; those that are not here do not resolve. */
const names = new Map<string, ResolvedAddress[]>();
const v4 = (address: string): ResolvedAddress => ({ address, family: 4 });
const v6 = (address: string): ResolvedAddress => ({ address, family: 6 });

let db: TestDatabase;
let service: Instance;
let receiver: Receiver;
let api: Api;

beforeAll(async () => {
  db = await createToolhubDatabase();
  receiver = await startReceiver();
  const { port } = new URL(receiver.url);
  service = await startInstance(db.url, {
    jobs: true,
    env: { TOOLHUB_EGRESS_ALLOW: `127.0.0.1:${port}, hooks.corp.internal:8443, [fd00::5]:9000` },
    webhooks: {
      resolveHost: async (name) => names.get(name) ?? [],
      rules: { retryDelaysMs: [], drainMs: 100 },
    },
  });
  api = apiOf(service.url, (await newCustomer(service.url)).token);
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
  await db.drop();
});

const { setUp, arrivals } = webhookRig(() => ({ service, receiver }));

const REFUSED: Record<string, string[]> = {
  malformed: [
    '',
    'hooks',
    '/hooks',
    '//example.com/hooks',
    'https://',
    'https:///hooks',
    'https://exa mple.com/',
    'https://example.com\\@10.0.0.1/',
    'https://example.com/\u0009hooks',
    'https://example.com:0/',
    'https://example.com:99999/',
    'https://[::1',
    'https://[fe80::1%25eth0]/',
    `https://example.com/${'a'.repeat(2_100)}`,
  ],
  scheme: [
    'ftp://example.com/hooks',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'gopher://example.com/',
    'ws://example.com/',
    'data:text/plain,x',
  ],
  plain_http: ['http://example.com/hooks', 'HTTP://example.com/', 'http://93.184.216.34/'],
  credentials: ['https://user:pass@example.com/', 'https://user@example.com/', 'https://@example.com/'],
  local_name: [
    'https://localhost/',
    'https://LOCALHOST/',
    'https://hooks.localhost/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://internal/',
    'http://localhost:4100/',
  ],
  trailing_dot: ['https://localhost./', 'https://example.com./', 'https://127.0.0.1./'],
  loopback: ['https://127.0.0.1/', 'https://127.8.9.10/', 'https://[::1]/', 'https://[0:0:0:0:0:0:0:1]/'],
  private: [
    'https://10.0.0.1/',
    'https://10.255.255.255/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
    'https://[fc00::1]/',
    'https://[fd12:3456:789a::1]/',
    'https://[fec0::1]/',
  ],
  link_local: ['https://169.254.1.1/', 'https://[fe80::1]/'],
  metadata: [
    'https://169.254.169.254/latest/meta-data/',
    'https://100.100.100.200/',
    'https://[fd00:ec2::254]/',
  ],
  carrier_grade_nat: ['https://100.64.0.1/', 'https://100.127.255.255/'],
  multicast: [
    'https://224.0.0.1/',
    'https://239.255.255.255/',
    'https://255.255.255.255/',
    'https://[ff02::1]/',
  ],
  unspecified: ['https://0.0.0.0/', 'https://[::]/'],
  reserved: [
    'https://240.0.0.1/',
    'https://192.0.2.1/',
    'https://198.18.0.1/',
    'https://198.51.100.1/',
    'https://203.0.113.1/',
    'https://[2001:db8::1]/',
  ],
  spelling: [
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://127.1/',
    'https://127.0.1/',
    'https://0/',
    'https://167772161/',
    'https://0xa9fea9fe/',
    'https://0251.0376.0251.0376/',
    'https://%31%32%37.0.0.1/',
    'https://１２７.0.0.1/',
    'https://127。0。0。1/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[::FFFF:10.0.0.1]/',
  ],
  embedded: [
    'https://[::127.0.0.1]/',
    'https://[::7f00:1]/',
    'https://[64:ff9b::10.0.0.1]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://[64:ff9b:1::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2002:c0a8:101::1]/',
    'https://[2001:0:7f00:1::]/',
  ],
};

describe('an address is refused', () => {
  test.each(Object.entries(REFUSED))('[TH-8.2] as %s', async (reason, addresses) => {
    for (const webhook_url of addresses) {
      const { status, body } = await api('POST', CONFIG, { webhook_url });
      expect([webhook_url, status, body.code, body.reason]).toEqual([
        webhook_url,
        422,
        'webhook_url_refused',
        reason,
      ]);
      expect(body.detail).toMatch(/^This address is refused: .+\.$/);
      expect(body.errors).toEqual([
        { pointer: '/webhook_url', code: reason, detail: expect.stringMatching(/^Refused: /) },
      ]);
    }
    expect((await api('GET', CONFIG)).status).toBe(404);
  });

  test.each([
    ['private', [v4('10.1.2.3')]],
    ['loopback', [v4('127.0.0.1')]],
    ['loopback', [v6('::1')]],
    ['metadata', [v4('169.254.169.254')]],
    ['private', [v4('93.184.216.34'), v4('192.168.0.1')]],
    ['embedded', [v6('::ffff:10.0.0.1')]],
    ['carrier_grade_nat', [v6('2606:2800:220:1::1'), v4('100.64.0.9')]],
  ] as [string, ResolvedAddress[]][])('when its name leads to one: %s', async (reason, addresses) => {
    names.set('rebound.example.com', addresses);
    const { status, body } = await api('POST', CONFIG, { webhook_url: 'https://rebound.example.com/' });
    expect([status, body.code, body.reason]).toEqual([422, 'webhook_url_refused', reason]);
    // Names of the operator's network must not be looked up through the service.
    for (const { address } of addresses) expect(JSON.stringify(body)).not.toContain(address);
  });
});

describe('an address is taken', () => {
  test.each([
    'https://93.184.216.34/hooks',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/hooks',
    'https://does-not-resolve.example.com/hooks?key=1',
    'https://public.example.com:8443/hooks',
    'https://internal.example.com/',
    'https://localhost.example.com/',
  ])('%s', async (webhook_url) => {
    names.set('public.example.com', [v4('93.184.216.34')]);
    const { status, body } = await api('POST', CONFIG, { webhook_url });
    expect([status, body.webhook_url]).toEqual([201, webhook_url]);
  });

  test('in every spelling of an allowed place, private and plain as it may be', async () => {
    const { port } = new URL(receiver.url);
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:7f00:1]']) {
      expect((await api('POST', CONFIG, { webhook_url: `http://${host}:${port}/` })).status).toBe(201);
    }
    for (const place of [
      'http://hooks.corp.internal:8443/',
      'https://HOOKS.corp.internal:8443/a',
      'http://[fd00:0::5]:9000/',
    ]) {
      expect((await api('POST', CONFIG, { webhook_url: place })).status).toBe(201);
    }
  });

  test('and the next port of an allowed place is not', async () => {
    const port = Number(new URL(receiver.url).port);
    for (const webhook_url of [
      `http://127.0.0.1:${port + 1}/`,
      `https://127.0.0.2:${port}/`,
      'https://hooks.corp.internal/',
      `http://localhost:${port}/`,
    ]) {
      expect((await api('POST', CONFIG, { webhook_url })).status).toBe(422);
    }
  });
});

test('[TH-8.3] what a name leads to is checked again when it is dialled', async () => {
  const { port } = new URL(receiver.url);
  names.set('turncoat.example.com', [v4('93.184.216.34')]);
  const webhook_url = `https://turncoat.example.com:${Number(port) + 1}/`;
  expect((await api('POST', CONFIG, { webhook_url })).status).toBe(201);
  names.set('turncoat.example.com', [v4('127.0.0.1')]);
  const { body } = await api('POST', '/api/webhooks/test');
  const newest = async () => (await api('GET', '/api/webhooks/deliveries?limit=1')).body.data[0];
  await expect.poll(async () => (await newest()).status).toBe('dead');
  expect(await newest()).toMatchObject({
    id: body.id,
    attempts: [
      {
        status: null,
        error: expect.stringMatching(/^address refused: turncoat.example.com resolves to a loop/),
      },
    ],
  });
  expect(receiver.received).toEqual([]);
});

describe('who may', () => {
  const CALLS: [method: string, path: string, scope: 'account:read' | 'account:write'][] = [
    ['GET', CONFIG, 'account:read'],
    ['GET', '/api/webhooks/deliveries', 'account:read'],
    ['GET', '/api/webhooks/dlq', 'account:read'],
    ['POST', CONFIG, 'account:write'],
    ['DELETE', CONFIG, 'account:write'],
    ['POST', '/api/webhooks/test', 'account:write'],
    ['POST', `/api/webhooks/dlq/dlq_${'0'.repeat(26)}/replay`, 'account:write'],
  ];

  test.each(CALLS)('%s %s needs a session with %s', async (method, path, scope) => {
    const { customer } = await setUp();
    const anonymous = await call(service.url + path, { method });
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('www-authenticate')).toMatch(/^Bearer /);
    const other = scope === 'account:read' ? 'account:write' : 'account:read';
    const { token } = await makeToken(service.url, customer, { scopes: [other, 'tools:write'] });
    expect((await call(service.url + path, { method, token })).status).toBe(403);
    expect((await call(service.url + path, { method, token: INTERNAL_TOKEN })).status).toBe(403);
  });

  test('the cookie may do all of it, from the same site', async () => {
    const { customer, path } = await setUp();
    const { cookie } = customer;
    expect((await call(service.url + CONFIG, { cookie })).status).toBe(200);
    expect((await call(`${service.url}/api/webhooks/test`, { method: 'POST', cookie })).status).toBe(202);
    await arrivals(path, 1);
    const headers = { origin: 'https://evil.example' };
    const forged = await call(`${service.url}/api/webhooks/test`, { method: 'POST', cookie, headers });
    expect([forged.status, forged.body.code]).toEqual([403, 'csrf']);
  });

  test('an empty JSON body is as good as none', async () => {
    const { customer, path } = await setUp();
    for (const body of [{}, undefined]) {
      const sent = await call(`${service.url}/api/webhooks/test`, {
        method: 'POST',
        token: customer.token,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      });
      expect(sent.status).toBe(202);
    }
    await arrivals(path, 2);
  });
});

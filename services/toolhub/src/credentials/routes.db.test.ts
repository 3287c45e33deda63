import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { type App, createApp } from '@libs/http';
import type { FastifyRequest } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRoutes } from '../../test/open-routes.ts';
import type { NewAuditEntry } from '../audit/entry.ts';
import { createConnectors } from '../connectors/index.ts';
import type { ConnectorService } from '../connectors/service.ts';
import { type BotApiServer, startBotApi } from '../connectors/telegram/test/bot-api-server.ts';
import { migrationSource } from '../schema.ts';
import { registerCredentialRoutes } from './routes.ts';
import { createRig, sessionOf } from './test/rig.ts';

const TOKEN = '4242:AAE_abcdefghijklmnopqrstuvwxyz012345';
let db: TestDatabase;
let api: BotApiServer;
let app: App;
let connectors: ConnectorService;
let entries: NewAuditEntry[];

beforeAll(async () => {
  [db, api] = await Promise.all([createTestDatabase(migrationSource), startBotApi()]);
  const list = createConnectors();
  const rig = createRig({
    database: db.database,
    connectors: list,
    now: () => new Date(),
    baseUrls: { telegram: api.url },
  });
  connectors = rig.connectors;
  app = await createApp({
    name: 'test',
    version: '0',
    publicUrl: 'http://localhost',
    logLevel: 'silent',
    docsPath: false,
    defaultMetrics: false,
  });
  // Who may come in is tried where access is made; here a header says who came.
  const access = {
    sessionOf: (request: FastifyRequest) => sessionOf(String(request.headers['x-customer'])),
    standingOf: () => async () => {},
  };
  const routesOn = openRoutes({ ...access, record: (recorded) => void entries.push(...recorded) });
  registerCredentialRoutes(routesOn(app), { credentials: rig.credentials, connectors: list, access });
  await app.ready();
});
beforeEach(() => {
  entries = [];
  api.addBot(TOKEN, 'my_bot');
});
afterAll(async () => {
  await app.close();
  await connectors.close();
  await Promise.all([api.stop(), db.drop()]);
});

async function request(
  method: 'GET' | 'PUT' | 'DELETE',
  url: string,
  { body, customer = 'cus_a' }: { body?: object; customer?: string } = {},
) {
  const response = await app.inject({
    method,
    url,
    headers: { 'x-customer': customer },
    ...(body ? { payload: body } : {}),
  });
  return {
    status: response.statusCode,
    text: response.body,
    body: response.body === '' ? null : response.json(),
  };
}

const server = (host: string, port = 993) => ({
  host,
  port,
  secure: true,
  user: 'u',
  password: 'secret-password',
});
const mail = (host: string) => ({ imap: server(host), smtp: server(host, 465), from: 'u@example.com' });

describe('PUT /api/credentials/:platform', () => {
  it('[TH-6.2] checks at the platform, stores sealed, and answers without the secret', async () => {
    const put = await request('PUT', '/api/credentials/telegram', { body: { bot_token: TOKEN } });
    expect(put).toMatchObject({
      status: 200,
      body: {
        platform: 'telegram',
        account: '@my_bot',
        status: 'connected',
        expires_at: null,
        updated_at: expect.stringMatching(/Z$/),
      },
    });
    expect(Object.keys(put.body)).toEqual(['platform', 'account', 'status', 'expires_at', 'updated_at']);
    const list = await request('GET', '/api/credentials');
    expect(list.body).toEqual({ data: [put.body], next_cursor: null });
    expect((await request('GET', '/api/credentials/telegram')).body).toEqual(put.body);
    expect(put.text + list.text).not.toContain('AAE_');
    const { rows } = await db.database.query<{ row: string }>(
      'select credentials::text as row from credentials',
    );
    expect(JSON.stringify(rows)).not.toContain(Buffer.from('AAE_abc').toString('hex'));
    expect(entries).toEqual([
      expect.objectContaining({
        customerId: 'cus_a',
        action: 'credential.connected',
        target: 'telegram',
        outcome: 'success',
      }),
    ]);
    expect(JSON.stringify(entries)).not.toContain('AAE_');
  });

  it('stores an end that Date or Postgres do not know as the nearest that they do', async () => {
    for (const [given, kept] of [
      ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
      ['9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59.999Z'],
    ])
      expect(
        await request('PUT', '/api/credentials/x?verify=false', {
          body: { access_token: 'x-token', expires_at: given },
        }),
      ).toMatchObject({ status: 200, body: { expires_at: kept } });
    await request('DELETE', '/api/credentials/x');
  });

  it('[TH-6.2] stores nothing that the platform refuses, unless told not to ask', async () => {
    api.revoke(TOKEN);
    const customer = 'cus_refused';
    const body = { bot_token: TOKEN };
    const refused = await request('PUT', '/api/credentials/telegram', { body, customer });
    expect(refused).toMatchObject({ status: 422, body: { code: 'credential_rejected' } });
    expect((await request('GET', '/api/credentials', { customer })).body.data).toEqual([]);
    // A read that was cut is tried once more.
    for (const _try of [1, 2]) api.failNext({ kind: 'drop' });
    const down = await request('PUT', '/api/credentials/telegram', { body, customer });
    expect(down).toMatchObject({ status: 422, body: { code: 'platform_unreachable' } });
    expect(refused.text + down.text).not.toContain('AAE_');
    expect(entries.map(({ outcome }) => outcome)).toEqual(['refused', 'refused']);
    await request('PUT', '/api/credentials/telegram', { body: {}, customer });
    expect(entries.map(({ target }) => target)).toEqual(['telegram', 'telegram', 'telegram']);
    const unchecked = await request('PUT', '/api/credentials/telegram?verify=false', { body, customer });
    expect(unchecked).toMatchObject({ status: 200, body: { account: 'bot 4242', status: 'connected' } });
  });

  it('[TH-6.4] refuses private addresses by field, also without asking the platform', async () => {
    for (const host of [
      '127.0.0.1',
      '10.0.0.8',
      'localhost',
      'mail.local',
      '169.254.169.254',
      '[::1]',
      '0x7f.1',
      '::ffff:10.0.0.1',
    ]) {
      const put = await request('PUT', '/api/credentials/email?verify=false', { body: mail(host) });
      expect(put, host).toMatchObject({
        status: 422,
        body: {
          code: 'address_refused',
          errors: [{ pointer: '/imap/host', code: 'address_refused' }, { pointer: '/smtp/host' }],
        },
      });
    }
    const token_url = 'http://10.1.2.3/token';
    const body = { ...mail('does-not-resolve.example'), oauth: { client_id: 'c', token_url } };
    const put = await request('PUT', '/api/credentials/email?verify=false', { body });
    expect(put).toMatchObject({
      status: 422,
      body: { code: 'address_refused', errors: [{ pointer: '/oauth/token_url' }] },
    });
    expect((await request('GET', '/api/credentials/email')).status).toBe(404);
  });

  it('[TH-6.4] refuses plain http by field, also without asking the platform', async () => {
    const mailWith = (token_url: string) => ({
      ...mail('does-not-resolve.example'),
      oauth: { client_id: 'c', token_url },
    });
    const plain = 'http://does-not-resolve.example';
    for (const [platform, field, body] of [
      ...serversAt(plain),
      ...serversAt('http://[2606:4700::1111]:3000'),
      ['email', '/oauth/token_url', mailWith(`${plain}/token`)] as const,
    ]) {
      const put = await request('PUT', `/api/credentials/${platform}?verify=false`, { body });
      expect(put, platform).toMatchObject({
        status: 422,
        body: {
          code: 'address_refused',
          errors: [{ pointer: field, detail: expect.stringContaining('plain http') }],
        },
      });
      expect((await request('GET', `/api/credentials/${platform}`)).status).toBe(404);
    }
    const customer = 'cus_plain';
    for (const [platform, , body] of serversAt('https://[2606:4700::1111]:3000'))
      expect(
        await request('PUT', `/api/credentials/${platform}?verify=false`, { body, customer }),
      ).toMatchObject({ status: 200 });
  });

  it('accepts a name that does not resolve now, since every connection is checked', async () => {
    const put = await request('PUT', '/api/credentials/email?verify=false', {
      body: mail('does-not-resolve.example'),
      customer: 'cus_mail',
    });
    expect(put).toMatchObject({ status: 200, body: { platform: 'email', account: 'u@example.com' } });
  });

  it('names every field that does not fit', async () => {
    const bad = [
      [{}, 'telegram'],
      [{ bot_token: 'no token' }, 'telegram'],
      [{ bot_token: '' }, 'telegram'],
      [{ bot_token: TOKEN, more: 1 }, 'telegram'],
      [{ bot_token: `1:${'a'.repeat(20)}/../x` }, 'telegram'],
      [{ ...mail('mail.example'), from: 'a\r\nBcc: b' }, 'email'],
      [
        { ...mail('mail.example'), imap: { ...server('mail.example'), user: 'a\u0001auth=Bearer x' } },
        'email',
      ],
      [{ ...mail('mail.example'), imap: { ...server('mail.example'), access_token: 'both' } }, 'email'],
      [
        { ...mail('mail.example'), smtp: { host: 'mail.example', port: 70_000, user: 'u', password: 'p' } },
        'email',
      ],
    ] as const;
    for (const [body, platform] of bad) {
      const put = await request('PUT', `/api/credentials/${platform}`, { body });
      expect(put.status, JSON.stringify(body)).toBe(422);
      expect(put.body.errors.length, JSON.stringify(body)).toBeGreaterThan(0);
      expect(put.text).not.toContain('secret-password');
    }
    for (const from of ['Ada', 'ada@', 'a@example.com, b@example.com', 'Team: a@example.com;', '<>']) {
      const body = { ...mail('mail.example'), from };
      const put = await request('PUT', '/api/credentials/email?verify=false', { body });
      expect(put, from).toMatchObject({
        status: 422,
        body: {
          errors: [
            {
              pointer: '/from',
              code: 'invalid_format',
              detail: expect.stringMatching(/^Must be one e-mail address/),
            },
          ],
        },
      });
    }
    for (const address of ['https://a.example:99999', 'https://[', 'https://%', 'https://a:b', 'https://:80'])
      for (const [platform, field, body] of serversAt(address)) {
        const put = await request('PUT', `/api/credentials/${platform}?verify=false`, { body });
        expect(put, address).toMatchObject({
          status: 422,
          body: {
            errors: [{ pointer: field, detail: expect.stringMatching(/^Must be the address of a server/) }],
          },
        });
      }
    expect((await request('PUT', '/api/credentials/myspace', { body: {} })).status).toBe(404);
    expect(
      (await request('PUT', '/api/credentials/telegram?verify=maybe', { body: { bot_token: TOKEN } })).status,
    ).toBe(400);
  });
});

/** Credentials that name a server which anybody may run, and where they name it. */
function serversAt(address: string) {
  const app = { identifier: 'ada.example', app_password: 'abcd-efgh-ijkl-mnop' };
  return [
    ['mastodon', '/instance_url', { instance_url: address, access_token: 'token' }],
    ['bluesky', '/service', { service: address, ...app }],
  ] as const;
}

describe('credentials of two customers', () => {
  it('never meet', async () => {
    await request('PUT', '/api/credentials/telegram', { body: { bot_token: TOKEN }, customer: 'cus_one' });
    expect((await request('GET', '/api/credentials', { customer: 'cus_two' })).body.data).toEqual([]);
    expect((await request('GET', '/api/credentials/telegram', { customer: 'cus_two' })).status).toBe(404);
    expect((await request('DELETE', '/api/credentials/telegram', { customer: 'cus_two' })).status).toBe(404);
    expect((await request('DELETE', '/api/credentials/telegram', { customer: 'cus_one' })).status).toBe(204);
    expect((await request('DELETE', '/api/credentials/telegram', { customer: 'cus_one' })).status).toBe(404);
    expect(entries.map(({ customerId, action }) => [customerId, action])).toEqual([
      ['cus_one', 'credential.connected'],
      ['cus_two', 'credential.removed'],
      ['cus_one', 'credential.removed'],
      ['cus_one', 'credential.removed'],
    ]);
    expect(entries.map(({ outcome }) => outcome)).toEqual(['success', 'refused', 'success', 'refused']);
  });

  it('are listed in pages', async () => {
    const customer = 'cus_pages';
    await request('PUT', '/api/credentials/telegram?verify=false', { body: { bot_token: TOKEN }, customer });
    await request('PUT', '/api/credentials/email?verify=false', {
      body: mail('does-not-resolve.example'),
      customer,
    });
    const first = (await request('GET', '/api/credentials?limit=1', { customer })).body;
    expect(first.data.map(({ platform }: { platform: string }) => platform)).toEqual(['email']);
    const second = (
      await request('GET', `/api/credentials?limit=1&cursor=${first.next_cursor}`, { customer })
    ).body;
    expect(second).toMatchObject({ data: [{ platform: 'telegram' }], next_cursor: null });
  });
});

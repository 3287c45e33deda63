// The way to a vendor and back, against an authorization server over HTTP: what a state is good for, and what becomes of
// every answer that a token endpoint can give.
import { randomBytes, randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { AppError } from '@libs/runtime';
import { createSealer } from '@libs/seal';
import { type Static, Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Connector, defineConnector, type OAuthClient } from '../connectors/connector.ts';
import { createEmailConnector } from '../connectors/email/connector.ts';
import { createTelegramConnector } from '../connectors/telegram/connector.ts';
import { readTokens } from '../connectors/vendor-api/tokens.ts';
import { createRig } from '../credentials/test/rig.ts';
import { migrationSource } from '../schema.ts';
import { createConnectService, type Traveller } from './service.ts';
import { HUGE_BYTES, startVendor, type TokenBehaviour, type Vendor } from './test/vendor.ts';

const PUBLIC_URL = 'https://hub.example.com';
const CALLBACK = `${PUBLIC_URL}/api/connect/slack/callback`;
const credentialSchema = Type.Object(
  {
    access_token: Type.String({ minLength: 1, maxLength: 8_192 }),
    refresh_token: Type.Optional(Type.String()),
    expires_at: Type.Optional(Type.String({ format: 'date-time' })),
  },
  { additionalProperties: false },
);

let db: TestDatabase;
let vendor: Vendor;
const clock = { ms: Date.parse('2026-11-01T10:00:00Z') };
const now = () => new Date(clock.ms);

/** A platform with nothing of its own but the login. */
function platform(clientAuthentication: 'body' | 'basic'): Connector {
  return defineConnector<Static<typeof credentialSchema>>({
    id: 'slack',
    title: 'Slack',
    auth: {
      ...{ kind: 'oauth', credentialSchema, secretFields: ['/access_token', '/refresh_token'] },
      accountLabel: () => 'someone',
      providers: [
        {
          ...{ id: 'slack', title: 'Slack', clientAuthentication, scopeSeparator: ',' },
          authorizeUrl: 'https://vendor.invalid/authorize?team=T1',
          tokenUrl: 'https://vendor.invalid/token',
          scopes: ['chat:write'],
          toolScopes: { slack_find: ['users:read', 'chat:write'], slack_like: ['reactions:write'] },
          authorizeParameters: { prompt: 'consent', state: 'never this one' },
          toCredential({ answer, now }) {
            const { accessToken, refreshToken, expiresAt } = readTokens(answer, now);
            return {
              access_token: accessToken,
              ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
              ...(expiresAt === null ? {} : { expires_at: expiresAt.toISOString() }),
            };
          },
        },
      ],
    },
    expiresAt: ({ expires_at }) => (expires_at === undefined ? null : new Date(expires_at)),
    verify: async ({ credential }) =>
      credential.access_token === 'wrong'
        ? { kind: 'rejected', reason: 'the token is wrong' }
        : { kind: 'accepted', account: 'someone@slack' },
    health: async () => ({ status: 'ok', message: null }),
    tools: [],
  });
}

function client(overrides: Partial<OAuthClient> = {}): OAuthClient {
  return {
    ...{ clientId: vendor.clientId, clientSecret: vendor.clientSecret },
    ...{ authorizeUrl: `${vendor.url}/authorize?team=T1`, tokenUrl: `${vendor.url}/token` },
    ...overrides,
  };
}

function rig({
  clientAuthentication = 'body' as 'body' | 'basic',
  clients = { slack: client() } as Record<string, OAuthClient>,
} = {}) {
  const definitions = [platform(clientAuthentication), createTelegramConnector(), createEmailConnector()];
  const { connectors, credentials } = createRig({
    ...{ database: db.database, connectors: definitions, oauthClients: clients, now },
  });
  const connect = createConnectService({
    ...{ database: db.database, connectors, credentials, publicUrl: PUBLIC_URL, randomBytes, now },
    sealer: createSealer({ keys: [Buffer.alloc(32, 1)] }),
    lostKeyIds: [],
    newLeaseId: randomUUID,
    switchedOn: async () => (tool) => !switchedOff.has(tool),
    exchangeTimeoutMs: 1_500,
  });
  return { connect, credentials };
}

/** Tools that the customer does not want. */
const switchedOff = new Set(['slack_like']);
let people = 0;
async function someone(sessionToken: string | null = 'ths_browser'): Promise<Traveller> {
  people += 1;
  const customerId = `cus_${people}`;
  await db.database.query(
    `insert into customers (id, email, name, password_hash, created_at) values ($1, $1, 'x', 'x', now())`,
    [customerId],
  );
  return { customerId, platform: 'slack', sessionToken, standing: async () => {} };
}

/** What the vendor sends the browser back with. */
async function visit(address: string): Promise<Record<string, string>> {
  const answer = await fetch(address, { redirect: 'manual' });
  const location = answer.headers.get('location') ?? '';
  expect(location.startsWith(`${CALLBACK}?`)).toBe(true);
  return Object.fromEntries(new URL(location).searchParams);
}

/** The code of the refusal and its status. */
async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) throw new Error('not refused', { cause: error });
  return `${error.status} ${error.code}`;
}

const states = async ({ customerId }: Traveller) =>
  (
    await db.database.query<{ sealed_verifier: Buffer }>(
      'select * from connect_states where customer_id = $1',
      [customerId],
    )
  ).rows;

beforeAll(async () => {
  [db, vendor] = await Promise.all([createTestDatabase(migrationSource), startVendor()]);
  vendor.redirectUris.push(CALLBACK);
});
beforeEach(() => {
  Object.assign(vendor, { decision: 'allow', token: 'works', accessToken: 'vendor-access-1' });
  vendor.exchanges.length = 0;
  vendor.authorizations.length = 0;
});
afterAll(async () => {
  await vendor.stop();
  await db.drop();
});

test('[TH-6] a login in the browser ends with a credential that was tried and sealed', async () => {
  const { connect, credentials } = rig();
  const ada = await someone();
  const address = new URL(await connect.begin(ada));
  const query = Object.fromEntries(address.searchParams);
  expect(query).toMatchObject({
    ...{ team: 'T1', prompt: 'consent', response_type: 'code', client_id: vendor.clientId },
    ...{ redirect_uri: CALLBACK, scope: 'chat:write,users:read', code_challenge_method: 'S256' },
  });
  expect(query.state).toMatch(/^[0-9A-Za-z]{43}$/);
  const [row] = await states(ada);
  const stored = JSON.stringify({ ...row, sealed_verifier: row?.sealed_verifier.toString('latin1') });
  expect(stored).not.toContain(query.state);
  expect(stored).not.toContain('ths_browser');

  const record = await connect.finish(ada, await visit(address.href));
  expect(record).toMatchObject({
    ...{ platform: 'slack', account: 'someone@slack', status: 'connected' },
    expiresAt: new Date(clock.ms + 3_600_000),
  });
  const [form = {}] = vendor.exchanges;
  expect(form).toMatchObject({ redirect_uri: CALLBACK, client_secret: vendor.clientSecret });
  expect(form.code_verifier).not.toBe('');
  expect(stored).not.toContain(form.code_verifier);
  expect(await credentials.get(ada.customerId, 'slack')).toMatchObject({ status: 'connected' });
  const { rows } = await db.database.query<{ sealed: Buffer }>(
    'select sealed from credentials where customer_id = $1',
    [ada.customerId],
  );
  expect(rows[0]?.sealed.toString('latin1')).not.toContain('vendor-access');
});

test('a vendor that wants the secret in a header gets it there', async () => {
  const { connect } = rig({ clientAuthentication: 'basic' });
  const ada = await someone();
  await connect.finish(ada, await visit(await connect.begin(ada)));
  expect(vendor.authorizations[0]).toMatch(/^Basic /);
  expect(vendor.exchanges[0]).not.toHaveProperty('client_secret');
});

test('[TH-6] a state works once, also for twenty at once', async () => {
  const { connect } = rig();
  const ada = await someone();
  const answer = await visit(await connect.begin(ada));
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => connect.finish(ada, answer)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(vendor.exchanges).toHaveLength(1);
  expect(await refusal(connect.finish(ada, answer))).toBe('400 connect_state_invalid');
});

test('[TH-6] a state is good for its customer, session, platform and quarter of an hour alone', async () => {
  const { connect, credentials } = rig();
  const [ada, eve] = [await someone(), await someone('ths_eve')];
  const invalid = '400 connect_state_invalid';
  // Login CSRF: Eve's own answer, planted in Ada's browser.
  const planted = await visit(await connect.begin(eve));
  expect(await refusal(connect.finish(ada, planted))).toBe(invalid);
  // Eve with Ada's state, in her own session.
  const stolen = await visit(await connect.begin(ada));
  expect(await refusal(connect.finish(eve, stolen))).toBe(invalid);
  // Another session of Ada's.
  expect(await refusal(connect.finish({ ...ada, sessionToken: 'ths_other' }, stolen))).toBe(invalid);
  // That was its one use.
  expect(await refusal(connect.finish(ada, stolen))).toBe(invalid);
  const elsewhere = await visit(await connect.begin(ada));
  expect(await refusal(connect.finish({ ...ada, platform: 'telegram' }, elsewhere))).toBe(invalid);
  const late = await visit(await connect.begin(ada));
  clock.ms += 15 * 60_000;
  expect(await refusal(connect.finish(ada, late))).toBe(invalid);
  for (const state of [undefined, '', 'x', 'x'.repeat(100_000)])
    expect(await refusal(connect.finish(ada, { code: 'c', ...(state === undefined ? {} : { state }) }))).toBe(
      invalid,
    );
  expect(vendor.exchanges).toEqual([]);
  expect(await credentials.get(ada.customerId, 'slack')).toBeUndefined();
  expect(await credentials.get(eve.customerId, 'slack')).toBeUndefined();
});

test('a login that a token began may be ended by a session of the same customer', async () => {
  const { connect } = rig();
  const ada = await someone(null);
  const answer = await visit(await connect.begin(ada));
  expect(await connect.finish({ ...ada, sessionToken: 'ths_any' }, answer)).toMatchObject({
    platform: 'slack',
  });
});

test('[TH-6] what the vendor refuses is told by its own word, and stores nothing', async () => {
  const { connect, credentials } = rig();
  const ada = await someone();
  vendor.decision = 'access_denied';
  expect(await refusal(connect.finish(ada, await visit(await connect.begin(ada))))).toBe(
    '403 connect_denied',
  );
  vendor.decision = 'server_error';
  const failed = connect.finish(ada, await visit(await connect.begin(ada)));
  await expect(failed).rejects.toMatchObject({ extra: { platform_code: 'server_error' } });
  const { state = '' } = await visit(await connect.begin(ada));
  const odd = connect.finish(ada, { state, error: '<script>alert(1)</script>' });
  await expect(odd).rejects.toMatchObject({ extra: { platform_code: 'unknown_error' } });
  const empty = await visit(await connect.begin(ada));
  expect(await refusal(connect.finish(ada, { state: empty.state ?? '' }))).toBe('422 connect_failed');
  expect(vendor.exchanges).toEqual([]);
  vendor.decision = 'allow';
  vendor.accessToken = 'wrong';
  const rejected = connect.finish(ada, await visit(await connect.begin(ada)));
  expect(await refusal(rejected)).toBe('422 credential_rejected');
  // Longer than what a customer may paste; the platform is not asked about it.
  vendor.accessToken = 'x'.repeat(9_000);
  const unfit = connect.finish(ada, await visit(await connect.begin(ada)));
  expect(await refusal(unfit)).toBe('422 connect_failed');
  expect(await credentials.get(ada.customerId, 'slack')).toBeUndefined();
});

const answers: [TokenBehaviour, string][] = [
  ['fails', '422 platform_unreachable'],
  ['slows down', '422 platform_unreachable'],
  ['hangs', '422 platform_unreachable'],
  ['is huge', '422 platform_unreachable'],
  ['is no JSON', '422 platform_unreachable'],
  ['is a list', '422 platform_unreachable'],
  ['redirects', '422 platform_unreachable'],
  ['has no token', '422 platform_unreachable'],
  ['refuses', '422 connect_failed'],
  ['refuses with 200', '422 connect_failed'],
];
test.each(answers)('[TH-6] a token endpoint that %s: %s, and nothing is stored', async (token, expected) => {
  const { connect, credentials } = rig();
  const ada = await someone();
  const answer = await visit(await connect.begin(ada));
  vendor.token = token;
  const work = connect.finish(ada, answer);
  expect(await refusal(work)).toBe(expected);
  const error = (await work.catch((reason: unknown) => reason)) as AppError;
  expect(`${error.detail} ${JSON.stringify(error.extra)}`).not.toMatch(/hush|secret words|vendor-access/);
  expect(vendor.pouredBytes).toBeLessThan(HUGE_BYTES);
  expect(vendor.exchanges).toHaveLength(1);
  expect(await credentials.get(ada.customerId, 'slack')).toBeUndefined();
  expect(await states(ada)).toEqual([]);
});

test('a token endpoint that is not there is a platform that does not answer', async () => {
  const { connect } = rig({ clients: { slack: client({ tokenUrl: 'http://127.0.0.1:1/token' }) } });
  const ada = await someone();
  expect(await refusal(connect.finish(ada, await visit(await connect.begin(ada))))).toBe(
    '422 platform_unreachable',
  );
});

test('[TH-6] what cannot be connected in the browser says so', async () => {
  const { connect } = rig();
  const ada = await someone();
  expect(await refusal(connect.begin({ ...ada, platform: 'telegram' }))).toBe('422 connect_not_supported');
  expect(await refusal(connect.begin({ ...ada, platform: 'unknown' }))).toBe('404 not_found');
  expect(await refusal(connect.finish({ ...ada, platform: 'unknown' }, {}))).toBe('404 not_found');
  expect(await refusal(connect.begin({ ...ada, platform: 'email' }))).toBe('503 not_configured');
  expect(await refusal(connect.begin(ada, { provider: 'google' }))).toBe('400 invalid_query');
  // A registration at a vendor serves the platforms of that vendor alone.
  expect(await refusal(connect.begin({ ...ada, platform: 'email' }, { provider: 'google' }))).toBe(
    '503 not_configured',
  );
  expect(await refusal(rig({ clients: {} }).connect.begin(ada))).toBe('503 not_configured');
});

test('starting over and over keeps the newest twenty, and the old go with time', async () => {
  const { connect } = rig();
  const ada = await someone();
  const addresses: string[] = [];
  for (let count = 0; count < 25; count += 1) {
    clock.ms += 1;
    addresses.push(await connect.begin(ada));
  }
  expect(await states(ada)).toHaveLength(20);
  const first = await visit(addresses[0] as string);
  expect(await refusal(connect.finish(ada, first))).toBe('400 connect_state_invalid');
  clock.ms += 16 * 60_000;
  await connect.jobs.handlers[0]?.handle([] as never, {} as never);
  expect(await states(ada)).toEqual([]);
});

test('[TH-6.10] registrations at servers that nobody used for a month go, and those that came to nothing', async () => {
  const { connect } = rig();
  const daysAgo = (days: number) => new Date(now().getTime() - days * 24 * 60 * 60_000);
  for (const [server, checkedAt, leaseUntil] of [
    ['used', daysAgo(29), null],
    ['forgotten', daysAgo(31), null],
    ['failed', null, null],
    ['dead', null, daysAgo(31)],
    ['under way', null, daysAgo(-1)],
  ] as const)
    await db.database.query(
      `insert into connect_servers (platform, server, checked_at, lease_until) values ('mastodon', $1, $2, $3)`,
      [server, checkedAt, leaseUntil],
    );
  await connect.jobs.handlers[0]?.handle([] as never, {} as never);
  const { rows } = await db.database.query<{ server: string }>(
    'select server from connect_servers order by server',
  );
  expect(rows.map(({ server }) => server)).toEqual(['under way', 'used']);
});

test('[TH-6.6] a connection that had expired recovers by a login, and the customer is told', async () => {
  const { connect } = rig();
  const ada = await someone();
  await connect.finish(ada, await visit(await connect.begin(ada)));
  await db.database.query(`update credentials set status = 'expired' where customer_id = $1`, [
    ada.customerId,
  ]);
  await connect.finish(ada, await visit(await connect.begin(ada)));
  const { rows } = await db.database.query('select type, data from events where customer_id = $1', [
    ada.customerId,
  ]);
  expect(rows).toEqual([
    { type: 'credential.recovered', data: { platform: 'slack', account: 'someone@slack' } },
  ]);
});

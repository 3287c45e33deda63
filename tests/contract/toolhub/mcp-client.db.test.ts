// The official client logs in by itself from a bare 401, uses the tools, refreshes, and is shut out when revoked.
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import type { OAuthClientProvider as FormerProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FormerTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, call, makeToken, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import { obtainTokens, postForm, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { Browser } from '../../../services/toolhub/test/browser.ts';
import { INTERNAL_TOKEN, type LoneInstance, startAlone } from '../../../services/toolhub/test/instance.ts';

let instance: LoneInstance;
let url: string;
let account: Account;

beforeAll(async () => {
  instance = await startAlone();
  url = instance.url;
  account = await signUp(url);
  const { cookie } = account;
  const stored = await call(`${url}/api/credentials/telegram?verify=false`, {
    ...{ method: 'PUT', cookie, body: { bot_token: '777:AAE_abcdefghijklmnopqrstuvwxyz012345' } },
  });
  expect(stored.status).toBe(200);
});

afterAll(() => instance.stop());

const REDIRECT = 'http://127.0.0.1:45454/callback';

/** Keeps everything in memory, as a desktop program keeps it on disk. */
class MemoryProvider implements OAuthClientProvider {
  information: StoredOAuthClientInformation | undefined;
  stored: StoredOAuthTokens | undefined;
  verifier = '';
  asked: URL | undefined;

  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    client_name: 'Official client',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  clientInformation = () => this.information;
  saveClientInformation = (information: StoredOAuthClientInformation) => {
    this.information = information;
  };
  tokens = () => this.stored;
  saveTokens = (tokens: StoredOAuthTokens) => {
    this.stored = tokens;
  };
  redirectToAuthorization = (address: URL) => {
    this.asked = address;
  };
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier;
  };
  codeVerifier = () => this.verifier;
  #discovered: OAuthDiscoveryState | undefined;
  invalidateCredentials = (scope: string) => {
    if (scope !== 'client') this.stored = undefined;
  };
  discoveryState = () => this.#discovered;
  saveDiscoveryState = (state: OAuthDiscoveryState) => {
    this.#discovered = state;
  };
}

function newTransport(authProvider: OAuthClientProvider): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider });
}

/** What the person at the browser does. */
async function logInAndAllow(address: URL): Promise<URLSearchParams> {
  const browser = new Browser();
  const login = await browser.open(address);
  const consent = await browser.submit(login, '/login', { email: account.email, password: PASSWORD });
  expect(consent.text).toContain('Official client');
  expect(consent.text).toContain('127.0.0.1:45454');
  const answer = await browser.submit(consent, '/consent', { decision: 'allow' });
  return new URL(answer.headers.get('location') ?? '').searchParams;
}

const modes: [VersionNegotiationMode, string][] = [
  ['legacy', '2025-11-25'],
  [{ pin: '2026-07-28' }, '2026-07-28'],
];

describe.each(modes)('mode %j', (mode, version) => {
  test('[TH-5] from a bare 401 to tools, refresh and revocation', async () => {
    const provider = new MemoryProvider();
    const newClient = () => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const transport = newTransport(provider);
    await expect(newClient().connect(transport)).rejects.toThrow(UnauthorizedError);
    expect(provider.information?.client_id).toEqual(expect.any(String));
    expect(provider.asked?.searchParams.get('resource')).toBe(`${url}/mcp`);
    expect(provider.asked?.searchParams.get('scope')).toContain('tools:read tools:write');
    await transport.finishAuth(await logInAndAllow(provider.asked as URL));
    expect(provider.stored?.access_token).toMatch(/^tho_/);
    expect(provider.stored?.refresh_token).toMatch(/^thr_/);

    const client = newClient();
    await client.connect(newTransport(provider));
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    const { tools } = await client.listTools();
    for (const platform of ['accounts', 'telegram'])
      expect(tools.filter(({ name }) => name.startsWith(`${platform}_`)).length).toBeGreaterThan(1);
    for (const { inputSchema } of tools) expect(inputSchema.properties ?? {}).not.toHaveProperty('account');
    const result = await client.callTool({ name: 'accounts_list' });
    expect(result.structuredContent).toMatchObject({ items: [{ platform: 'telegram' }] });

    // An access token that has run out is replaced without anybody noticing.
    const first = { ...provider.stored };
    await endAccessToken(first.access_token ?? '');
    expect((await client.callTool({ name: 'accounts_list' })).isError).toBeUndefined();
    expect(provider.stored?.access_token).not.toBe(first.access_token);
    expect(provider.stored?.refresh_token).not.toBe(first.refresh_token);

    await postForm(`${url}/oauth/revoke`, {
      client_id: provider.information?.client_id ?? '',
      token: provider.stored?.refresh_token ?? '',
    });
    await expect(client.callTool({ name: 'accounts_list' })).rejects.toThrow();
    await client.close();
  });
});

/** As when its hour is over, in every process. */
async function endAccessToken(token: string): Promise<void> {
  await instance.database.database.query(`update oauth_tokens set expires_at = now() where kind = 'access'`);
  const { rows } = await instance.database.database.query<{ family: string }>(
    'select grant_id as family from oauth_tokens',
  );
  for (const { family } of rows)
    await instance.database.database.query('select pg_notify($1, $2)', [
      'toolhub_changes',
      `revocation ${JSON.stringify({ family })}`,
    ]);
  await expect.poll(async () => (await call(`${url}/api/me`, { token })).status).toBe(401);
}

test('[TH-4.15] the client of the 1.x SDK, which asks for no offline_access by itself, stays logged in', async () => {
  const provider = new MemoryProvider();
  const newTransport = () =>
    new FormerTransport(new URL(`${url}/mcp`), { authProvider: provider as unknown as FormerProvider });
  const newClient = () => new FormerClient({ name: 'test', version: '1' });
  const transport = newTransport();
  await expect(newClient().connect(transport as never)).rejects.toThrow();
  const answer = await logInAndAllow(provider.asked as URL);
  await transport.finishAuth(answer.get('code') ?? '');
  expect(provider.stored?.refresh_token).toMatch(/^thr_/);
  const client = newClient();
  await client.connect(newTransport() as never);
  expect((await client.listTools()).tools.length).toBeGreaterThan(1);
  const first = { ...provider.stored };
  await endAccessToken(first.access_token ?? '');
  expect((await client.callTool({ name: 'accounts_list' })).isError).toBeFalsy();
  expect(provider.stored?.access_token).not.toBe(first.access_token);
  await client.close();
});

describe('who may use /mcp', () => {
  const list = (token?: string, path = '/mcp') =>
    call(`${url}${path}`, {
      ...(token === undefined ? {} : { token }),
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    });

  test('[TH-5] without a token: 401 with the way to one', async () => {
    const { status, headers } = await list();
    expect(status).toBe(401);
    const [, metadata = ''] = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '') ?? [];
    expect((await call(metadata)).body.resource).toBe(`${url}/mcp`);
  });

  test('[TH-5] personal, OAuth and internal tokens; the session cookie is none', async () => {
    const { token } = await makeToken(url, account);
    const client = await registerClient(url);
    const { access_token: oauth } = await obtainTokens(url, account, client);
    for (const good of [token, oauth, INTERNAL_TOKEN]) expect((await list(good)).status).toBe(200);
    const { token: closed } = await makeToken(url, account, { scopes: ['account:read'] });
    const refused = await list(closed);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('insufficient_scope');
    const cookie = await call(`${url}/mcp`, { cookie: account.cookie, body: {} });
    expect(cookie.status).toBe(401);
  });
});

// From the dashboard to a client's configuration: /oauth/connect-mcp and /oauth/mcp-callback.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, call, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import { authorizeUrl, exchange, newPkce } from '../../../services/toolhub/test/authorization.ts';
import { Browser, type Visit } from '../../../services/toolhub/test/browser.ts';
import { startInstance } from '../../../services/toolhub/test/instance.ts';
import { type OAuthRig, startOAuthRig } from './oauth-rig.ts';

let rig: OAuthRig;
let url: string;
let account: Account;

beforeAll(async () => {
  rig = await startOAuthRig();
  ({ url, account } = rig);
});

afterAll(() => rig.stop());

async function ownClientId(): Promise<string> {
  const { headers } = await new Browser().fetch(`${url}/oauth/connect-mcp`);
  return new URL(headers.get('location') ?? '').searchParams.get('client_id') ?? '';
}

/** As far as the redirect that brings the code back. */
async function toCallback(owner: Account, decision = 'allow'): Promise<string> {
  const consent = await owner.browser.open(`${url}/oauth/connect-mcp`);
  let visit = await owner.browser.submit(consent, '/consent', { decision }, false);
  while (!visit.headers.get('location')?.includes('/oauth/mcp-callback')) {
    visit = await owner.browser.fetch(new URL(visit.headers.get('location') ?? '', url));
  }
  return visit.headers.get('location') ?? '';
}

const snippets = (page: Visit) =>
  [...page.text.matchAll(/<pre id="([^"]+)"[^>]*>([^<]*)<\/pre>/g)].map(([, id = '', text = '']) => ({
    id,
    text: text.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  }));

test('[TH-4.10] connect-mcp leads into the flow with a fresh challenge and state', async () => {
  const browser = new Browser();
  const visits = [
    await browser.fetch(`${url}/oauth/connect-mcp`),
    await browser.fetch(`${url}/oauth/connect-mcp`),
  ];
  const queries = visits.map((visit) => {
    expect(visit.status).toBe(302);
    const { origin, pathname, searchParams } = new URL(visit.headers.get('location') ?? '');
    expect(origin + pathname).toBe(`${url}/oauth/authorize`);
    expect(searchParams.get('redirect_uri')).toBe(`${url}/oauth/mcp-callback`);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    return searchParams;
  });
  for (const name of ['state', 'code_challenge'])
    expect(queries[0]?.get(name)).not.toBe(queries[1]?.get(name));
  expect(visits.flatMap((visit) => visit.headers.getSetCookie())).toEqual([]);
});

test('[TH-4.11] the callback shows four snippets; the Bearer token is a personal one that works, and the others hold none', async () => {
  const browser = new Browser();
  const login = await browser.open(`${url}/oauth/connect-mcp`);
  const consent = await browser.submit(login, '/login', { email: account.email, password: PASSWORD });
  const page = await browser.submit(consent, '/consent', { decision: 'allow' });
  expect(page.status).toBe(200);
  const shown = Object.fromEntries(snippets(page).map(({ id, text }) => [id, text]));
  expect(Object.keys(shown).sort()).toEqual([
    'desktop-oauth',
    'desktop-token',
    'terminal-oauth',
    'terminal-token',
  ]);
  expect(JSON.parse(shown['desktop-oauth'] ?? '')).toEqual({
    mcpServers: { toolhub: { command: 'npx', args: ['-y', 'mcp-remote', `${url}/mcp`] } },
  });
  expect(shown['terminal-oauth']).toBe(`claude mcp add --transport http toolhub ${url}/mcp`);
  const [, token = ''] = /Bearer (thp_[A-Za-z0-9]+)/.exec(shown['desktop-token'] ?? '') ?? [];
  expect(shown['terminal-token']).toBe(
    `claude mcp add --transport http toolhub ${url}/mcp --header "Authorization: Bearer ${token}"`,
  );
  expect(page.text.split(token)).toHaveLength(3);

  const tokens = await call<{ data: { name: string; scopes: string[]; expires_at: string }[] }>(
    `${url}/api/tokens`,
    {
      cookie: account.cookie,
    },
  );
  expect(tokens.body.data).toHaveLength(1);
  expect(tokens.body.data[0]?.scopes).toEqual(['tools:read', 'tools:write']);
  const days = (Date.parse(tokens.body.data[0]?.expires_at ?? '') - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(90);
  // It is for tools alone: the account is closed to it, as a known token without that scope.
  expect((await call(`${url}/api/me`, { token })).status).toBe(403);
  // What proved the login is gone already.
  const { rows } = await rig.database.database.query('select 1 from oauth_tokens');
  expect(rows).toEqual([]);
});

test('[TH-4.11] the page is not cached, sends no referrer, and runs nothing but the copy buttons', async () => {
  const page = await account.browser.fetch(await toCallback(account));
  expect(page.status).toBe(200);
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  const csp = page.headers.get('content-security-policy') ?? '';
  expect(csp).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; form-action 'self'/,
  );
  expect(csp).not.toContain('unsafe');
  expect(page.text.match(/<script/g)).toHaveLength(1);
  expect(page.text.match(/data-copy=/g)?.length).toBe(4);
  expect(page.text).not.toContain(await ownClientId());
});

test('[TH-4.10] no page on the way shows the client id', async () => {
  const clientId = await ownClientId();
  const consent = await account.browser.open(`${url}/oauth/connect-mcp`);
  const login = await new Browser().open(`${url}/oauth/connect-mcp`);
  for (const page of [consent, login]) {
    expect(page.status).toBe(200);
    expect(page.text).not.toContain(clientId);
  }
});

test.each<[string, (callback: URL) => void]>([
  ['another state', (callback) => callback.searchParams.set('state', 'x'.repeat(43))],
  ['no state', (callback) => callback.searchParams.delete('state')],
  ['another code', (callback) => callback.searchParams.set('code', 'nonsense')],
  ['no code', (callback) => callback.searchParams.delete('code')],
  ['another issuer', (callback) => callback.searchParams.set('iss', 'https://evil.example')],
  ['two states', (callback) => callback.searchParams.append('state', 'second')],
])('[TH-4.11] %s gives a clear page with 400, and no token', async (_name, change) => {
  const owner = await signUp(url);
  const callback = new URL(await toCallback(owner));
  change(callback);
  const page = await owner.browser.fetch(callback);
  expect(page.status).toBe(400);
  expect(page.headers.get('content-type')).toContain('text/html');
  expect(page.text).toContain('Not connected');
  expect(page.text).not.toMatch(/thp_|tho_/);
  const { rows } = await rig.database.database.query('select 1 from personal_tokens where customer_id = $1', [
    owner.id,
  ]);
  expect(rows).toEqual([]);
});

test('[TH-4] the page comes once: a reload is a clear page with 400', async () => {
  const owner = await signUp(url);
  const callback = await toCallback(owner);
  const [first, second] = await Promise.all([owner.browser.fetch(callback), owner.browser.fetch(callback)]);
  expect([first.status, second.status].sort()).toEqual([200, 400]);
  const third = await owner.browser.fetch(callback);
  expect([third.status, third.text.includes('The snippets were shown once')]).toEqual([400, true]);
});

test('[TH-4] an account that has all the tokens it may have is told so on the page', async () => {
  const full = await signUp(url);
  await rig.database.database.query(
    `insert into personal_tokens (customer_id, id, token_hash, name, scopes, created_at)
     select $1, 'tok_full' || n, decode(lpad(n::text, 64, '0'), 'hex'), 'full', '{}', $2
     from generate_series(1, 100) as n`,
    [full.id, new Date()],
  );
  const page = await full.browser.fetch(await toCallback(full));
  expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
  expect(page.text).toContain('revoke one first');
  expect(page.text).not.toContain('thp_');
});

test('[TH-4] a denied connection says so', async () => {
  const owner = await signUp(url);
  const callback = await toCallback(owner, 'deny');
  const page = await owner.browser.fetch(callback);
  expect(page.status).toBe(400);
  expect(page.text).toContain('You did not allow the connection.');
  // The state is gone, and with it what is known of the answer.
  const again = await owner.browser.fetch(callback);
  expect([again.status, again.text]).toEqual([400, expect.stringContaining('ended without a result')]);
});

test('[TH-4] the answer of another account cannot be planted in a browser', async () => {
  const [attacker, victim] = await Promise.all([signUp(url), signUp(url)]);
  const page = await victim.browser.fetch(await toCallback(attacker));
  expect(page.status).toBe(400);
  const stranger = await new Browser().fetch(await toCallback(attacker));
  expect(stranger.status).toBe(400);
  const { rows } = await rig.database.database.query(
    'select 1 from personal_tokens where customer_id = any($1)',
    [[attacker.id, victim.id]],
  );
  expect(rows).toEqual([]);
});

test('[TH-4.7] the own client: every registered form works over HTTP, near-misses are shown an error', async () => {
  const client_id = await ownClientId();
  const pkce = newPkce();
  for (const redirect_uri of [
    'http://localhost:3118/callback',
    'http://127.0.0.1:40123/any/path',
    'https://claude.ai/api/mcp/auth_callback',
    'https://claude.com/api/mcp/auth_callback',
    'https://chatgpt.com/aip/g-abc_123/oauth/callback',
    'https://chat.openai.com/aip/x/oauth/callback',
  ]) {
    const page = await account.browser.open(authorizeUrl(url, { client_id, redirect_uri }, pkce));
    expect(page.text).toContain('name="decision"');
    const answer = await account.browser.submit(page, '/consent', { decision: 'allow' });
    const location = new URL(answer.headers.get('location') ?? '');
    expect(location.origin + location.pathname).toBe(redirect_uri);
    const code = location.searchParams.get('code') ?? '';
    expect((await exchange(url, { client_id, redirect_uri }, code, pkce)).status).toBe(200);
  }
  for (const redirect_uri of [
    'https://chatgpt.com/aip/a/b/oauth/callback',
    'https://chatgpt.com/aip/a%2Fb/oauth/callback',
    'https://chatgpt.com/aip/../oauth/callback',
    'https://chatgpt.com:8443/aip/a/oauth/callback',
    'https://chatgpt.com@evil.example/aip/a/oauth/callback',
    'https://chatgpt.com/aip/a/oauth/callback#x',
    'https://claude.ai/api/mcp/auth_callback/',
    'http://localhost:3118/callback?x=1',
    'https://localhost:3118/callback',
    'http://localhost:*',
    'https://chatgpt.com/aip/*/oauth/callback',
  ]) {
    const visit = await account.browser.open(authorizeUrl(url, { client_id, redirect_uri }, pkce));
    expect([redirect_uri, visit.status, visit.headers.get('location')]).toEqual([redirect_uri, 400, null]);
  }
});

test('[TH-4.8] the own client is written anew at every start', async () => {
  const client_id = await ownClientId();
  await rig.database.database.query(
    `update oauth_clients set redirect_uris = '{}', metadata = '{}' where id = $1`,
    [client_id],
  );
  const other = await startInstance(rig.database.url, { publicUrl: url });
  await other.stop();
  const { rows } = await rig.database.database.query<{ redirect_uris: string[] }>(
    'select redirect_uris from oauth_clients where id = $1',
    [client_id],
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]?.redirect_uris).toContain(`${url}/oauth/mcp-callback`);
});

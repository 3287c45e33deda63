// The authorization server over real HTTP: discovery, registration, login, consent, tokens, refresh, revocation.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, call, PASSWORD, signUp } from './accounts.ts';
import {
  authorizeUrl,
  decide,
  exchange,
  locationOf,
  newPkce,
  type OAuthClient,
  obtainCode,
  obtainTokens,
  postForm,
  refresh,
  registerClient,
} from './authorization.ts';
import { Browser } from './browser.ts';
import { createToolhubDatabase, type Instance, startInstance } from './instance.ts';

let database: TestDatabase;
let instance: Instance;
let url: string;
let account: Account;
let client: OAuthClient;

beforeAll(async () => {
  database = await createToolhubDatabase();
  instance = await startInstance(database.url);
  url = instance.url;
  account = await signUp(url);
  client = await registerClient(url);
});

afterAll(async () => {
  await instance.stop();
  await database.drop();
});

test('[TH-4] a code becomes tokens that work on the API', async () => {
  const pkce = newPkce();
  const location = await decide(account, authorizeUrl(url, client, pkce));
  expect(location.origin + location.pathname).toBe('http://127.0.0.1:3118/callback');
  expect(location.searchParams.get('state')).toBe('state-of-the-client');
  expect(location.searchParams.get('iss')).toBe(url);
  const { status, body, headers } = await exchange(
    url,
    client,
    location.searchParams.get('code') ?? '',
    pkce,
  );
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { token_type: 'Bearer', expires_in: 3600, scope: 'tools:read tools:write account:read' },
  });
  expect(headers.get('cache-control')).toContain('no-store');
  const me = await call<{ customer: { id: string } }>(`${url}/api/me`, { token: body.access_token });
  expect(me.body.customer.id).toBe(account.id);
});

describe('discovery', () => {
  test('[TH-4] metadata names the endpoints, PKCE, the issuer in responses and metadata documents', async () => {
    for (const path of ['oauth-authorization-server', 'openid-configuration']) {
      const { status, body } = await call(`${url}/.well-known/${path}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        issuer: url,
        authorization_endpoint: `${url}/oauth/authorize`,
        token_endpoint: `${url}/oauth/token`,
        registration_endpoint: `${url}/oauth/register`,
        revocation_endpoint: `${url}/oauth/revoke`,
        code_challenge_methods_supported: ['S256'],
        response_types_supported: ['code'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
        scopes_supported: ['tools:read', 'tools:write', 'account:read', 'account:write', 'offline_access'],
      });
    }
  });

  test('[TH-4] the addresses are the public ones, whatever Host a caller sends', async () => {
    const answer = await fetch(
      `${url.replace('localhost', '127.0.0.1')}/.well-known/oauth-authorization-server`,
      {
        headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
      },
    );
    expect(JSON.stringify(await answer.json())).not.toMatch(/evil\.example|127\.0\.0\.1/);
  });

  test('[TH-4] protected resource metadata stands at both addresses', async () => {
    for (const path of ['', '/mcp']) {
      const { status, body, headers } = await call(`${url}/.well-known/oauth-protected-resource${path}`);
      expect(status).toBe(200);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(body).toMatchObject({ resource: `${url}/mcp`, authorization_servers: [url] });
    }
  });
});

describe('registration', () => {
  test('[TH-4] RFC 7591: answers 201 with the metadata; unknown scopes are left out', async () => {
    const { status, body } = await call(`${url}/oauth/register`, {
      body: {
        client_name: 'Scoped',
        redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback', 'https://app.example/cb?x=1'],
        token_endpoint_auth_method: 'none',
        scope: 'openid profile tools:read',
      },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      client_name: 'Scoped',
      scope: 'tools:read',
      token_endpoint_auth_method: 'none',
    });
    expect(body.client_id).toEqual(expect.any(String));
    expect(body).not.toHaveProperty('client_secret');
  });

  test.each([
    'http://example.com/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://user@example.com/cb',
    'https://example.com/cb#x',
    'https://example.com/c b',
    '/relative',
    'http://127.0.0.1.example.com/cb',
    'http://localhost.example.com/cb',
  ])('[TH-4] refuses the redirect address %s', async (redirect) => {
    const { status, body } = await call(`${url}/oauth/register`, {
      body: { redirect_uris: [redirect], token_endpoint_auth_method: 'none' },
    });
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_redirect_uri' });
  });

  test('[TH-2] malformed registrations get the error body of OAuth', async () => {
    for (const payload of ['{"redirect_uris":', '[]', '"x"', '{"redirect_uris":"x"}', '{}']) {
      const answer = await fetch(`${url}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: payload,
      });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toHaveProperty('error');
    }
  });

  test('[TH-4] a confidential client proves itself by its secret, which is stored hashed', async () => {
    const confidential = await registerClient(url, { token_endpoint_auth_method: 'client_secret_basic' });
    const secret = confidential.client_secret ?? '';
    expect(secret.length).toBeGreaterThan(40);
    const { code, pkce } = await obtainCode(url, account, confidential);
    const form = {
      grant_type: 'authorization_code',
      redirect_uri: confidential.redirect_uri,
      code,
      code_verifier: pkce.verifier,
    };
    const basic = (password: string) => ({
      authorization: `Basic ${Buffer.from(`${confidential.client_id}:${password}`).toString('base64')}`,
    });
    const wrong = await postForm<{ error: string }>(`${url}/oauth/token`, form, basic(`${secret}x`));
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_client']);
    const none = await postForm<{ error: string }>(`${url}/oauth/token`, {
      ...form,
      client_id: confidential.client_id,
    });
    expect([none.status, none.body.error]).toEqual([401, 'invalid_client']);
    expect((await postForm(`${url}/oauth/token`, form, basic(secret))).status).toBe(200);
    const { rows } = await database.database.query('select metadata::text from oauth_clients');
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});

describe('login and consent', () => {
  test('[TH-4] without a session: to the login page and back to consent', async () => {
    const browser = new Browser();
    const pkce = newPkce();
    const login = await browser.open(authorizeUrl(url, client, pkce));
    expect(login.status).toBe(200);
    expect(login.text).toMatch(/<input[^>]* name="email"/);
    expect(login.text).toMatch(/<input[^>]* name="password"/);
    const wrong = await browser.submit(login, '/login', {
      email: account.email,
      password: 'not the password',
    });
    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain('wrong');
    expect(wrong.text).not.toContain('not the password');
    const consent = await browser.submit(wrong, '/login', { email: account.email, password: PASSWORD });
    expect(consent.text).toContain('name="decision" value="allow"');
    expect(consent.text).toContain('name="decision" value="deny"');
    const answer = await browser.submit(consent, '/consent', { decision: 'allow' });
    const code = locationOf(answer).searchParams.get('code') ?? '';
    expect((await exchange(url, client, code, pkce)).status).toBe(200);
  });

  test('[TH-4] a new customer can open an account on the way', async () => {
    const browser = new Browser();
    const login = await browser.open(authorizeUrl(url, client, newPkce()));
    const link = /href="([^"]+\?signup)"/.exec(login.text)?.[1] ?? '';
    const form = await browser.open(new URL(link, url));
    const email = `new-${Date.now()}@example.com`;
    const short = await browser.submit(form, '/signup', { name: 'New', email, password: 'short' });
    expect(short.status).toBe(422);
    const taken = await browser.submit(form, '/signup', {
      name: 'New',
      email: account.email,
      password: PASSWORD,
    });
    expect(taken.status).toBe(409);
    const consent = await browser.submit(form, '/signup', { name: 'New', email, password: PASSWORD });
    expect(consent.text).toContain(email);
    expect(consent.text).toContain('name="decision"');
  });

  test('[TH-4] the consent page names the client, the host and the scopes, escaped', async () => {
    const tricky = await registerClient(url, {
      client_name: '<script>alert("x")</script> & Co',
      redirect_uris: ['https://client.example:8443/cb'],
    });
    const page = await account.browser.open(authorizeUrl(url, tricky, newPkce()));
    expect(page.text).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; Co');
    expect(page.text).not.toContain('<script');
    expect(page.text).toContain('client.example:8443');
    expect(page.text).toContain(account.email);
    for (const scope of ['tools:read', 'tools:write', 'account:read', 'offline_access'])
      expect(page.text).toContain(`<code>${scope}</code>`);
    expect(page.text).not.toContain('<code>account:write</code>');
  });

  test('[TH-4] deny sends access_denied with state and issuer', async () => {
    const location = await decide(account, authorizeUrl(url, client, newPkce()), 'deny');
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'state-of-the-client',
      iss: url,
    });
    expect(location.searchParams.has('code')).toBe(false);
  });

  test('[TH-13] the pages carry a strict CSP and the other headers', async () => {
    const login = await new Browser().open(authorizeUrl(url, client, newPkce()));
    const consent = await account.browser.open(authorizeUrl(url, client, newPkce()));
    for (const page of [login, consent]) {
      const csp = page.headers.get('content-security-policy') ?? '';
      expect(csp).toContain("default-src 'none'");
      expect(csp).toContain("frame-ancestors 'none'");
      expect(csp).not.toMatch(/unsafe|script-src|\*/);
      expect(page.headers.get('x-content-type-options')).toBe('nosniff');
      expect(page.headers.get('x-frame-options')).toBe('DENY');
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(page.text).not.toMatch(/<script| on[a-z]+=|style=/);
    }
    expect(login.headers.get('content-security-policy')).toContain("form-action 'self';");
  });

  test('[TH-13] forms of other sites and forged decisions are refused', async () => {
    const page = await account.browser.open(authorizeUrl(url, client, newPkce()));
    const action = /action="([^"]+\/consent)"/.exec(page.text)?.[1] ?? '';
    const post = (headers: Record<string, string>, body = 'decision=allow') =>
      account.browser.fetch(new URL(action, url), {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body,
      });
    expect((await post({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await post({ origin: 'null' })).status).toBe(403);
    expect((await post({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await post({}, 'decision=perhaps')).status).toBe(400);
    const stranger = await new Browser().fetch(new URL(action, url), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'decision=allow',
    });
    expect(stranger.status).toBe(400);
    expect((await post({})).status).toBe(303);
  });

  test('[TH-4] after logout the consent page leads to the login page', async () => {
    const leaving = await signUp(url);
    const page = await leaving.browser.open(authorizeUrl(url, client, newPkce()));
    await leaving.browser.fetch(`${url}/api/auth/logout`, { method: 'POST' });
    const answer = await leaving.browser.submit(page, '/consent', { decision: 'allow' });
    expect(answer.headers.get('location')).toBeNull();
    const again = await leaving.browser.open(authorizeUrl(url, client, newPkce()));
    expect(again.text).toContain('name="password"');
  });

  test('[TH-4] the customer can change to another account', async () => {
    const first = await signUp(url);
    const page = await first.browser.open(authorizeUrl(url, client, newPkce()));
    const login = await first.browser.submit(page, '/switch', {});
    const consent = await first.browser.submit(login, '/login', { email: account.email, password: PASSWORD });
    expect(consent.text).toContain(account.email);
    expect(consent.text).not.toContain(first.email);
  });

  test('[TH-4] prompt=login asks for the password although there is a session', async () => {
    const returning = await signUp(url);
    const login = await returning.browser.open(authorizeUrl(url, client, newPkce(), { prompt: 'login' }));
    expect(login.text).toContain('name="password"');
    const consent = await returning.browser.submit(login, '/login', {
      email: returning.email,
      password: PASSWORD,
    });
    expect(consent.text).toContain('name="decision"');
  });

  test('[TH-4] prompt=none is answered with an error, never with a code', async () => {
    const asked = await account.browser.open(authorizeUrl(url, client, newPkce(), { prompt: 'none' }));
    expect(locationOf(asked).searchParams.get('error')).toBe('consent_required');
    const stranger = await new Browser().open(authorizeUrl(url, client, newPkce(), { prompt: 'none' }));
    expect(locationOf(stranger).searchParams.get('error')).toBe('login_required');
  });

  test('[TH-4] the flow also works under the other name of this machine', async () => {
    const other = url.replace('localhost', '127.0.0.1');
    const local = await signUp(other);
    const pkce = newPkce();
    const address = authorizeUrl(url, client, pkce).replace(url, other);
    const code = (await decide(local, address)).searchParams.get('code') ?? '';
    expect((await exchange(url, client, code, pkce)).status).toBe(200);
  });
});

describe('authorization requests', () => {
  const errorOf = async (extra: Record<string, string | undefined>) => {
    const visit = await account.browser.open(authorizeUrl(url, client, newPkce(), extra));
    const { searchParams, hash } = locationOf(visit);
    return searchParams.get('error') ?? new URLSearchParams(hash.slice(1)).get('error');
  };

  test('[TH-4] PKCE with S256 is required', async () => {
    expect(await errorOf({ code_challenge: undefined, code_challenge_method: undefined })).toBe(
      'invalid_request',
    );
    expect(await errorOf({ code_challenge_method: 'plain' })).toBe('invalid_request');
    expect(await errorOf({ code_challenge_method: undefined })).toBe('invalid_request');
  });

  test('[TH-4] only codes are given, by query', async () => {
    expect(await errorOf({ response_type: 'token' })).toBe('unsupported_response_type');
    const post = await account.browser.open(
      authorizeUrl(url, client, newPkce(), { response_mode: 'form_post' }),
    );
    expect(post.text).not.toContain('name="decision"');
  });

  test('[TH-4] RFC 8707: another resource is refused, no resource means the MCP endpoint', async () => {
    expect(await errorOf({ resource: 'https://other.example/mcp' })).toBe('invalid_target');
    expect(await errorOf({ resource: `${url}/api` })).toBe('invalid_target');
    await obtainTokens(url, account, client, { resource: undefined });
    await obtainTokens(url, account, client, { resource: `${url}/mcp?platforms=email` });
    const { rows } = await database.database.query(
      `select distinct audience from oauth_tokens where kind = 'access'`,
    );
    expect(rows).toEqual([{ audience: `${url}/mcp` }]);
  });

  test('[TH-4] errors about the client or its address are shown, not sent there', async () => {
    const unknown = await account.browser.open(
      authorizeUrl(url, { ...client, client_id: 'nobody' }, newPkce()),
    );
    expect(unknown.status).toBe(400);
    expect(unknown.headers.get('location')).toBeNull();
    const foreign = { ...client, redirect_uri: 'https://evil.example/cb' };
    const visit = await account.browser.open(authorizeUrl(url, foreign, newPkce()));
    expect([visit.status, visit.headers.get('location')]).toEqual([400, null]);
    expect(visit.headers.get('content-type')).toContain('text/html');
    expect(visit.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test('[TH-4] no scope means those of an ordinary client; without account scopes the API is closed', async () => {
    const tokens = await obtainTokens(url, account, client, { scope: undefined });
    expect(tokens.scope).toBe('tools:read tools:write');
    expect(tokens).not.toHaveProperty('refresh_token');
    const { status, body, headers } = await call(`${url}/api/me`, { token: tokens.access_token });
    expect([status, body.code]).toEqual([403, 'insufficient_scope']);
    expect(headers.get('www-authenticate')).toContain('insufficient_scope');
  });
});

describe('tokens', () => {
  test('[TH-4] a wrong verifier, another client or another address does not redeem a code, and does not burn it', async () => {
    const { code, pkce } = await obtainCode(url, account, client);
    const other = await registerClient(url);
    const wrong = [
      await exchange(url, client, code, newPkce()),
      await exchange(url, other, code, pkce),
      await exchange(url, { ...client, redirect_uri: 'http://127.0.0.1:9/callback' }, code, pkce),
      await exchange(url, client, `${code}x`, pkce),
    ];
    for (const { status, body } of wrong) expect([status, body.error]).toEqual([400, 'invalid_grant']);
    expect((await exchange(url, client, code, pkce)).status).toBe(200);
  });

  test('[TH-3] a code lives 60 s, an access token 1 h, a refresh token 30 d', async () => {
    const { rows: codes } = await database.database.query<{ seconds: number }>(
      'select distinct round(extract(epoch from expires_at - created_at))::int as seconds from oauth_auth_codes',
    );
    for (const { seconds } of codes) expect(seconds).toBeOneOf([59, 60]);
    const { rows } = await database.database.query<{ kind: string; hours: number }>(
      'select distinct kind, round(extract(epoch from expires_at - created_at) / 3600)::int as hours from oauth_tokens',
    );
    expect(Object.fromEntries(rows.map(({ kind, hours }) => [kind, hours]))).toEqual({
      access: 1,
      refresh: 720,
    });
  });

  test('[TH-3] an expired code is refused', async () => {
    const { code, pkce } = await obtainCode(url, account, client);
    await database.database.query(
      `update oauth_auth_codes set payload = jsonb_set(payload, '{exp}', to_jsonb(extract(epoch from now())::int - 1))
       where used = false`,
    );
    const { status, body } = await exchange(url, client, code, pkce);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  test('[TH-3] refresh tokens rotate; reuse of an old one revokes the family', async () => {
    const first = await obtainTokens(url, account, client);
    const second = await refresh(url, client, first.refresh_token ?? '');
    expect(second.status).toBe(200);
    expect(second.body.refresh_token).not.toBe(first.refresh_token);
    expect((await call(`${url}/api/me`, { token: second.body.access_token })).status).toBe(200);
    const reused = await refresh(url, client, first.refresh_token ?? '');
    expect([reused.status, reused.body.error]).toEqual([400, 'invalid_grant']);
    for (const { access_token: token } of [first, second.body])
      expect((await call(`${url}/api/me`, { token })).status).toBe(401);
    const dead = await refresh(url, client, second.body.refresh_token ?? '');
    expect([dead.status, dead.body.error]).toEqual([400, 'invalid_grant']);
  });

  test('[TH-3] parallel uses of one refresh token give one successor, which goes on working', async () => {
    const first = await obtainTokens(url, account, client);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => refresh(url, client, first.refresh_token ?? '')),
    );
    const winners = answers.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(9);
    expect((await refresh(url, client, winners[0]?.body.refresh_token ?? '')).status).toBe(200);
  });

  test('[TH-3] a refresh cannot widen the scope, and another client cannot use the token', async () => {
    const tokens = await obtainTokens(url, account, client, { scope: 'tools:read offline_access' });
    const form = {
      grant_type: 'refresh_token',
      client_id: client.client_id,
      refresh_token: tokens.refresh_token ?? '',
    };
    const wider = await postForm<{ error: string }>(`${url}/oauth/token`, { ...form, scope: 'tools:write' });
    expect([wider.status, wider.body.error]).toEqual([400, 'invalid_scope']);
    const other = await registerClient(url);
    const stolen = await refresh(url, other, tokens.refresh_token ?? '');
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant']);
    expect((await refresh(url, client, tokens.refresh_token ?? '')).status).toBe(200);
  });

  test('[TH-4] revocation ends the token and its family, for its own client only', async () => {
    const tokens = await obtainTokens(url, account, client);
    const other = await registerClient(url);
    const foreign = await postForm(`${url}/oauth/revoke`, {
      client_id: other.client_id,
      token: tokens.access_token,
    });
    expect(foreign.status).toBe(200);
    expect((await call(`${url}/api/me`, { token: tokens.access_token })).status).toBe(200);
    const revoked = await postForm(`${url}/oauth/revoke`, {
      client_id: client.client_id,
      token: tokens.refresh_token ?? '',
    });
    expect(revoked.status).toBe(200);
    expect((await call(`${url}/api/me`, { token: tokens.access_token })).status).toBe(401);
    const again = await postForm(`${url}/oauth/revoke`, { client_id: client.client_id, token: 'unknown' });
    expect(again.status).toBe(200);
  });

  test('[TH-4] a customer sees the connected clients and can disconnect them, only the own ones', async () => {
    const owner = await signUp(url);
    const named = await registerClient(url, { client_name: 'Laptop' });
    const tokens = [await obtainTokens(url, owner, named), await obtainTokens(url, owner, client)];
    interface List {
      data: { id: string; name: string; scopes: string[] }[];
      next_cursor: string | null;
    }
    const list = await call<List>(`${url}/api/clients?limit=1`, { cookie: owner.cookie });
    const rest = await call<List>(`${url}/api/clients?cursor=${list.body.next_cursor}`, {
      cookie: owner.cookie,
    });
    const [newest, oldest] = [list.body.data[0], rest.body.data[0]];
    expect([newest?.name, oldest?.name]).toEqual(['Test client', 'Laptop']);
    expect(oldest?.scopes).toEqual(['tools:read', 'tools:write', 'account:read', 'offline_access']);
    expect(rest.body.next_cursor).toBeNull();
    const address = `${url}/api/clients/${oldest?.id}`;
    expect((await call(address, { method: 'DELETE', cookie: account.cookie })).status).toBe(404);
    expect((await call(address, { method: 'DELETE', cookie: owner.cookie })).status).toBe(204);
    expect((await call(address, { method: 'DELETE', cookie: owner.cookie })).status).toBe(404);
    const works = async (index: number) =>
      (await call(`${url}/api/me`, { token: tokens[index]?.access_token ?? '' })).status;
    await expect.poll(() => works(0), { timeout: 1_000 }).toBe(401);
    expect(await works(1)).toBe(200);
    expect((await refresh(url, named, tokens[0]?.refresh_token ?? '')).body.error).toBe('invalid_grant');
  });

  test('[TH-4] codes, tokens, sessions and interactions are nowhere in the database as they were given out', async () => {
    const { code, pkce } = await obtainCode(url, account, client);
    const { body } = await exchange(url, client, code, pkce);
    const fresh = await signUp(url);
    const page = await fresh.browser.open(authorizeUrl(url, client, newPkce()));
    const uid = /\/oauth\/interaction\/([^/"]+)/.exec(page.text)?.[1] ?? '';
    const secrets = [
      code,
      body.access_token,
      body.refresh_token ?? '',
      fresh.cookie.split('=')[1] ?? '',
      uid,
    ];
    const tables = await database.database.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'toolhub'`,
    );
    for (const { name } of tables.rows) {
      const { rows } = await database.database.query(`select to_jsonb(t)::text as row from ${name} t`);
      const dump = JSON.stringify(rows);
      for (const secret of secrets) {
        expect(secret.length).toBeGreaterThan(15);
        expect(dump.includes(secret), `${name} holds a secret`).toBe(false);
      }
    }
  });

  test('[TH-2] the token endpoint answers bad input with OAuth errors', async () => {
    const address = `${url}/oauth/token`;
    const bad = await postForm<{ error: string }>(address, {
      grant_type: 'password',
      client_id: client.client_id,
    });
    expect([bad.status, bad.body.error]).toEqual([400, 'unsupported_grant_type']);
    const nobody = await postForm<{ error: string }>(address, {
      grant_type: 'refresh_token',
      client_id: 'nobody',
    });
    expect([nobody.status, nobody.body.error]).toEqual([401, 'invalid_client']);
    const json = await call(address, { body: { grant_type: 'authorization_code' } });
    expect([json.status, json.body.error]).toEqual([400, 'invalid_request']);
    const huge = await postForm<{ error: string }>(address, {
      client_id: client.client_id,
      code: 'x'.repeat(60_000),
    });
    expect([huge.status, huge.body.error]).toEqual([400, 'invalid_request']);
    expect(bad.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('[TH-4] browser clients may use the token endpoint, and ask before', async () => {
    const preflight = await fetch(`${url}/oauth/token`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    const register = await fetch(`${url}/oauth/register`, { method: 'OPTIONS' });
    expect(register.headers.get('access-control-allow-origin')).toBe('*');
  });
});

// Authorization requests, and the life of codes and tokens.
import { withinASecond } from '@libs/runtime/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, call, signUp } from '../../../services/toolhub/test/accounts.ts';
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
} from '../../../services/toolhub/test/authorization.ts';
import { type OAuthRig, startOAuthRig } from './oauth-rig.ts';

let rig: OAuthRig;
let url: string;
let account: Account;
let client: OAuthClient;

beforeAll(async () => {
  rig = await startOAuthRig();
  ({ url, account, client } = rig);
});

afterAll(() => rig.stop());

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

describe('authorization requests', () => {
  const errorOf = async (extra: Record<string, string | undefined>) => {
    const visit = await account.browser.open(authorizeUrl(url, client, newPkce(), extra));
    const { searchParams, hash } = locationOf(visit);
    return searchParams.get('error') ?? new URLSearchParams(hash.slice(1)).get('error');
  };

  test('[TH-4.3] PKCE with S256 is required', async () => {
    expect(await errorOf({ code_challenge: undefined, code_challenge_method: undefined })).toBe(
      'invalid_request',
    );
    expect(await errorOf({ code_challenge_method: 'plain' })).toBe('invalid_request');
    expect(await errorOf({ code_challenge_method: undefined })).toBe('invalid_request');
  });

  test('[TH-4] only codes are given, by query', async () => {
    expect(await errorOf({ response_type: 'token' })).toBe('unsupported_response_type');
    expect(await errorOf({ response_mode: 'form_post' })).toBe('unsupported_response_mode');
    expect(await errorOf({ response_mode: 'fragment' })).toBe('invalid_request');
  });

  test('[TH-4.4] RFC 8707: another resource is refused, no resource means the MCP endpoint', async () => {
    expect(await errorOf({ resource: 'https://other.example/mcp' })).toBe('invalid_target');
    expect(await errorOf({ resource: `${url}/api` })).toBe('invalid_target');
    const owner = await signUp(url);
    await obtainTokens(url, owner, client, { resource: undefined });
    await obtainTokens(url, owner, client, { resource: `${url}/mcp?platforms=email` });
    const { rows } = await rig.database.database.query(
      `select distinct audience from oauth_tokens where kind = 'access' and customer_id = $1`,
      [owner.id],
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

  test('[TH-3.7] a code lives 60 s, an access token 1 h, a refresh token 30 d', async () => {
    const { rows: codes } = await rig.database.database.query<{ seconds: number }>(
      'select distinct round(extract(epoch from expires_at - created_at))::int as seconds from oauth_auth_codes',
    );
    for (const { seconds } of codes) expect(seconds).toBeOneOf([59, 60]);
    const { rows } = await rig.database.database.query<{ kind: string; hours: number }>(
      'select distinct kind, round(extract(epoch from expires_at - created_at) / 3600)::int as hours from oauth_tokens',
    );
    expect(Object.fromEntries(rows.map(({ kind, hours }) => [kind, hours]))).toEqual({
      access: 1,
      refresh: 720,
    });
  });

  test('[TH-3] an expired code is refused', async () => {
    const { code, pkce } = await obtainCode(url, account, client);
    await rig.database.database.query(
      `update oauth_auth_codes set payload = jsonb_set(payload, '{exp}', to_jsonb(extract(epoch from now())::int - 1))
       where used = false`,
    );
    const { status, body } = await exchange(url, client, code, pkce);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  test('[TH-4.6] a code that is used again revokes what it gave, also when it has expired in the meantime', async () => {
    for (const waited of [false, true]) {
      const { code, pkce } = await obtainCode(url, account, client);
      const { body } = await exchange(url, client, code, pkce);
      expect((await call(`${url}/api/me`, { token: body.access_token })).status).toBe(200);
      if (waited) {
        await rig.database.database.query(
          `update oauth_auth_codes set payload = jsonb_set(payload, '{exp}', to_jsonb(extract(epoch from now())::int - 9))`,
        );
      }
      // Without the verifier nobody can do harm with it.
      expect((await exchange(url, client, code, newPkce())).body.error).toBe('invalid_grant');
      expect((await call(`${url}/api/me`, { token: body.access_token })).status).toBe(200);
      expect((await exchange(url, client, code, pkce)).body.error).toBe('invalid_grant');
      expect((await call(`${url}/api/me`, { token: body.access_token })).status).toBe(401);
      expect((await refresh(url, client, body.refresh_token ?? '')).body.error).toBe('invalid_grant');
    }
  });

  test('[TH-4.6] whoever has a used code alone, and is not the client that it was given to, revokes nothing by it', async () => {
    const secretive = await registerClient(url, { token_endpoint_auth_method: 'client_secret_post' });
    const { code, pkce } = await obtainCode(url, account, secretive);
    const form = {
      grant_type: 'authorization_code',
      client_id: secretive.client_id,
      redirect_uri: secretive.redirect_uri,
      code,
      code_verifier: pkce.verifier,
    };
    const proven = { ...form, client_secret: secretive.client_secret ?? '' };
    const { body } = await postForm(`${url}/oauth/token`, proven);
    const works = async () => (await call(`${url}/api/me`, { token: body.access_token })).status === 200;
    const strangers = [
      await exchange(url, await registerClient(url), code, pkce),
      await postForm(`${url}/oauth/token`, form),
      await postForm(`${url}/oauth/token`, { ...proven, client_secret: 'guessed' }),
      await postForm(`${url}/oauth/token`, { ...proven, redirect_uri: 'http://127.0.0.1:3118/other' }),
    ];
    expect(strangers.map((answer) => answer.body.error)).toEqual([
      ...['invalid_grant', 'invalid_client', 'invalid_client', 'invalid_grant'],
    ]);
    expect(await works()).toBe(true);
    expect((await postForm(`${url}/oauth/token`, proven)).body.error).toBe('invalid_grant');
    expect(await works()).toBe(false);
  });

  test('[TH-3.8] refresh tokens rotate; reuse of an old one revokes the family', async () => {
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
    // Who lost says so, by which one that comes beside it is told from a reuse.
    const { rows: contended } = await rig.database.database.query(
      'select 1 from oauth_tokens where customer_id = $1 and used and contended_until > used_at',
      [account.id],
    );
    expect(contended).toHaveLength(1);
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
    await withinASecond(
      () => works(0),
      (answer) => expect(answer).toBe(401),
    );
    expect(await works(1)).toBe(200);
    expect((await refresh(url, named, tokens[0]?.refresh_token ?? '')).body.error).toBe('invalid_grant');
    const left = async () =>
      (await call<List>(`${url}/api/clients`, { cookie: owner.cookie })).body.data.map(({ name }) => name);
    expect(await left()).toEqual(['Test client']);
    // The list goes on behind a client that was disconnected while it was read.
    await obtainTokens(url, owner, named);
    const first = await call<List>(`${url}/api/clients?limit=1`, { cookie: owner.cookie });
    expect(first.body.data).toMatchObject([{ name: 'Laptop' }]);
    const shown = `${url}/api/clients/${first.body.data[0]?.id}`;
    expect((await call(shown, { method: 'DELETE', cookie: owner.cookie })).status).toBe(204);
    const behind = await call<List>(`${url}/api/clients?cursor=${first.body.next_cursor}`, {
      cookie: owner.cookie,
    });
    expect(behind.body.data).toMatchObject([{ name: 'Test client' }]);
    // A client whose tokens have all run out cannot come in any more.
    await rig.database.database.query('update oauth_tokens set expires_at = $2 where customer_id = $1', [
      owner.id,
      new Date(),
    ]);
    expect(await left()).toEqual([]);
  });

  test('[TH-4.12] codes, tokens, sessions and interactions are nowhere in the database as they were given out', async () => {
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
    const tables = await rig.database.database.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'toolhub'`,
    );
    for (const { name } of tables.rows) {
      const { rows } = await rig.database.database.query(`select to_jsonb(t)::text as row from ${name} t`);
      const dump = JSON.stringify(rows);
      for (const secret of secrets) {
        expect(secret.length).toBeGreaterThan(15);
        expect(dump.includes(secret), `${name} holds a secret`).toBe(false);
      }
    }
  });

  test('[TH-2.3] the token endpoint answers bad input with OAuth errors', async () => {
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
    expect([huge.status, huge.body.error]).toEqual([413, 'invalid_request']);
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

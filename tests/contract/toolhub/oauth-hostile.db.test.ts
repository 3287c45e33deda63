// What strangers, hostile clients and suspended customers get from the OAuth server: a clear answer, and nothing else.
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, call, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import {
  authorizeUrl,
  decide,
  newPkce,
  obtainCode,
  obtainTokens,
  postForm,
  registerClient,
  type TokenAnswer,
} from '../../../services/toolhub/test/authorization.ts';
import { Browser } from '../../../services/toolhub/test/browser.ts';
import { ADMIN_TOKEN, startInstance } from '../../../services/toolhub/test/instance.ts';
import { type OAuthRig, startOAuthRig } from './oauth-rig.ts';

let rig: OAuthRig;
let url: string;
let ada: Account;

beforeAll(async () => {
  rig = await startOAuthRig();
  ({ url, account: ada } = rig);
});

afterAll(() => rig.stop());

const mcpStatus = async (token: string, path = '/mcp') =>
  (
    await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    })
  ).status;

const refreshFor = (clientId: string, token: string, resource?: string) =>
  postForm<TokenAnswer>(`${url}/oauth/token`, {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: token,
    ...(resource === undefined ? {} : { resource }),
  });

describe('a resource', () => {
  test('[TH-4.13] that is not ours is refused, and the refresh token still works', async () => {
    const client = await registerClient(url);
    const { refresh_token: token = '' } = await obtainTokens(url, ada, client);
    for (const resource of ['https://other.example/mcp', `${url}/other`, `${url}/mcp#x`, 'x', '\0']) {
      const refused = await refreshFor(client.client_id, token, resource);
      expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
    }
    const renewed = await refreshFor(client.client_id, token, `${url}/mcp/`);
    expect(renewed.status).toBe(200);
    expect(await mcpStatus(renewed.body.access_token)).toBe(200);
  });

  test('[TH-4.13] that is not ours leaves the code as it was', async () => {
    const client = await registerClient(url);
    const { code, pkce } = await obtainCode(url, ada, client);
    const exchange = (resource: string) =>
      postForm(`${url}/oauth/token`, {
        grant_type: 'authorization_code',
        ...{ client_id: client.client_id, redirect_uri: client.redirect_uri, code, resource },
        code_verifier: pkce.verifier,
      });
    expect((await exchange('https://other.example/')).body).toMatchObject({ error: 'invalid_target' });
    expect((await exchange(`${url}/mcp/`)).status).toBe(200);
  });

  test('[TH-4.13] is the same with and without a slash at its end', async () => {
    const client = await registerClient(url);
    const tokens = await obtainTokens(url, ada, client, { resource: `${url}/mcp/` });
    for (const path of ['/mcp', '/mcp/']) expect(await mcpStatus(tokens.access_token, path)).toBe(200);
    for (const resource of [`${url}/mcp`, undefined]) {
      const renewed = await refreshFor(client.client_id, tokens.refresh_token ?? '', resource);
      expect(renewed.status).toBe(200);
      tokens.refresh_token = renewed.body.refresh_token as string;
    }
  });
});

describe('a faulty authorization request', () => {
  const faults: [string, Record<string, string | undefined>][] = [
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
    ['with an unknown response type', { response_type: 'token' }],
    ['with a foreign resource', { resource: 'https://other.example/' }],
    ['that asks for no question', { prompt: 'none' }],
    ['with a nonsensical prompt', { prompt: 'soon' }],
  ];

  test.each(faults)('[TH-4.14] %s leads a visitor nowhere', async (_what, extra) => {
    const client = await registerClient(url, { redirect_uris: ['https://evil.example/landing'] });
    for (const browser of [new Browser(), ada.browser]) {
      const visit = await browser.fetch(authorizeUrl(url, client, newPkce(), extra));
      expect([visit.status, visit.headers.get('location')]).toEqual([400, null]);
      expect(visit.headers.get('content-type')).toContain('text/html');
    }
  });

  test('[TH-4.14] is told to a client that a customer has let in', async () => {
    const client = await registerClient(url);
    await obtainTokens(url, ada, client);
    const visit = await new Browser().fetch(authorizeUrl(url, client, newPkce(), { response_type: 'token' }));
    expect(visit.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:3118\/callback[?#]error=/);
  });

  test('[TH-4.14] leads nobody to a page elsewhere that only its own maker has let in', async () => {
    const client = await registerClient(url, { redirect_uris: ['https://evil.example/landing'] });
    const mallory = await signUp(url);
    await obtainTokens(url, mallory, client);
    const faulty = authorizeUrl(url, client, newPkce(), { response_type: 'token' });
    for (const browser of [new Browser(), ada.browser]) {
      const visit = await browser.fetch(faulty);
      expect([visit.status, visit.headers.get('location')]).toEqual([400, null]);
    }
    const own = await mallory.browser.fetch(faulty);
    expect(own.headers.get('location')).toMatch(/^https:\/\/evil\.example\/landing[?#]error=/);
  });

  test('[TH-4.14] a denial is still told, since somebody clicked', async () => {
    const client = await registerClient(url);
    const location = await decide(ada, authorizeUrl(url, client, newPkce()), 'deny');
    expect(location.searchParams.get('error')).toBe('access_denied');
  });
});

describe('strangers', () => {
  const rows = async (table: string) =>
    (await rig.database.database.query(`select 1 from ${table}`)).rowCount;

  test('[TH-4.16] leave no row at /oauth/authorize, and log in all the same', async () => {
    const client = await registerClient(url);
    const before = await rows('oauth_interactions');
    for (let n = 0; n < 20; n += 1) await new Browser().open(authorizeUrl(url, client, newPkce()));
    expect(await rows('oauth_interactions')).toBe(before);
    const browser = new Browser();
    const login = await browser.open(authorizeUrl(url, client, newPkce()));
    const consent = await browser.submit(login, '/login', { email: ada.email, password: PASSWORD });
    const answer = await browser.submit(consent, '/consent', { decision: 'allow' });
    expect(new URL(answer.headers.get('location') ?? '').searchParams.get('code')).not.toBeNull();
  });

  test('[TH-4.16] are limited at /oauth/connect-mcp and /oauth/authorize', async () => {
    const limited = await startInstance(rig.database.url, { env: { TOOLHUB_RATE_ADDRESS: '2' } });
    // The allowance grows while a slow machine asks, so the first refusal is waited for and not counted out.
    const refusalAt = async (path: string) => {
      for (let passed = 0; passed < 200; passed += 1) {
        const answer = await fetch(`${limited.url}${path}`, { redirect: 'manual' });
        if (answer.status === 429) return { passed, wait: Number(answer.headers.get('retry-after')) };
      }
      throw new Error(`${path} has no limit`);
    };
    const first = await refusalAt('/oauth/connect-mcp');
    expect([first.passed >= 40, first.wait > 0]).toEqual([true, true]);
    const second = await refusalAt('/oauth/authorize');
    expect([second.passed < 40, second.wait > 0]).toEqual([true, true]);
    await limited.stop();
  });
});

describe('text that nothing can store', () => {
  const bad = ['\0', 'a\0b', '\ud800', 'x\udfff'];

  test('[TH-13.11] in a registration is 400', async () => {
    for (const text of bad) {
      for (const metadata of [
        { client_name: text },
        { client_uri: `https://x.example/${text}` },
        { [text]: 'x' },
      ]) {
        const { status } = await call(`${url}/oauth/register`, {
          body: { redirect_uris: ['https://x.example/cb'], token_endpoint_auth_method: 'none', ...metadata },
        });
        expect([JSON.stringify(metadata), status < 500]).toEqual([JSON.stringify(metadata), true]);
      }
    }
  });

  test('[TH-13.11] in addresses and forms is 4xx', async () => {
    const client = await registerClient(url);
    const encoded = ['%00', 'a%00', '%ED%A0%80', '%FF', '%C0%80'];
    for (const text of encoded) {
      for (const name of [
        'client_id',
        'redirect_uri',
        'scope',
        'state',
        'resource',
        'prompt',
        'code_challenge',
      ]) {
        const address = `${authorizeUrl(url, client, newPkce(), { [name]: undefined })}&x=?&${name}=${text}`;
        for (const browser of [new Browser(), ada.browser]) {
          const { status } = await browser.fetch(address);
          expect([name, text, status < 500]).toEqual([name, text, true]);
        }
      }
      const form = (fields: string) => ({
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: fields,
      });
      for (const fields of [
        `grant_type=authorization_code&client_id=${text}&code=${text}&code_verifier=${text}`,
        `grant_type=refresh_token&client_id=${client.client_id}&refresh_token=${text}`,
        `grant_type=${text}&client_id=${client.client_id}`,
      ]) {
        const { status } = await fetch(`${url}/oauth/token`, form(fields));
        expect([fields, status >= 400 && status < 500]).toEqual([fields, true]);
      }
      const page = await new Browser().open(authorizeUrl(url, client, newPkce()));
      const action = /action="([^"]+)"/.exec(page.text)?.[1] ?? '';
      const login = await fetch(`${url}${action}`, form(`email=${text}&password=${text}`));
      expect([text, login.status >= 400 && login.status < 500]).toEqual([text, true]);
    }
  });
});

test('[TH-4.15] a client registered for refresh_token gets one whatever it asks for', async () => {
  const client = await registerClient(url, { grant_types: ['authorization_code', 'refresh_token'] });
  const tokens = await obtainTokens(url, ada, client, { scope: 'tools:read' });
  expect(tokens.refresh_token).toMatch(/^thr_/);
  const once = await registerClient(url, { grant_types: ['authorization_code'] });
  expect((await obtainTokens(url, ada, once, { scope: 'tools:read' })).refresh_token).toBeUndefined();
  const unknown = await call(`${url}/mcp`, { body: {} });
  expect(unknown.headers.get('www-authenticate')).toContain('scope="tools:read tools:write offline_access"');
  for (const path of ['', '/mcp']) {
    const { body } = await call(`${url}/.well-known/oauth-protected-resource${path}`);
    expect(body).toMatchObject({ scopes_supported: ['tools:read', 'tools:write', 'offline_access'] });
  }
});

test('[TH-13.13] a suspended customer gets no tokens, new or renewed', async () => {
  const eve = await signUp(url);
  const client = await registerClient(url);
  const { refresh_token: token = '' } = await obtainTokens(url, eve, client);
  const { code, pkce } = await obtainCode(url, eve, client);
  const consent = await eve.browser.open(authorizeUrl(url, client, newPkce()));
  await call(`${url}/api/admin/customers/${eve.id}/suspend`, { body: {}, token: ADMIN_TOKEN });
  expect((await refreshFor(client.client_id, token)).body).toMatchObject({ error: 'invalid_grant' });
  const exchanged = await postForm(`${url}/oauth/token`, {
    grant_type: 'authorization_code',
    ...{ client_id: client.client_id, redirect_uri: client.redirect_uri, code },
    code_verifier: pkce.verifier,
  });
  expect(exchanged.body).toMatchObject({ error: 'invalid_grant' });
  const answer = await eve.browser.submit(consent, '/consent', { decision: 'allow' });
  expect([answer.status, answer.headers.get('location')]).toEqual([403, null]);
  const login = await new Browser().open(authorizeUrl(url, client, newPkce()));
  const again = await new Browser().submit(login, '/login', { email: eve.email, password: PASSWORD });
  expect(again.status).toBe(403);
  expect(again.text).toContain('This account is suspended; ask the operator');
  expect(again.headers.get('set-cookie')).toBeNull();
  const guessed = await new Browser().submit(login, '/login', { email: eve.email, password: 'a wrong one' });
  expect(guessed.status).toBe(401);
  expect(guessed.text).not.toContain('suspended');
});

test('[TH-13.13] a suspended customer who is still logged in reads so wherever a client leads to', async () => {
  const eve = await signUp(url);
  const client = await registerClient(url);
  const address = authorizeUrl(url, client, newPkce());
  const consent = await eve.browser.open(address);
  const allowed = await eve.browser.submit(consent, '/consent', { decision: 'allow' }, false);
  const other = await eve.browser.open(address);
  const login = await new Browser().open(address);
  await call(`${url}/api/admin/customers/${eve.id}/suspend`, { body: {}, token: ADMIN_TOKEN });
  const back = new URL(allowed.headers.get('location') ?? '', url);
  expect(back.pathname).toMatch(/^\/oauth\/authorize\/./);
  for (const place of [address, authorizeUrl(url, client, newPkce(), { prompt: 'none' }), back, other.url]) {
    const visit = await eve.browser.fetch(place);
    expect([place, visit.status, visit.headers.get('location')]).toEqual([place, 403, null]);
    expect(visit.text).toContain('This account is suspended; ask the operator');
  }
  const sentOn = await eve.browser.open(login.url);
  expect([new URL(sentOn.url).pathname, sentOn.status]).toEqual(['/oauth/authorize', 403]);
  await call(`${url}/api/admin/customers/${eve.id}/resume`, { body: {}, token: ADMIN_TOKEN });
  expect(await obtainTokens(url, eve, client)).toMatchObject({ token_type: 'Bearer' });
});

test('[TH-13.12] every route answers under its own names alone', async () => {
  const { port } = new URL(url);
  const statusFor = (path: string, host: string) =>
    new Promise<number>((resolve, reject) => {
      const sent = httpRequest({ host: '127.0.0.1', port, path, headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.on('error', reject).end();
    });
  const { body } = await call<{ paths: object }>(`${url}/openapi.json`);
  const paths = [
    ...Object.keys(body.paths),
    '/oauth/authorize',
    '/oauth/connect-mcp',
    '/docs/',
    '/openapi.json',
  ];
  for (const path of paths)
    expect([path, await statusFor(path, `evil.example:${port}`)]).toSatisfy(([, status]: [string, number]) =>
      [403, 404, 405, 421].includes(status),
    );
  for (const host of ['localhost', '127.0.0.1', '[::1]'])
    expect(await statusFor('/api/plans', `${host}:${port}`)).toBe(200);
  expect(await statusFor('/healthz', '10.0.0.7')).toBe(200);
});

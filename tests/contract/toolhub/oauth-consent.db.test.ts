// What the person at the browser goes through: login, sign-up, consent, and the pages themselves.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, call, newEmail, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import {
  authorizeUrl,
  decide,
  exchange,
  locationOf,
  newPkce,
  type OAuthClient,
  obtainTokens,
  registerClient,
} from '../../../services/toolhub/test/authorization.ts';
import { Browser } from '../../../services/toolhub/test/browser.ts';
import { startInstance } from '../../../services/toolhub/test/instance.ts';
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

describe('login and consent', () => {
  test('[TH-4.5] without a session: to the login page and back to consent', async () => {
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

  test('[TH-4.5] who is logged in by now is led on from the login page, and from that of a new account', async () => {
    const stranger = await new Browser().open(authorizeUrl(url, client, newPkce()));
    for (const address of [stranger.url, stranger.url.replace('/oauth/login', '/oauth/signup')]) {
      const page = await account.browser.open(address);
      expect(page.text).toContain('name="decision"');
    }
  });

  test('[TH-13] the forms also take what is sent to the address of their page', async () => {
    const browser = new Browser();
    const post = (page: string, fields: Record<string, string>) =>
      browser.open(page, { method: 'POST', body: new URLSearchParams(fields) });
    const login = await browser.open(authorizeUrl(url, client, newPkce()));
    const consent = await post(login.url, { email: account.email, password: PASSWORD });
    expect(consent.text).toContain('name="decision"');
    expect(
      locationOf(await post(consent.url, { decision: 'allow' })).searchParams.get('code'),
    ).not.toBeNull();
  });

  test('[TH-4] a new customer can open an account on the way', async () => {
    const browser = new Browser();
    const login = await browser.open(authorizeUrl(url, client, newPkce()));
    const link = /href="([^"]*signup[^"]*)"/.exec(login.text)?.[1] ?? '';
    const form = await browser.open(new URL(link, url));
    const email = `new-${Date.now()}@example.com`;
    const short = await browser.submit(form, '/signup', { name: 'New', email, password: 'short' });
    expect(short.status).toBe(422);
    // As the interface has it: characters are counted, not the units that they are stored in.
    for (const [wrong, words] of [
      [{ password: '🔑'.repeat(9) }, 'must have 10 to 256 characters'],
      [{ password: 'x'.repeat(257) }, 'must have 10 to 256 characters'],
      [{ name: ' ' }, 'Enter your name'],
      [{ name: 'x'.repeat(201) }, 'at most 200 characters'],
      [{ email: 'nobody' }, 'not an e-mail address'],
    ] as const) {
      const refused = await browser.submit(form, '/signup', {
        ...{ name: 'New', email, password: PASSWORD },
        ...wrong,
      });
      expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(words)]);
    }
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

  test('[TH-4.5] the consent page names the client, the host and the scopes, escaped', async () => {
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

  test('[TH-4.5] the name of a client turns no direction and breaks no line', async () => {
    const turning = await registerClient(url, {
      client_name: 'Mail \u202Eelpmaxe\u202C\u2066\u2067 app\r\nby Toolhub\u2028itself',
    });
    const page = await account.browser.open(authorizeUrl(url, turning, newPkce()));
    expect(page.text).toContain('Mail  elpmaxe  app by Toolhub itself wants to use');
    expect(page.text).not.toMatch(/[\u2028\u202A-\u202E\u2066-\u2069]/u);
  });

  const openid = ['openid', 'openid profile email', 'admin', ''];
  test.each(openid)(
    '[TH-4.5] the scope "%s", of which none is ours, is that of an ordinary client',
    async (scope) => {
      const tokens = await obtainTokens(url, account, client, { scope, nonce: 'for an ID token' });
      expect(tokens.scope).toBe('tools:read tools:write');
    },
  );

  test.each([
    ['max_age', '3600'],
    ['max_age', '0'],
    ['acr_values', 'urn:mace:incommon:iap:silver'],
    ['id_token_hint', 'of.another.server'],
    ['claims', '{"id_token":{"auth_time":null}}'],
    ['claims_locales', 'de'],
    ['prompt', 'select_account'],
    ['prompt', 'consent select_account'],
  ])(
    '[TH-4.5] %s=%s, which says something of an ID token or an account, changes nothing',
    async (name, value) => {
      const tokens = await obtainTokens(url, account, client, { scope: 'openid tools:read', [name]: value });
      expect(tokens.scope).toBe('tools:read');
    },
  );

  test.each([{ default_max_age: 1 }, { require_auth_time: true }, { default_acr_values: ['silver'] }])(
    '[TH-4.2] a client that registers %j obtains tokens, and so does one that is stored with it',
    async (openid) => {
      const registered = await registerClient(url, openid);
      expect((await obtainTokens(url, account, registered, { scope: 'openid' })).scope).toBe(
        'tools:read tools:write',
      );
      await rig.database.database.query(
        'update oauth_clients set metadata = metadata || $2::jsonb where id = $1',
        [registered.client_id, openid],
      );
      expect((await obtainTokens(url, account, registered, { scope: 'tools:read' })).scope).toBe(
        'tools:read',
      );
    },
  );

  test('[TH-4.5] scopes of other servers are left out, and what is asked for beside them is given', async () => {
    const narrow = await obtainTokens(url, account, client, { scope: 'openid profile tools:read' });
    expect(narrow.scope).toBe('tools:read');
    const staying = await obtainTokens(url, account, client, { scope: 'openid offline_access' });
    expect(staying.scope).toBe('tools:read tools:write');
  });

  test('[TH-4.5] a request without a scope gets no more than the client registered for', async () => {
    const reader = await registerClient(url, { scope: 'tools:read offline_access' });
    expect((await obtainTokens(url, account, reader, { scope: undefined })).scope).toBe('tools:read');
    const observer = await registerClient(url, { scope: 'account:read' });
    expect((await obtainTokens(url, account, observer, { scope: undefined })).scope).toBe('account:read');
    const editor = await registerClient(url, { scope: 'tools:read account:read account:write' });
    expect((await obtainTokens(url, account, editor, { scope: undefined })).scope).toBe('tools:read');
  });

  test('[TH-4.5] a client that registered without offline_access may ask for it, as the 401 tells it to', async () => {
    const scope = 'tools:read tools:write offline_access';
    const registered = await registerClient(url, { scope: 'tools:read tools:write' });
    expect(await obtainTokens(url, account, registered, { scope })).toMatchObject({
      scope: 'tools:read tools:write',
      refresh_token: expect.any(String),
    });
  });

  test('[TH-4.5] a client that registered for offline_access alone gets the scopes of an ordinary one', async () => {
    const staying = await registerClient(url, { scope: 'openid offline_access' });
    for (const scope of [undefined, 'openid offline_access', 'tools:read tools:write offline_access'])
      expect((await obtainTokens(url, account, staying, { scope })).scope).toBe('tools:read tools:write');
  });

  test('[TH-4.4] deny sends access_denied with state and issuer', async () => {
    const location = await decide(account, authorizeUrl(url, client, newPkce()), 'deny');
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'state-of-the-client',
      iss: url,
    });
    expect(location.searchParams.has('code')).toBe(false);
  });

  test('log-in and consent bear the sign of the dashboard, by which people know whose page asks for their password', async () => {
    const icon = readFileSync(
      new URL('../../../services/toolhub/dashboard/public/icon.svg', import.meta.url),
      'utf8',
    );
    const shapes = icon.match(/(?<= (?:cx|cy|r|fill)=")[^"]+/g);
    for (const browser of [new Browser(), account.browser]) {
      const { text } = await browser.open(authorizeUrl(url, client, newPkce()));
      for (const shape of shapes ?? []) expect(text).toContain(`"${shape}"`);
    }
  });

  test('[TH-13.1] the pages carry a strict CSP and the other headers', async () => {
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
    for (const site of ['cross-site', 'same-site'])
      expect((await post({ 'sec-fetch-site': site })).status).toBe(403);
    expect((await post({}, 'decision=perhaps')).status).toBe(400);
    const stranger = await new Browser().fetch(new URL(action, url), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'decision=allow',
    });
    expect(stranger.status).toBe(400);
    expect((await post({})).status).toBe(303);
  });

  test('[TH-13] another site logs nobody in and opens no account on the way', async () => {
    const browser = new Browser();
    const login = await browser.open(authorizeUrl(url, client, newPkce()));
    const email = newEmail();
    for (const [address, fields] of [
      [login.url, { email: account.email, password: PASSWORD }],
      [login.url.replace('/oauth/login', '/oauth/signup'), { email, name: 'New', password: PASSWORD }],
    ] as const) {
      for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
        const answer = await browser.fetch(address, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
          body: new URLSearchParams(fields).toString(),
        });
        expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
      }
    }
  });

  test('[TH-2.2] what is sent as anything but a form is refused, and told what to send', async () => {
    const browser = new Browser();
    const login = await browser.open(authorizeUrl(url, client, newPkce()));
    const body = JSON.stringify({ email: account.email, password: PASSWORD });
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x']) {
      const headers = { 'content-type': type };
      const answer = await browser.fetch(login.url, { method: 'POST', headers, body });
      expect(answer.status).toBe(415);
      expect(JSON.parse(answer.text)).toMatchObject({
        ...{ code: 'unsupported_media_type', detail: expect.stringContaining('x-www-form-urlencoded') },
      });
    }
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

  test('[TH-4] the page that one account was shown is answered by no other', async () => {
    const [first, second] = [await signUp(url), await signUp(url)];
    const page = await first.browser.open(authorizeUrl(url, client, newPkce()));
    // In another tab: the session of the first goes on, but this browser is somebody else's now.
    await first.browser.fetch(`${url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: second.email, password: PASSWORD }),
    });
    for (const asked of [
      await first.browser.open(page.url),
      await first.browser.submit(page, '/consent', { decision: 'allow' }),
    ]) {
      expect(asked.text).toContain('name="decision"');
      expect(asked.text).toContain(second.email);
      expect(asked.text).not.toContain(first.email);
    }
    const { rows } = await rig.database.database.query(
      'select 1 from oauth_grants where customer_id = any($1)',
      [[first.id, second.id]],
    );
    expect(rows).toEqual([]);
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

test('[TH-13] behind TLS the whole flow works, with Secure cookies and the public address as issuer', async () => {
  const publicUrl = 'https://hub.example.com';
  const secure = await startInstance(rig.database.url, { publicUrl });
  try {
    const registered = await registerClient(secure.url);
    const browser = new Browser();
    const pkce = newPkce();
    const address = authorizeUrl(secure.url, registered, pkce, { resource: `${publicUrl}/mcp` });
    const asked = await browser.fetch(address);
    for (const cookie of asked.headers.getSetCookie()) expect(cookie).toMatch(/; secure; httponly/i);
    const login = await browser.open(new URL(asked.headers.get('location') ?? '', secure.url));
    expect(login.headers.get('strict-transport-security')).toContain('max-age=');
    const consent = await browser.submit(login, '/login', { email: account.email, password: PASSWORD });
    const location = locationOf(await browser.submit(consent, '/consent', { decision: 'allow' }));
    expect(location.searchParams.get('iss')).toBe(publicUrl);
    const code = location.searchParams.get('code') ?? '';
    expect((await exchange(secure.url, registered, code, pkce)).status).toBe(200);
    const discovery = await call(`${secure.url}/.well-known/oauth-authorization-server`);
    expect(discovery.body.token_endpoint).toBe(`${publicUrl}/oauth/token`);
  } finally {
    await secure.stop();
  }
});

// Connecting a mailbox in the browser, over HTTP from end to end: the service, an authorization server that checks what
// it is sent, and a mail server that takes its tokens.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startVendor, type Vendor } from '../../../services/toolhub/src/connect/test/vendor.ts';
import { createDiscordConnector } from '../../../services/toolhub/src/connectors/discord/connector.ts';
import { createEmailConnector } from '../../../services/toolhub/src/connectors/email/connector.ts';
import {
  MAIL_PROVIDERS,
  type MailProvider,
} from '../../../services/toolhub/src/connectors/email/providers.ts';
import {
  type InProcessMailServer,
  startInProcessMail,
} from '../../../services/toolhub/src/connectors/email/test/in-process-mail-server.ts';
import { createTelegramConnector } from '../../../services/toolhub/src/connectors/telegram/connector.ts';
import { callTool } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { type Account, call, makeToken, signUp } from '../../../services/toolhub/test/accounts.ts';
import {
  createToolhubDatabase,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { CHANNELS, type DiscordServer, startDiscord } from '../../vendors/discord/server.ts';

const USER = 'bob@mail.test';
/** The tokens that the mail server takes now. */
const tokens: Record<string, string> = {};
let database: TestDatabase;
let vendor: Vendor;
let discord: DiscordServer;
let mail: InProcessMailServer;
let instance: Instance;
let url: string;
let ada: Account;

/** Google as it is, with its mail server moved to this machine. */
function googleHere(): MailProvider {
  const google = MAIL_PROVIDERS.find(({ id }) => id === 'google') as MailProvider;
  const place = (port: number) => ({ host: '127.0.0.1', port, secure: false });
  return { ...google, imap: place(mail.imapPort), smtp: place(mail.smtpPort) };
}

const platforms = () => [
  createEmailConnector({ providers: [googleHere()] }),
  createTelegramConnector(),
  createDiscordConnector(),
];
const environment = () => ({
  TOOLHUB_OAUTH_GOOGLE_CLIENT_ID: vendor.clientId,
  TOOLHUB_OAUTH_GOOGLE_CLIENT_SECRET: vendor.clientSecret,
  TOOLHUB_OAUTH_GOOGLE_AUTHORIZE_URL: `${vendor.url}/authorize`,
  TOOLHUB_OAUTH_GOOGLE_TOKEN_URL: `${vendor.url}/token`,
  TOOLHUB_OAUTH_DISCORD_CLIENT_ID: vendor.clientId,
  TOOLHUB_OAUTH_DISCORD_CLIENT_SECRET: vendor.clientSecret,
  TOOLHUB_OAUTH_DISCORD_AUTHORIZE_URL: `${vendor.url}/authorize`,
  TOOLHUB_OAUTH_DISCORD_TOKEN_URL: `${vendor.url}/token`,
  TOOLHUB_CONNECTOR_DISCORD_URL: discord.url,
  TOOLHUB_EGRESS_ALLOW: `127.0.0.1:${mail.imapPort},127.0.0.1:${mail.smtpPort}`,
});

beforeAll(async () => {
  [database, vendor, discord] = await Promise.all([createToolhubDatabase(), startVendor(), startDiscord()]);
  mail = await startInProcessMail({ users: {}, tokens });
  instance = await startInstance(database.url, { env: environment(), connectors: platforms() });
  url = instance.url;
  for (const platform of ['email', 'discord'])
    vendor.redirectUris.push(`${url}/api/connect/${platform}/callback`);
});
beforeEach(async () => {
  Object.assign(vendor, { decision: 'allow', token: 'works', accessToken: 'good-token', email: USER });
  vendor.onIssue = () => {};
  tokens[USER] = 'good-token';
  ada = await signUp(url);
});
afterAll(async () => {
  await instance.stop();
  await mail.stop();
  await Promise.all([vendor.stop(), discord.stop()]);
  await database.drop();
});

const asPerson = { headers: { accept: 'text/html,application/xhtml+xml' } };

/** Goes to the vendor and comes back to the address of the callback, which is not visited yet. */
async function cameBack(account: Account, platform = 'email'): Promise<string> {
  const begun = await account.browser.fetch(`${url}/api/connect/${platform}`, asPerson);
  expect(begun.status).toBe(302);
  expect(begun.headers.get('location')).toContain(`${vendor.url}/authorize?`);
  const decided = await account.browser.fetch(begun.headers.get('location') ?? '');
  expect(decided.status).toBe(302);
  return decided.headers.get('location') ?? '';
}

async function audited(account: Account): Promise<string[]> {
  const { body } = await call<{ data: { action: string; outcome: string }[] }>(`${url}/api/audit`, {
    cookie: account.cookie,
  });
  return body.data
    .filter(({ action }) => action.startsWith('credential.'))
    .map(({ action, outcome }) => `${action} ${outcome}`);
}

const stored = async (account: Account) =>
  (await call<{ data: unknown[] }>(`${url}/api/credentials`, { cookie: account.cookie })).body.data;

test('[TH-6.7] a mailbox is connected in the browser: tried, stored without a word of its tokens, and audited', async () => {
  const callback = await cameBack(ada);
  const ended = await ada.browser.fetch(callback, asPerson);
  expect(ended.status).toBe(303);
  expect(ended.headers.get('location')).toBe(`${url}/connections/email?connected=true`);
  expect(ended.headers.get('cache-control')).toBe('no-store');
  expect(ended.headers.get('referrer-policy')).toBe('no-referrer');
  expect(await stored(ada)).toEqual([
    expect.objectContaining({ platform: 'email', account: USER, status: 'connected' }),
  ]);
  expect(await audited(ada)).toEqual(['credential.connected success']);
  expect(JSON.stringify(await stored(ada))).not.toMatch(/good-token|hush/);

  // The account works: its token opens the mailbox.
  const { token } = await makeToken(url, ada);
  const health = await call<{ platforms: { platform: string; status: string }[] }>(
    `${url}/api/health/platforms`,
    { token },
  );
  expect(health.body.platforms).toContainEqual(expect.objectContaining({ platform: 'email', status: 'ok' }));

  // Pressing "back" and "forward" does nothing a second time.
  const again = await ada.browser.fetch(callback, asPerson);
  expect(again.headers.get('location')).toBe(`${url}/connections/email?error=connect_state_invalid`);
  expect(await stored(ada)).toHaveLength(1);
});

test('[TH-6.7] a person of Discord is connected in the browser, beside bots whose token is pasted', async () => {
  discord.people.set('good-token', 'ada');
  const ended = await ada.browser.fetch(await cameBack(ada, 'discord'), asPerson);
  expect(ended.headers.get('location')).toBe(`${url}/connections/discord?connected=true`);
  expect(await stored(ada)).toEqual([
    expect.objectContaining({ platform: 'discord', account: 'ada', status: 'connected' }),
  ]);
  const { token } = await makeToken(url, ada);
  const servers = await callTool(url, token, 'discord_list_servers', {});
  expect(servers.body.result?.isError).toBeUndefined();
  const sent = await callTool(url, token, 'discord_get_messages', { channel_id: CHANNELS[0] });
  expect(sent.body.result?.structuredContent).toMatchObject({
    error: { code: 'platform_error', platform_code: 'bot_required' },
  });
  // A person's login is no proof of an application: what is sent to one does not come here.
  const claimed = await database.database.query(`select 1 from inbound_accounts where customer_id = $1`, [
    ada.id,
  ]);
  expect(claimed.rows).toEqual([]);
  const pasted = await call(`${url}/api/credentials/discord?verify=false`, {
    ...{ method: 'PUT', cookie: ada.cookie, body: { access_token: 'good-token' } },
  });
  expect(pasted.status).toBe(422);
});

test('[TH-6] an expired token is renewed once by ten parallel calls in two processes', async () => {
  expect((await ada.browser.fetch(await cameBack(ada))).status).toBe(303);
  const { token } = await makeToken(url, ada);
  vendor.onIssue = (accessToken) => {
    tokens[USER] = accessToken;
  };
  await database.database.query(`update credentials set expires_at = now() where customer_id = $1`, [ada.id]);
  vendor.exchanges.length = 0;
  const other = await startInstance(database.url, { env: environment(), connectors: platforms() });
  const calls = Array.from({ length: 10 }, (_, index) =>
    call<{ result?: { isError?: boolean; structuredContent?: unknown } }>(
      `${index % 2 === 0 ? url : other.url}/mcp`,
      {
        token,
        headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
        body: {
          ...{ jsonrpc: '2.0', id: index, method: 'tools/call' },
          params: { name: 'email_list_folders', arguments: {} },
        },
      },
    ),
  );
  for (const { status, body } of await Promise.all(calls)) {
    expect([status, body.result?.isError ?? false]).toEqual([200, false]);
    expect(body.result?.structuredContent).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ path: 'INBOX' })]),
    });
  }
  expect(vendor.exchanges).toEqual([
    {
      ...{ grant_type: 'refresh_token', refresh_token: 'refresh-of-good-token' },
      ...{ client_id: vendor.clientId, client_secret: vendor.clientSecret },
    },
  ]);
  await other.stop();
});

test('[TH-6] failures lead a person to the dashboard and tell everybody else the problem', async () => {
  vendor.decision = 'access_denied';
  const denied = await ada.browser.fetch(await cameBack(ada), asPerson);
  expect(denied.headers.get('location')).toBe(`${url}/connections/email?error=connect_denied`);
  const problem = await ada.browser.fetch(await cameBack(ada));
  expect(problem.status).toBe(403);
  expect(problem.headers.get('content-type')).toContain('application/problem+json');
  expect(JSON.parse(problem.text)).toMatchObject({ code: 'connect_denied', status: 403 });
  vendor.decision = 'allow';

  vendor.token = 'has no identity';
  const nobody = await ada.browser.fetch(await cameBack(ada));
  expect(JSON.parse(nobody.text)).toMatchObject({ code: 'platform_unreachable', status: 422 });
  vendor.token = 'works';

  // The vendor says one mailbox and gives a token that opens another, or none.
  vendor.email = 'alice@mail.test';
  const foreign = await ada.browser.fetch(await cameBack(ada));
  expect(JSON.parse(foreign.text)).toMatchObject({ code: 'credential_rejected', status: 422 });
  expect(await stored(ada)).toEqual([]);
  expect(new Set(await audited(ada))).toEqual(new Set(['credential.connected refused']));
});

test('[TH-6] nobody finishes a login that another began, in either direction', async () => {
  const eve = await signUp(url);
  const planted = await cameBack(eve);
  const victim = await ada.browser.fetch(planted);
  expect(JSON.parse(victim.text)).toMatchObject({ code: 'connect_state_invalid', status: 400 });
  const leaked = await cameBack(ada);
  expect((await eve.browser.fetch(leaked)).status).toBe(400);
  // Without a session it is nobody's, and the state is left alone.
  expect((await call(leaked)).status).toBe(401);
  const twice = new URL(leaked);
  twice.searchParams.append('state', 'x');
  expect((await ada.browser.fetch(twice)).status).toBe(400);
  expect([...(await stored(ada)), ...(await stored(eve))]).toEqual([]);
});

test('[TH-6] where there is no login in the browser, the answer says what to do instead', async () => {
  const problem = async (path: string, options: object = { cookie: ada.cookie }) => {
    const { status, body } = await call(`${url}${path}`, options);
    return `${status} ${body.code}`;
  };
  expect(await problem('/api/connect/telegram')).toBe('422 connect_not_supported');
  expect(await problem('/api/connect/telegram/callback?state=x&code=y')).toBe('400 connect_state_invalid');
  expect(await problem('/api/connect/nowhere')).toBe('404 not_found');
  expect(await problem('/api/connect/nowhere/callback')).toBe('404 not_found');
  expect(await problem('/api/connect/email?provider=microsoft')).toBe('400 invalid_query');
  expect(await problem('/api/connect/email?provider=google&provider=google')).toBe('400 invalid_query');
  expect(await problem('/api/connect/email', {})).toBe('401 unauthenticated');
  const { token } = await makeToken(url, ada);
  expect(await problem('/api/connect/email', { token })).toBe('403 insufficient_scope');
  const person = await ada.browser.fetch(`${url}/api/connect/telegram`, asPerson);
  expect(person.headers.get('location')).toBe(`${url}/connections/telegram?error=connect_not_supported`);
});

test('[TH-6] a person whose session is over, or who came too often, is led to a page and not to a problem', async () => {
  const callback = await cameBack(ada);
  await call(`${url}/api/auth/logout`, { cookie: ada.cookie, body: {} });
  const led = async (address: string, at = url) => {
    const { status, headers } = await ada.browser.fetch(address, asPerson);
    return [status, headers.get('location')?.replace(at, '')];
  };
  const login = '/login?next=%2Fconnections%2Femail';
  expect(await led(`${url}/api/connect/email`)).toEqual([303, login]);
  // The login at the vendor was of the session that is over.
  expect(await led(callback)).toEqual([303, `${login}%3Ferror%3Dconnect_state_invalid`]);
  expect((await call(callback)).status).toBe(401);

  const env = { ...environment(), TOOLHUB_RATE_API: '100' };
  const strict = await startInstance(database.url, { env, connectors: platforms() });
  const eve = await signUp(strict.url);
  const answers = await Promise.all(
    Array.from({ length: 14 }, () =>
      eve.browser.fetch(`${strict.url}/api/connect/email/callback?state=x&code=y`, asPerson),
    ),
  );
  const limited = answers.filter(({ headers }) => /error=rate_limited$/.test(headers.get('location') ?? ''));
  expect(limited.length).toBeGreaterThan(0);
  expect(new Set(limited.map(({ status, headers }) => `${status} ${headers.get('location')}`))).toEqual(
    new Set([`303 ${strict.url}/connections/email?error=rate_limited`]),
  );
  // Whoever comes too often writes nothing into the log by it.
  expect(await audited(eve)).toHaveLength(answers.length - limited.length);
  await strict.stop();
});

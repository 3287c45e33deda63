// Client ID Metadata Documents: a client is known by the address of a document that describes it.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Account, call, signUp } from '../../../services/toolhub/test/accounts.ts';
import { authorizeUrl, exchange, newPkce, obtainCode } from '../../../services/toolhub/test/authorization.ts';
import { Browser, type Visit } from '../../../services/toolhub/test/browser.ts';
import {
  createToolhubDatabase,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';

const CLIENT_ID = 'https://client.example/oauth/client.json';
const REDIRECT = 'http://127.0.0.1:3118/callback';
const client = { client_id: CLIENT_ID, redirect_uri: REDIRECT };
const good = {
  client_id: CLIENT_ID,
  client_name: 'Documented client',
  redirect_uris: [REDIRECT],
  token_endpoint_auth_method: 'none',
  scope: 'openid tools:read tools:write account:read offline_access',
};

let database: TestDatabase;
let instance: Instance;
let guarded: Instance;
let account: Account;
let answer: () => Response;
let fetched: string[] = [];

beforeAll(async () => {
  database = await createToolhubDatabase();
  instance = await startInstance(database.url, {
    fetchDocument: async (url) => {
      fetched.push(String(url));
      return answer();
    },
  });
  guarded = await startInstance(database.url);
  account = await signUp(instance.url);
});

beforeEach(() => {
  fetched = [];
});

afterAll(async () => {
  await Promise.all([instance.stop(), guarded.stop()]);
  await database.drop();
});

describe('documents that are refused', () => {
  let count = 0;
  const cases: [string, Record<string, unknown> | string, ResponseInit?][] = [
    ['another client id', { ...good, client_id: 'https://client.example/other.json' }],
    ['a secret', { ...good, client_secret: 'x' }],
    ['authentication by secret', { ...good, token_endpoint_auth_method: 'client_secret_basic' }],
    ['a redirect address on plain http', { ...good, redirect_uris: ['http://client.example/cb'] }],
    ['a script as redirect address', { ...good, redirect_uris: ['javascript:alert(1)'] }],
    ['no JSON', 'hello'],
    ['a list', '[]'],
    ['more bytes than allowed', { ...good, padding: 'x'.repeat(6_000) }],
    ['a redirect', good, { status: 302, headers: { location: 'https://client.example/else.json' } }],
    ['an error', good, { status: 500 }],
  ];
  test.each(cases)('[TH-4] %s', async (_name, document, init) => {
    count += 1;
    const id = `${CLIENT_ID}?case=${count}`;
    const text =
      typeof document === 'string' ? document : JSON.stringify(document).replace(`"${CLIENT_ID}"`, `"${id}"`);
    answer = () => new Response(text, init);
    const visit = await account.browser.open(
      authorizeUrl(instance.url, { ...client, client_id: id }, newPkce()),
    );
    expect(visit.status).toBe(400);
    expect(visit.headers.get('location')).toBeNull();
    expect(visit.text).not.toContain('name="decision"');
  });
});

test('[TH-4] a client with a good document gets its tokens, and the page says where it is published', async () => {
  answer = () => new Response(JSON.stringify(good), { headers: { 'content-type': 'application/json' } });
  const page = await account.browser.open(authorizeUrl(instance.url, client, newPkce()));
  expect(page.text).toContain('Documented client');
  expect(page.text).toContain('client.example');
  const { code, pkce } = await obtainCode(instance.url, account, client);
  const { status, body } = await exchange(instance.url, client, code, pkce);
  expect(status).toBe(200);
  expect((await call(`${instance.url}/api/me`, { token: body.access_token })).status).toBe(200);
  // Kept for a while: one fetch for all of the above.
  expect(fetched).toEqual([CLIENT_ID]);
  const foreign = await account.browser.open(
    authorizeUrl(instance.url, { ...client, redirect_uri: 'http://127.0.0.1:3118/other' }, newPkce()),
  );
  expect(foreign.status).toBe(400);
});

test.each([
  'http://client.example/client.json',
  'https://user@client.example/client.json',
  'https://client.example/a/../client.json',
  'https://client.example/client.json#x',
  'ftp://client.example/x',
])('[TH-4] %s is no client id', async (id) => {
  answer = () => new Response(JSON.stringify({ ...good, client_id: id }));
  const visit = await account.browser.open(
    authorizeUrl(instance.url, { ...client, client_id: id }, newPkce()),
  );
  expect(visit.status).toBe(400);
  expect(fetched).toEqual([]);
});

test('[TH-4.2] documents are fetched behind the guard: private addresses are never dialled', async () => {
  let dialled = 0;
  const server = createServer((socket) => {
    dialled += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const owner = await signUp(guarded.url);
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', '[::ffff:127.0.0.1]', '0.0.0.0']) {
    const id = `https://${host}:${port}/client.json`;
    const visit = await owner.browser.open(
      authorizeUrl(guarded.url, { ...client, client_id: id }, newPkce()),
    );
    expect(visit.status).toBe(400);
  }
  server.close();
  expect(dialled).toBe(0);
});

const loginPage = (url: string, clientId: string) =>
  `${url}/oauth/login?request=${Buffer.from(String(new URLSearchParams({ client_id: clientId }))).toString('base64url')}`;

test('[TH-4] the pages name the client in a process that has not met it, and its host where the document is gone', async () => {
  const document = async () => answer();
  const second = await startInstance(database.url, { publicUrl: instance.url, fetchDocument: document });
  const third = await startInstance(database.url, { publicUrl: instance.url, fetchDocument: document });
  answer = () => new Response(JSON.stringify(good));
  const stranger = await new Browser().open(authorizeUrl(instance.url, client, newPkce()));
  const consent = await account.browser.open(authorizeUrl(instance.url, client, newPkce()));
  const shownBy = async (url: string, { url: address }: Visit) => {
    const { pathname, search } = new URL(address);
    const cookie = account.browser.cookiesFor(new URL(address));
    const headers = pathname.startsWith('/oauth/interaction') ? { cookie } : {};
    const shown = await fetch(url + pathname + search, { headers, redirect: 'manual' });
    return { status: shown.status, text: await shown.text() };
  };
  for (const [page, asks] of [
    [stranger, 'name="password"'],
    [consent, 'name="decision"'],
  ] as const) {
    const shown = await shownBy(page === stranger ? second.url : third.url, page);
    expect([shown.status, shown.text.includes(asks)]).toEqual([200, true]);
    expect(shown.text).toContain('Documented client');
  }
  answer = () => new Response('gone', { status: 404 });
  const broken = await fetch(loginPage(second.url, 'https://elsewhere.example/client.json'));
  expect([broken.status, (await broken.text()).includes('elsewhere.example')]).toEqual([200, true]);
  await Promise.all([second.stop(), third.stop()]);
});

test('[TH-1] to name a document counts as a registration in the limit per address', async () => {
  const limited = await startInstance(database.url, {
    env: { TOOLHUB_RATE_ADDRESS: '3' },
    fetchDocument: async () => {
      fetched.push('x');
      return new Response('{}');
    },
  });
  for (let count = 0; count < 6; count += 1) {
    await fetch(authorizeUrl(limited.url, { ...client, client_id: `${CLIENT_ID}?n=${count}` }, newPkce()));
    await fetch(loginPage(limited.url, `${CLIENT_ID}?login=${count}`));
  }
  await limited.stop();
  // Fewer where the database of a busy machine answers late: what was charged in vain comes back a moment after.
  expect(fetched.length).toBeGreaterThan(0);
  expect(fetched.length).toBeLessThanOrEqual(3);
});

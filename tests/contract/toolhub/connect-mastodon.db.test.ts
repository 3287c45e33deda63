// Connecting an account that lives on a server of the customer's choice: the service registers itself there once, over
// all processes, and the server that is named passes the guard.
import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Account, call, signUp } from '../../../services/toolhub/test/accounts.ts';
import {
  createToolhubDatabase,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { type MastodonServer, startMastodon } from '../../vendors/mastodon/server.ts';

const PUBLIC_URL = 'http://localhost:4100';
let database: TestDatabase;
let mastodon: MastodonServer;
let instances: [Instance, Instance];
let ada: Account;
const clock = { offsetMs: 0 };
const start = (env: Record<string, string> = {}) =>
  startInstance(database.url, {
    publicUrl: PUBLIC_URL,
    env: { TOOLHUB_EGRESS_ALLOW: new URL(mastodon.url).host, ...env },
    now: () => new Date(Date.now() + clock.offsetMs),
  });

beforeAll(async () => {
  [database, mastodon] = await Promise.all([createToolhubDatabase(), startMastodon()]);
  instances = [await start(), await start()];
});
beforeEach(async () => {
  ada = await signUp(instances[0].url);
});
afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.stop()));
  await mastodon.stop();
  await database.drop();
});

const begin = (instance: Instance, query: string, headers: Record<string, string> = {}) =>
  call(`${instance.url}/api/connect/mastodon${query}`, { cookie: ada.cookie, headers });
const here = () => `?instance_url=${encodeURIComponent(mastodon.url)}`;
const registrations = () => mastodon.received.filter(({ path }) => path === '/api/v1/apps').length;

test('[TH-6.10] a login at the customer’s server: registered once over all processes, then used by everybody', async () => {
  const begun = await Promise.all(
    Array.from({ length: 8 }, (_, n) => begin(instances[n % 2] as Instance, here())),
  );
  expect(begun.map(({ status }) => status)).toEqual(Array(8).fill(302));
  expect(registrations()).toBe(1);
  const address = new URL(begun[0]?.headers.get('location') ?? '');
  expect(address.origin + address.pathname).toBe(`${mastodon.url}/oauth/authorize`);
  expect(address.searchParams.get('scope')?.split(' ')).toEqual(
    expect.arrayContaining(['read:accounts', 'read:statuses', 'write:statuses']),
  );
  const allowed = await fetch(address, { redirect: 'manual' });
  const back = new URL(allowed.headers.get('location') ?? '');
  expect(back.origin + back.pathname).toBe(`${PUBLIC_URL}/api/connect/mastodon/callback`);
  const ended = await call(`${instances[1].url}/api/connect/mastodon/callback${back.search}`, {
    cookie: ada.cookie,
  });
  expect(ended.status).toBe(303);
  const { body } = await call(`${instances[0].url}/api/credentials/mastodon`, { cookie: ada.cookie });
  expect(body).toMatchObject({ status: 'connected', account: `@ada@${new URL(mastodon.url).host}` });
  const { rows } = await database.database.query<{ sealed_client: Buffer }>('select * from connect_servers');
  expect(rows).toHaveLength(1);
  expect(rows[0]?.sealed_client.toString('latin1')).not.toContain('secret-of-app');
});

test('[TH-6.10] a process that lacks the key of the registration says that it is not ready, and leaves it to the others', async () => {
  expect((await begin(instances[0], here())).status).toBe(302);
  const stored = async () => (await database.database.query('select * from connect_servers')).rows;
  const before = await stored();
  const without = await start({ TOOLHUB_ENCRYPTION_KEY: randomBytes(32).toString('base64') });
  try {
    const answer = await begin(without, here());
    expect(answer).toMatchObject({ status: 503, body: { code: 'not_ready' } });
    expect(answer.headers.get('retry-after')).toBe('1');
    const seen = await begin(without, here(), { accept: 'text/html' });
    expect([seen.status, seen.headers.get('location')]).toEqual([
      303,
      `${PUBLIC_URL}/connections/mastodon?error=not_ready`,
    ]);
  } finally {
    await without.stop();
  }
  expect(await stored()).toEqual(before);
  expect((await begin(instances[0], here())).status).toBe(302);
});

test('[TH-6.10] a server that forgot the registration is registered at anew', async () => {
  expect((await begin(instances[0], here())).status).toBe(302);
  const before = registrations();
  // As servers do with clients that nobody used for a day.
  mastodon.apps.clear();
  clock.offsetMs += 13 * 60 * 60_000;
  const again = await begin(instances[1], here());
  expect([again.status, registrations()]).toEqual([302, before + 1]);
  // One that is believed and gone is found out when the code is exchanged; the next login works.
  const address = new URL(again.headers.get('location') ?? '');
  const allowed = await fetch(address, { redirect: 'manual' });
  mastodon.apps.clear();
  const { search } = new URL(allowed.headers.get('location') ?? '');
  const failed = await call(`${instances[0].url}/api/connect/mastodon/callback${search}`, {
    cookie: ada.cookie,
  });
  expect(failed).toMatchObject({
    status: 422,
    body: { code: 'connect_failed', platform_code: 'invalid_client' },
  });
  expect((await begin(instances[0], here())).status).toBe(302);
  expect(registrations()).toBe(before + 2);
});

test('[TH-6.10] the server passes the guard, and is named, and by nobody else’s page', async () => {
  const sent = mastodon.received.length;
  for (const host of [
    'http://127.0.0.1:1',
    'https://169.254.169.254',
    'localhost',
    'https://[::1]',
    '10.0.0.1',
  ])
    expect(await begin(instances[0], `?instance_url=${encodeURIComponent(host)}`), host).toMatchObject({
      status: 422,
      body: { code: 'address_refused' },
    });
  for (const query of [
    '',
    '?instance_url=',
    `?instance_url=${encodeURIComponent('https://a.test/../x')}`,
    `?instance_url=${encodeURIComponent('https://me@a.test')}`,
    `?instance_url=${encodeURIComponent('ftp://a.test')}`,
    `?instance_url=${encodeURIComponent('a.test\r\nx: y')}`,
  ])
    expect(await begin(instances[0], query), query).toMatchObject({ status: 400 });
  const elsewhere = await begin(instances[0], here(), { 'sec-fetch-site': 'cross-site' });
  expect(elsewhere).toMatchObject({ status: 403, body: { code: 'csrf' } });
  expect(mastodon.received.length).toBe(sent);
});

test('[TH-6.9] a vendor at which the operator has not registered says so, and what works without', async () => {
  const answer = await call<{ code: string; detail: string }>(`${instances[0].url}/api/connect/slack`, {
    cookie: ada.cookie,
  });
  expect([answer.status, answer.body.code]).toEqual([503, 'not_configured']);
  expect(answer.body.detail).toContain('PUT /api/credentials/slack');
});

test('[TH-6.10] a server that is none, or is away, is told so', async () => {
  for (const reply of [{ status: 404 }, { status: 503 }, { json: { client_id: 'a b' } }]) {
    clock.offsetMs += 13 * 60 * 60_000;
    // First it is asked whether it knows us, then it is registered at.
    mastodon.failNext({ kind: 'reply', reply: { status: 401 } });
    mastodon.failNext({ kind: 'reply', reply });
    const answer = await begin(instances[0], here());
    expect(answer).toMatchObject({ status: 422, body: { code: 'platform_unreachable' } });
  }
  expect((await begin(instances[1], here())).status).toBe(302);
});

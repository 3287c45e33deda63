// Tokens that end, over two real processes of the service, one of which is killed between the vendor's answer and our store.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { call, makeToken, signUp } from '../../../services/toolhub/test/accounts.ts';
import {
  createToolhubDatabase,
  type SpawnedInstance,
  spawnInstance,
} from '../../../services/toolhub/test/instance.ts';
import { type BlueskyServer, startBluesky } from '../../vendors/bluesky/server.ts';
import { startX, type XServer } from '../../vendors/x/server.ts';

const TOKEN_PATH = '/2/oauth2/token';
const LOGIN_PATH = '/xrpc/com.atproto.server.createSession';

let database: TestDatabase;
let x: XServer;
let bluesky: BlueskyServer;
let hubs: readonly [SpawnedInstance, SpawnedInstance];

beforeAll(async () => {
  [database, x, bluesky] = await Promise.all([createToolhubDatabase(), startX(), startBluesky()]);
  for (let n = 1; n < 10; n += 1) x.tokens.set(`renewed-access-${n}`, '100');
  bluesky.addAccount('ada.test', 'app-pass-word');
  const env = {
    TOOLHUB_CONNECTOR_X_URL: x.url,
    TOOLHUB_OAUTH_X_CLIENT_ID: 'client-1',
    TOOLHUB_OAUTH_X_CLIENT_SECRET: 'client-secret',
    TOOLHUB_EGRESS_ALLOW: new URL(bluesky.url).host,
  };
  const start = () => spawnInstance(database.url, { env });
  hubs = await Promise.all([start(), start()]);
}, 120_000);
afterAll(async () => {
  await Promise.all(hubs.map((hub) => hub.stop()));
  await Promise.all([x.stop(), bluesky.stop()]);
  await database.drop();
});

const asked = (path: string) =>
  [...x.received, ...bluesky.received].filter((one) => one.path === path).length;

async function customerOf(platform: string, credential: Record<string, unknown>) {
  const { url } = hubs[1];
  const account = await signUp(url);
  const { token } = await makeToken(url, account);
  const put = await call(`${url}/api/credentials/${platform}?verify=false`, {
    ...{ method: 'PUT', cookie: account.cookie, body: credential },
  });
  expect(put.status).toBe(200);
  return { id: account.id, token };
}
function overAtX(refreshToken: string) {
  x.endpoint.issue(refreshToken);
  const expires_at = new Date(Date.now() - 1_000).toISOString();
  return customerOf('x', { access_token: 'over', refresh_token: refreshToken, expires_at });
}
const outcomeOf = async (hub: SpawnedInstance, token: string, tool: string) => {
  const { body } = await callTool(hub.url, token, tool, {});
  const { error } = (body.result?.structuredContent ?? {}) as { error?: Record<string, unknown> };
  return error ?? 'ok';
};

test('[TH-6.5] ten parallel calls on a refresh token that works once, over two processes: one renewal, ten successes', async () => {
  const { token } = await overAtX('refresh-once');
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, (_, n) => outcomeOf(hubs[(n % 2) as 0 | 1], token, 'x_get_profile')),
  );
  expect(outcomes).toEqual(Array(10).fill('ok'));
  expect(asked(TOKEN_PATH)).toBe(1);
}, 60_000);

test('[TH-7.13] a renewal of which no answer came costs no unit: the platform was never asked to do anything', async () => {
  const [hub] = hubs;
  const { token } = await overAtX('refresh-unanswered');
  const usedBy = async () => (await call<{ used: number }>(`${hub.url}/api/plan`, { token })).body.used;
  for (const fault of [{ kind: 'drop' }, { kind: 'broken_json' }] as const) {
    x.failNext(fault, ({ path }) => path === TOKEN_PATH);
    expect(await outcomeOf(hub, token, 'x_get_profile')).toMatchObject({ code: 'platform_unavailable' });
    expect(await usedBy()).toBe(0);
  }
  expect(await outcomeOf(hub, token, 'x_get_profile')).toBe('ok');
  expect(await usedBy()).toBe(1);
}, 60_000);

test('[TH-6.5] a kill between the vendor’s answer and our store: the next call works or says token_expired, and nothing loops', async () => {
  const [dying, living] = hubs;
  const person = await overAtX('refresh-lost');
  const other = await customerOf('bluesky', {
    ...{ service: bluesky.url, identifier: 'ada.test', app_password: 'app-pass-word' },
  });
  const before = [asked(TOKEN_PATH), asked(LOGIN_PATH)] as const;
  x.failNext({ kind: 'lost' }, ({ path }) => path === TOKEN_PATH);
  bluesky.failNext({ kind: 'lost' }, ({ path }) => path === LOGIN_PATH);
  const lost = Promise.allSettled([
    outcomeOf(dying, person.token, 'x_get_profile'),
    outcomeOf(dying, other.token, 'bluesky_get_timeline'),
  ]);
  await expect
    .poll(() => [asked(TOKEN_PATH) - before[0], asked(LOGIN_PATH) - before[1]], { interval: 20 })
    .toEqual([1, 1]);
  await dying.kill();
  expect((await lost).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  // What a minute does: the leases of the dead end by themselves.
  await database.database.query('update credentials set lease_until = now() where lease_until is not null');

  for (let repeat = 0; repeat < 2; repeat += 1) {
    expect(await outcomeOf(living, person.token, 'x_get_profile')).toMatchObject({
      ...{ code: 'token_expired', connect_url: expect.stringContaining('/connections/x') },
    });
    expect(await outcomeOf(living, other.token, 'bluesky_get_timeline')).toBe('ok');
  }
  expect([asked(TOKEN_PATH) - before[0], asked(LOGIN_PATH) - before[1]]).toEqual([2, 2]);
}, 60_000);

// A key of Toolhub is lost for good: what it sealed is gone, and stands in the way of nothing that is made anew.
import type { TestDatabase } from '@libs/db/testing';
import { createSealer } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type BotApiServer,
  startBotApi,
} from '../../services/toolhub/src/connectors/telegram/test/bot-api-server.ts';
import { callTool } from '../../services/toolhub/src/mcp/test/rig.ts';
import { type Account, call, makeToken, signUp } from '../../services/toolhub/test/accounts.ts';
import { createToolhubDatabase, type Instance, startInstance } from '../../services/toolhub/test/instance.ts';
import { type MastodonServer, startMastodon } from '../vendors/mastodon/server.ts';

const PUBLIC_URL = 'http://localhost:4100';
const BOT = '4242:AAE_abcdefghijklmnopqrstuvwxyz012345';

let database: TestDatabase;
let telegram: BotApiServer;
let mastodon: MastodonServer;
let instance: Instance;
let ada: Account;
/** What was begun under the key that is lost. */
let begun: { login: string; connect: string; approvalId: string };

const keyOf = (byte: number) => Buffer.alloc(32, byte);
/** As the operator starts it: with the id of the key that is given up. */
const under = (byte: number, lost?: number) =>
  startInstance(database.url, {
    publicUrl: PUBLIC_URL,
    env: {
      TOOLHUB_ENCRYPTION_KEY: keyOf(byte).toString('base64'),
      ...(lost === undefined
        ? {}
        : { TOOLHUB_LOST_ENCRYPTION_KEYS: createSealer({ keys: [keyOf(lost)] }).keyIds[0] }),
      TOOLHUB_CONNECTOR_TELEGRAM_URL: telegram.url,
      TOOLHUB_EGRESS_ALLOW: new URL(mastodon.url).host,
    },
  });
const api = (path: string, method = 'GET', body?: unknown) =>
  call<Record<string, unknown>>(`${instance.url}${path}`, { method, body, cookie: ada.cookie });
const logIn = () => api(`/api/connect/mastodon?instance_url=${encodeURIComponent(mastodon.url)}`);
const locationOf = ({ headers }: { headers: Headers }) => headers.get('location') ?? '';

/** Somebody says yes at the server, which sends the browser back. */
async function allowAt(address: string): Promise<string> {
  return new URL(locationOf(await fetch(address, { redirect: 'manual' }))).search;
}

beforeAll(async () => {
  [database, telegram, mastodon] = await Promise.all([
    createToolhubDatabase(),
    startBotApi(),
    startMastodon(),
  ]);
  telegram.addBot(BOT, 'my_bot');
  instance = await under(1);
  ada = await signUp(instance.url);
  expect((await api('/api/credentials/telegram', 'PUT', { bot_token: BOT })).status).toBe(200);
  const rules = { send: true, delete: false, tools: {} };
  expect((await api('/api/approvals/rules', 'PUT', rules)).status).toBe(200);
  const { token } = await makeToken(instance.url, ada);
  const waiting = await callTool(instance.url, token, 'telegram_send_message', { chat_id: 1, text: 'hello' });
  const error = waiting.body.result?.structuredContent?.error as { approval_id?: string } | undefined;
  const state = new URL(locationOf(await api('/oauth/connect-mcp'))).searchParams.get('state') ?? '';
  begun = {
    login: await allowAt(locationOf(await logIn())),
    connect: new URLSearchParams({ state, code: 'a-code' }).toString(),
    approvalId: error?.approval_id ?? '',
  };
  await instance.stop();
  instance = await under(2, 1);
});
afterAll(async () => {
  await instance.stop();
  await Promise.all([database.drop(), telegram.stop(), mastodon.stop()]);
});

test('a login that was begun before is to be begun anew', async () => {
  expect(await api(`/api/connect/mastodon/callback${begun.login}`)).toMatchObject({
    ...{ status: 400, body: { code: 'connect_state_invalid' } },
  });
  const page = await fetch(`${instance.url}/oauth/mcp-callback?${begun.connect}`, {
    headers: { cookie: ada.cookie },
  });
  expect([page.status, await page.text()]).toEqual([400, expect.stringContaining('Not connected')]);
});

test('a server at which nobody can say who we are any more is registered at anew, and logs in', async () => {
  const registrations = () => mastodon.received.filter(({ path }) => path === '/api/v1/apps').length;
  const before = registrations();
  const address = await logIn();
  expect([address.status, registrations()]).toEqual([302, before + 1]);
  const ended = await api(`/api/connect/mastodon/callback${await allowAt(locationOf(address))}`);
  expect(ended.status).toBe(303);
  expect((await api('/api/credentials/mastodon')).body).toMatchObject({ status: 'connected' });
});

test('a call that waited is still listed, without what it would send, and can be refused', async () => {
  const { approvalId: id } = begun;
  const unreadable = { id, tool: 'telegram_send_message', arguments: {}, arguments_cut: true };
  expect(await api('/api/approvals')).toMatchObject({ status: 200, body: { data: [unreadable] } });
  expect(await api(`/api/approvals/${id}`)).toMatchObject({ status: 200, body: unreadable });
  const taken = await api('/api/export');
  expect([taken.status, JSON.stringify(taken.body)]).toEqual([200, expect.stringContaining(id)]);
  expect(await api(`/api/approvals/${id}/deny`, 'POST')).toMatchObject({
    ...{ status: 200, body: { ...unreadable, status: 'denied' } },
  });
});

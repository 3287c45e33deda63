// The keys of Toolhub rotate under real data; then the old key is gone.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type BotApiServer,
  startBotApi,
} from '../../services/toolhub/src/connectors/telegram/test/bot-api-server.ts';
import { callTool } from '../../services/toolhub/src/mcp/test/rig.ts';
import { sealedColumns } from '../../services/toolhub/src/rotation/columns.ts';
import { type Account, call, makeToken, signUp } from '../../services/toolhub/test/accounts.ts';
import {
  ADMIN_TOKEN,
  createToolhubDatabase,
  INTERNAL_TOKEN,
  startInstance,
} from '../../services/toolhub/test/instance.ts';
import { openEverything, runRotation } from './command.ts';

const OLD = Buffer.alloc(32, 1).toString('base64');
const NEW = Buffer.alloc(32, 2).toString('base64');
const bytes = (key: string) => Buffer.from(key, 'base64');
const BOT = '4242:AAE_abcdefghijklmnopqrstuvwxyz012345';

let database: TestDatabase;
let telegram: BotApiServer;

beforeAll(async () => {
  [database, telegram] = await Promise.all([createToolhubDatabase(), startBotApi()]);
  telegram.addBot(BOT, 'my_bot');
});
afterAll(() => Promise.all([database.drop(), telegram.stop()]));

const start = (keys: string) =>
  startInstance(database.url, {
    env: {
      TOOLHUB_ENCRYPTION_KEY: keys,
      TOOLHUB_CONNECTOR_TELEGRAM_URL: telegram.url,
      TOOLHUB_EGRESS_ALLOW: `${new URL(telegram.url).host},127.0.0.1:9`,
      TOOLHUB_OAUTH_GOOGLE_CLIENT_ID: 'client',
      TOOLHUB_OAUTH_GOOGLE_CLIENT_SECRET: 'secret',
    },
  });

test('after the rotation everything opens with the new key alone', async () => {
  const first = await start(OLD);
  const account: Account = await signUp(first.url);
  const api = (url: string, path: string, method: string, body?: unknown) =>
    call<Record<string, unknown>>(`${url}${path}`, { method, body, cookie: account.cookie });
  expect((await api(first.url, '/api/credentials/telegram', 'PUT', { bot_token: BOT })).status).toBe(200);
  const webhook = await api(first.url, '/api/webhooks/config', 'POST', {
    webhook_url: 'http://127.0.0.1:9/hook',
  });
  expect([webhook.status, webhook.body.detail]).toEqual([201, undefined]);
  const journey = await api(first.url, '/api/connect/email?provider=google', 'GET');
  expect(journey.status).toBe(302);
  expect((await call(`${first.url}/oauth/connect-mcp`)).status).toBe(302);
  const rules = { send: true, delete: false, tools: {} };
  expect((await api(first.url, '/api/approvals/rules', 'PUT', rules)).status).toBe(200);
  const { token } = await makeToken(first.url, account);
  const waiting = await callTool(first.url, token, 'telegram_send_message', { chat_id: 1, text: 'hello' });
  expect(waiting.body.result?.structuredContent?.error?.code).toBe('approval_required');
  await first.stop();
  const each = {
    ...{ credentials: 1, webhook_configs: 1, connect_states: 1, connect_servers: 0, oauth_connects: 1 },
    approvals: 1,
  };
  expect(await openEverything(database.database, sealedColumns, [bytes(OLD)])).toEqual(each);

  const { code, lines } = await runRotation('toolhub', {
    TOOLHUB_DATABASE_URL: database.url,
    TOOLHUB_ENCRYPTION_KEY: `${NEW},${OLD}`,
    TOOLHUB_ADMIN_TOKEN: ADMIN_TOKEN,
    TOOLHUB_INTERNAL_TOKENS: `tests:${INTERNAL_TOKEN}`,
  });
  expect(code).toBe(0);
  expect(lines.at(-1)).toMatch(
    /^toolhub: 5 under key \w{8} \(newest\): the keys behind the first may be removed from TOOLHUB_ENCRYPTION_KEY$/,
  );
  expect(await openEverything(database.database, sealedColumns, [bytes(NEW)])).toEqual(each);

  const alone = await start(NEW);
  expect((await api(alone.url, '/api/webhooks/test', 'POST')).status).toBeLessThan(300);
  expect((await api(alone.url, '/api/approvals', 'GET')).body.data).toMatchObject([
    { arguments: { text: 'hello' } },
  ]);
  await alone.stop();
});

// A service with a public address: Telegram sends a bot's messages there, with a secret that only the two know.
import type { TestDatabase } from '@libs/db/testing';
import { enqueueJobs } from '@libs/jobs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type BotApiServer,
  startBotApi,
} from '../../../services/toolhub/src/connectors/telegram/test/bot-api-server.ts';
import { callTool } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { SCHEMA } from '../../../services/toolhub/src/schema.ts';
import { call, makeToken, PASSWORD } from '../../../services/toolhub/test/accounts.ts';
import {
  createToolhubDatabase,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { apiOf, type Customer, newCustomer } from './customer.ts';

const PUBLIC_URL = 'https://hub.example.com';

let db: TestDatabase;
let telegram: BotApiServer;
let hub: Instance;
let bots = 0;
let bot: string;

beforeAll(async () => {
  [db, telegram] = await Promise.all([createToolhubDatabase(), startBotApi()]);
  hub = await startInstance(db.url, {
    publicUrl: PUBLIC_URL,
    jobs: true,
    env: { TOOLHUB_CONNECTOR_TELEGRAM_URL: telegram.url },
  });
});
afterAll(async () => {
  await hub?.stop();
  await telegram.stop();
  await db.drop();
});
beforeEach(() => {
  bots += 1;
  bot = `${8_000 + bots}:AAE_abcdefghijklmnopqrstuvwxyz012345`;
  telegram.addBot(bot, `bot_${bots}`);
  telegram.calls.length = 0;
});

const message = (id: number, text: string) => ({
  message: {
    message_id: id,
    date: 1_793_500_000 + id,
    chat: { id: 5, type: 'private', first_name: 'Bob' },
    text,
  },
});
async function connected() {
  const customer = await newCustomer(hub.url);
  const { token: tools } = await makeToken(hub.url, customer, { scopes: ['tools:read'] });
  const api = apiOf(hub.url, customer.token);
  expect((await api('PUT', '/api/credentials/telegram', { bot_token: bot })).status).toBe(200);
  await expect.poll(() => telegram.webhook(bot), { interval: 20 }).toBeDefined();
  return { ...customer, api, tools };
}
const textsOf = async (customerId: string) =>
  (
    await db.database.query<{ text: string }>(
      `select data -> 'message' ->> 'text' as text from events
       where customer_id = $1 and type = 'telegram.message.received' order by id`,
      [customerId],
    )
  ).rows.map(({ text }) => text);
async function readByTool(token: string) {
  const { body } = await callTool(hub.url, token, 'telegram_list_messages', {});
  const { items } = (body.result?.structuredContent ?? { items: [] }) as { items: { text: string }[] };
  return items.map(({ text }) => text);
}
const post = (path: string, secret: string | undefined, body: string) =>
  fetch(`${hub.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(secret === undefined ? {} : { 'x-telegram-bot-api-secret-token': secret }),
    },
    body,
  });

test('[TH-9.8] a bot is told of an address of its own with a secret; what it sends is told once and read by a tool', async () => {
  telegram.push(bot, message(1, 'before anybody connected'));
  const ada = await connected();
  const { url, secret } = telegram.webhook(bot) as { url: string; secret: string };
  expect(url).toMatch(/^https:\/\/hub\.example\.com\/webhooks\/telegram\/[0-9a-f-]{36}$/);
  expect(secret).toMatch(/^[A-Za-z0-9_-]{43,256}$/);
  const kept = await db.database.query('select * from telegram_webhooks');
  expect(JSON.stringify(kept.rows)).not.toContain(secret);

  telegram.push(bot, message(2, 'hello'));
  expect(await telegram.send(bot, hub.url)).toEqual([200, 200]);
  const again = JSON.stringify({ update_id: 2, ...message(2, 'hello') });
  expect((await post(new URL(url).pathname, secret, again)).status).toBe(200);
  expect(await textsOf(ada.id)).toEqual(['before anybody connected', 'hello']);
  expect(await readByTool(ada.tools)).toEqual(['hello', 'before anybody connected']);
  expect(telegram.calls.map(({ method }) => method)).not.toContain('getUpdates');
});

test('[TH-9.8] who does not know the secret is refused before anything is read, and an unknown address is 404', async () => {
  const ada = await connected();
  const { url } = telegram.webhook(bot) as { url: string };
  const { pathname } = new URL(url);
  const body = JSON.stringify({ update_id: 1, ...message(1, 'forged') });
  for (const secret of [undefined, '', 'wrong', 'x'.repeat(300)])
    expect((await post(pathname, secret, body)).status).toBe(401);
  expect((await post(pathname, 'wrong', 'no json')).status).toBe(401);
  const elsewhere = '/webhooks/telegram/00000000-0000-4000-8000-000000000000';
  for (const path of [elsewhere, '/webhooks/telegram/..%2fwhatsapp', '/webhooks/telegram/%00'])
    expect((await post(path, 'wrong', body)).status).toBe(404);
  expect(await textsOf(ada.id)).toEqual([]);
});

test('[TH-9.8] disconnecting has Telegram forget the address; where it could not be told, its next message does', async () => {
  const ada = await connected();
  expect((await ada.api('DELETE', '/api/credentials/telegram')).status).toBe(204);
  expect(telegram.webhook(bot)).toBeUndefined();

  const eve = await connected();
  for (let time = 0; time < 2; time += 1)
    telegram.failNext({ kind: 'status', status: 502 }, 'getWebhookInfo');
  expect((await eve.api('DELETE', '/api/credentials/telegram')).status).toBe(204);
  expect(telegram.webhook(bot)).toBeDefined();
  telegram.push(bot, message(9, 'to nobody'));
  expect(await telegram.send(bot, hub.url)).toEqual([200]);
  expect(telegram.webhook(bot)).toBeUndefined();
  const left = await db.database.query('select 1 from telegram_messages where payload::text like $1', [
    '%to nobody%',
  ]);
  expect(left.rows).toEqual([]);
});

/** Until the service has done what it does when a bot is connected. */
const settled = () =>
  expect
    .poll(
      async () =>
        (await db.database.query(`select 1 from jobs where name = 'inbound.telegram_bot'`)).rowCount,
      { interval: 20 },
    )
    .toBe(0);

const endings = {
  disconnected: (ada: Customer) => apiOf(hub.url, ada.token)('DELETE', '/api/credentials/telegram'),
  'replaced by another': (ada: Customer) => {
    const bot_token = bot.replace(/^8/, '9');
    telegram.addBot(bot_token, 'another');
    return apiOf(hub.url, ada.token)('PUT', '/api/credentials/telegram', { bot_token });
  },
  erased: ({ cookie }: Customer) =>
    call(`${hub.url}/api/me`, { method: 'DELETE', cookie, body: { password: PASSWORD } }),
};

test.each(
  Object.entries(endings).flatMap(([name, end]) =>
    ['getWebhookInfo', 'setWebhook'].map((method) => ({ name, end, method })),
  ),
)(
  '[TH-9.8] a bot that is $name while $method is under way is told of no address for good',
  async (ending) => {
    const ada = await newCustomer(hub.url);
    const held = telegram.holdNext(ending.method);
    const connecting = { bot_token: bot };
    expect((await apiOf(hub.url, ada.token)('PUT', '/api/credentials/telegram', connecting)).status).toBe(
      200,
    );
    await held.reached;
    expect((await ending.end(ada)).status).toBeLessThan(300);
    held.release();
    await settled();
    expect(telegram.webhook(bot)).toBeUndefined();
    const tellsOf = telegram.calls.filter(({ method, token }) => method === 'setWebhook' && token === bot);
    expect(tellsOf).toHaveLength(ending.method === 'setWebhook' ? 1 : 0);
    const kept = await db.database.query(
      'select 1 from telegram_webhooks where customer_id = $1 and bot_id = $2',
      [ada.id, Number(bot.split(':')[0])],
    );
    expect(kept.rows).toEqual([]);
  },
);

test('[TH-9.8] where Telegram cannot be told any more that the customer left, its next message has it forget us', async () => {
  const ada = await newCustomer(hub.url);
  const api = apiOf(hub.url, ada.token);
  const held = telegram.holdNext('setWebhook');
  expect((await api('PUT', '/api/credentials/telegram', { bot_token: bot })).status).toBe(200);
  await held.reached;
  expect((await api('DELETE', '/api/credentials/telegram')).status).toBe(204);
  for (let time = 0; time < 2; time += 1)
    telegram.failNext({ kind: 'status', status: 502 }, 'getWebhookInfo');
  held.release();
  await settled();
  expect(telegram.webhook(bot)).toBeDefined();
  telegram.push(bot, message(9, 'to nobody'));
  expect(await telegram.send(bot, hub.url)).toEqual([200]);
  expect(telegram.webhook(bot)).toBeUndefined();
  expect(await textsOf(ada.id)).toEqual([]);
});

/** Until the bot is told of another address than this one, and that is noted. */
const movedFrom = (before: string | undefined) =>
  expect
    .poll(
      async () => {
        const { url } = telegram.webhook(bot) ?? {};
        const hookId = url?.split('/').at(-1);
        const noted = await db.database.query(
          'select 1 from telegram_webhooks where hook_id = $1 and is_set',
          [hookId],
        );
        return url !== before && noted.rowCount === 1;
      },
      { interval: 20 },
    )
    .toBe(true);

test('[TH-9.8] another customer who connects the same bot while the address of before is taken back is sent to', async () => {
  const ada = await connected();
  await settled();
  const before = telegram.webhook(bot)?.url;
  const taking = telegram.holdNext('deleteWebhook');
  const leaving = ada.api('DELETE', '/api/credentials/telegram');
  await taking.reached;
  const eve = await connected();
  await movedFrom(before);
  taking.release();
  expect((await leaving).status).toBe(204);
  await expect.poll(() => telegram.webhook(bot), { interval: 20 }).toBeDefined();
  telegram.push(bot, message(3, 'to Eve'));
  expect(await telegram.send(bot, hub.url)).toEqual([200]);
  expect(await textsOf(eve.id)).toEqual(['to Eve']);
});

test('[TH-9.8] a customer who connects again while the address of before is taken back is sent to', async () => {
  const ada = await newCustomer(hub.url);
  const api = apiOf(hub.url, ada.token);
  const telling = telegram.holdNext('setWebhook');
  await api('PUT', '/api/credentials/telegram', { bot_token: bot });
  await telling.reached;
  expect((await api('DELETE', '/api/credentials/telegram')).status).toBe(204);
  const taking = telegram.holdNext('deleteWebhook');
  telling.release();
  await taking.reached;
  const before = telegram.webhook(bot)?.url;
  expect(before).toBeDefined();
  await api('PUT', '/api/credentials/telegram', { bot_token: bot });
  await movedFrom(before);
  taking.release();
  await settled();
  await expect.poll(() => telegram.webhook(bot), { interval: 20 }).toBeDefined();
  telegram.push(bot, message(3, 'to Ada'));
  expect(await telegram.send(bot, hub.url)).toEqual([200]);
  expect(await textsOf(ada.id)).toEqual(['to Ada']);
});

test('[TH-9.8] a message to the address of before does not have Telegram forget that of who connected since', async () => {
  const ada = await connected();
  await settled();
  const { url, secret } = telegram.webhook(bot) as { url: string; secret: string };
  for (let time = 0; time < 2; time += 1)
    telegram.failNext({ kind: 'status', status: 502 }, 'getWebhookInfo');
  expect((await ada.api('DELETE', '/api/credentials/telegram')).status).toBe(204);
  await connected();
  await movedFrom(url);
  // It had left before Telegram was told of the new address; what its answer asks for is done after that.
  const late = await post(
    new URL(url).pathname,
    secret,
    JSON.stringify({ update_id: 1, ...message(1, 'late') }),
  );
  expect([late.status, await late.text()]).toEqual([200, '']);
});

test('[TH-9.8] an address that the customer’s own program set is left alone', async () => {
  const own = { url: 'https://own.example.com/bot', secret_token: 'own' };
  await fetch(`${telegram.url}/bot${bot}/setWebhook`, { method: 'POST', body: JSON.stringify(own) });
  const ada = await newCustomer(hub.url);
  const api = apiOf(hub.url, ada.token);
  expect((await api('PUT', '/api/credentials/telegram', { bot_token: bot })).status).toBe(200);
  await enqueueJobs(db.database, SCHEMA, [{ name: 'inbound.telegram', payload: {} }]);
  await expect
    .poll(() => telegram.calls.filter(({ method }) => method === 'getUpdates').length)
    .toBeGreaterThan(0);
  expect(telegram.webhook(bot)?.url).toBe(own.url);
  expect((await api('DELETE', '/api/credentials/telegram')).status).toBe(204);
  expect(telegram.webhook(bot)?.url).toBe(own.url);
});

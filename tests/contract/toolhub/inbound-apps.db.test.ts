// What Slack, Discord and Telegram send, from the vendor's request to the customer's event.
import { createHmac, generateKeyPairSync, type KeyObject, sign as signWith } from 'node:crypto';
import type { TestDatabase } from '@libs/db/testing';
import { enqueueJobs } from '@libs/jobs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type BotApiServer,
  startBotApi,
} from '../../../services/toolhub/src/connectors/telegram/test/bot-api-server.ts';
import { callTool } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { SCHEMA } from '../../../services/toolhub/src/schema.ts';
import { makeToken } from '../../../services/toolhub/test/accounts.ts';
import {
  createToolhubDatabase,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { type DiscordServer, startDiscord } from '../../vendors/discord/server.ts';
import { type SlackServer, startSlack } from '../../vendors/slack/server.ts';
import { apiOf, newCustomer } from './customer.ts';

const SECRET = 'slack-signing-secret';
const BOT = '80351110224678912';
const keys = generateKeyPairSync('ed25519');
const hexOf = (key: KeyObject) => key.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');

let db: TestDatabase;
let slack: SlackServer;
let discord: DiscordServer;
let telegram: BotApiServer;
let service: Instance;
let bare: Instance;

beforeAll(async () => {
  [db, slack, discord, telegram] = await Promise.all([
    createToolhubDatabase(),
    startSlack(),
    startDiscord(),
    startBotApi(),
  ]);
  service = await startInstance(db.url, {
    jobs: true,
    env: {
      SLACK_SIGNING_SECRET: SECRET,
      DISCORD_PUBLIC_KEY: `${'0'.repeat(64)}, ${hexOf(keys.publicKey)}`,
      TOOLHUB_CONNECTOR_SLACK_URL: slack.url,
      TOOLHUB_CONNECTOR_DISCORD_URL: discord.url,
      TOOLHUB_CONNECTOR_TELEGRAM_URL: telegram.url,
    },
  });
  bare = await startInstance(db.url);
});
afterAll(async () => {
  await Promise.all([service?.stop(), bare?.stop()]);
  await Promise.all([slack.stop(), discord.stop(), telegram.stop()]);
  await db.drop();
});

const seconds = () => String(Math.floor(Date.now() / 1_000));
const slackSignature = (body: string, timestamp: string, secret = SECRET) =>
  `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;

function post(path: string, body: string, headers: Record<string, string>, at = service) {
  return fetch(`${at.url}/webhooks/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}
const fromSlack = (payload: object, { timestamp = seconds(), ...headers }: Record<string, string> = {}) => {
  const body = JSON.stringify(payload);
  return post('slack', body, {
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': slackSignature(body, timestamp),
    ...headers,
  });
};
const fromDiscord = (payload: object, headers: Record<string, string> = {}) => {
  const body = JSON.stringify(payload);
  const timestamp = seconds();
  const signature = signWith(null, Buffer.from(timestamp + body), keys.privateKey).toString('hex');
  return post('discord', body, {
    ...{ 'x-signature-ed25519': signature, 'x-signature-timestamp': timestamp },
    ...headers,
  });
};

let events = 0;
const slackMessage = (user: string, more: Record<string, unknown> = {}, viewers = ['U1']) => {
  events += 1;
  return {
    ...{ type: 'event_callback', team_id: 'T1', api_app_id: 'A1', event_id: `Ev${events}`, event_time: 1 },
    authorizations: viewers.map((id) => ({ team_id: 'T1', user_id: id, is_bot: false })),
    event: { type: 'message', channel: 'C1', user, text: 'hello', ts: `1762000000.${100 + events}`, ...more },
  };
};

interface EventRow {
  type: string;
  data: Record<string, unknown> & { message: Record<string, unknown> };
}
async function eventsOf(customerId: string): Promise<EventRow[]> {
  const { rows } = await db.database.query<EventRow>(
    `select type, data from events where customer_id = $1 and type like '%.message.received' order by id`,
    [customerId],
  );
  return rows;
}
const settled = () =>
  expect
    .poll(
      async () => {
        const { rows } = await db.database.query(
          `select 1 from jobs where name like 'inbound.%' and name not like 'inbound.purge%' and name <> 'inbound.telegram'`,
        );
        return rows.length;
      },
      { interval: 30 },
    )
    .toBe(0);

async function slackCustomer(token: string, name: string, id: string) {
  slack.addUser(id, name, `${name}@example.com`);
  slack.tokens.set(token, { user: name, kind: 'user' });
  const customer = await newCustomer(service.url);
  const api = apiOf(service.url, customer.token);
  const put = await api('PUT', '/api/credentials/slack', { access_token: token });
  expect(put.status).toBe(200);
  return { ...customer, api };
}

describe('Slack', () => {
  test('[TH-9.6] the challenge is answered, and only to who signs', async () => {
    const challenge = {
      type: 'url_verification',
      token: 'x',
      challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
    };
    const answer = await fromSlack(challenge);
    expect([answer.status, await answer.json()]).toEqual([200, { challenge: challenge.challenge }]);
    const body = JSON.stringify(challenge);
    const old = String(Number(seconds()) - 301);
    // Time goes on until it is asked for: of this one, ten seconds may.
    const ahead = String(Number(seconds()) + 311);
    const refused: Record<string, string>[] = [
      {},
      { 'x-slack-request-timestamp': seconds() },
      {
        'x-slack-request-timestamp': seconds(),
        'x-slack-signature': slackSignature(body, seconds(), 'other'),
      },
      { 'x-slack-request-timestamp': old, 'x-slack-signature': slackSignature(body, old) },
      { 'x-slack-request-timestamp': ahead, 'x-slack-signature': slackSignature(body, ahead) },
      { 'x-slack-request-timestamp': seconds(), 'x-slack-signature': slackSignature(`${body} `, seconds()) },
      { 'x-slack-request-timestamp': 'now', 'x-slack-signature': slackSignature(body, 'now') },
    ];
    for (const headers of refused) expect((await post('slack', body, headers)).status).toBe(401);
    expect((await fromSlack([])).status).toBe(400);
  });

  test('[TH-9.6] a message is told once to each account that may see it, however often it comes', async () => {
    const ada = await slackCustomer('xoxp-ada', 'ada', 'U100');
    const bob = await slackCustomer('xoxp-bob', 'bob', 'U200');
    const told = slackMessage('U300', { text: 'hi <@U100>' }, ['U100', 'U200']);
    for (const retry of ['0', '1', '2'])
      expect((await fromSlack(told, { 'x-slack-retry-num': retry })).status).toBe(200);
    // The same words as a mention, an edit, a message of Ada's own, and one for a workspace of nobody.
    await fromSlack({ ...told, event_id: 'EvMention', event: { ...told.event, type: 'app_mention' } });
    await fromSlack(slackMessage('U300', { subtype: 'message_changed' }, ['U100']));
    await fromSlack(slackMessage('U100', {}, ['U100']));
    await fromSlack({ ...slackMessage('U300'), authorizations: [] });
    await settled();
    for (const { id } of [ada, bob])
      expect(await eventsOf(id)).toEqual([
        {
          type: 'slack.message.received',
          data: { team_id: 'T1', channel: 'C1', from: 'U300', event_id: told.event_id, message: told.event },
        },
      ]);
    const { rows } = await db.database.query<{ body: Buffer }>(
      'select body from inbound_deliveries where delivery_id = $1',
      [told.event_id],
    );
    expect(rows.map(({ body }) => body.toString())).toEqual([JSON.stringify(told)]);
    // Disconnected: what was received is deleted, and nothing more is told.
    await bob.api('DELETE', '/api/credentials/slack');
    await fromSlack(slackMessage('U300', {}, ['U200']));
    await settled();
    expect(await eventsOf(bob.id)).toHaveLength(1);
    const left = await db.database.query('select 1 from inbound_messages where customer_id = $1', [bob.id]);
    expect(left.rows).toEqual([]);
  });

  test('[TH-9.6] what came for an account of nobody waits for who connects it', async () => {
    await fromSlack(slackMessage('U300', { text: 'early' }, ['U400']));
    await settled();
    const eve = await slackCustomer('xoxp-eve', 'eve', 'U400');
    await settled();
    expect((await eventsOf(eve.id)).map(({ data }) => data.message.text)).toEqual(['early']);
    const waiting = await db.database.query(`select 1 from inbound_unclaimed where account = 'T1/U400'`);
    expect(waiting.rows).toEqual([]);
  });

  test('[TH-9.6] a credential that was stored untried receives nothing', async () => {
    const mallory = await newCustomer(service.url);
    const api = apiOf(service.url, mallory.token);
    slack.tokens.set('xoxp-mallory', { user: 'ada', kind: 'user' });
    await api('PUT', '/api/credentials/slack?verify=false', { access_token: 'xoxp-mallory' });
    await fromSlack(slackMessage('U300', {}, ['U100']));
    await settled();
    expect(await eventsOf(mallory.id)).toEqual([]);
  });
});

describe('Discord', () => {
  const interaction = (id: string, more: Record<string, unknown> = {}) => ({
    ...{ id, application_id: BOT, type: 2, token: 'interaction-token', version: 1 },
    ...{ guild_id: '1', channel_id: '2', member: { user: { id: '77', username: 'bob' } } },
    data: { id: '5', name: 'ask', options: [{ name: 'question', value: 'why?' }] },
    ...more,
  });

  test('[TH-9.6] PING is answered, and only to who signs', async () => {
    const ping = await fromDiscord({ id: '1', application_id: BOT, type: 1 });
    expect([ping.status, await ping.json()]).toEqual([200, { type: 1 }]);
    for (const headers of [
      { 'x-signature-ed25519': '0'.repeat(128) },
      { 'x-signature-ed25519': 'zz' },
      { 'x-signature-timestamp': '1' },
      { 'x-signature-timestamp': '' },
    ])
      expect((await fromDiscord({ type: 1 }, headers as Record<string, string>)).status).toBe(401);
    expect((await post('discord', '{"type":1}', {})).status).toBe(401);
  });

  test('[TH-9.6] an interaction is answered at once and told once, without its token', async () => {
    discord.tokens.set('discord-bot-token-1', 'helper');
    const ada = await newCustomer(service.url);
    const api = apiOf(service.url, ada.token);
    const put = await api('PUT', '/api/credentials/discord', { bot_token: 'discord-bot-token-1' });
    expect(put.status).toBe(200);
    for (let repeat = 0; repeat < 2; repeat += 1) {
      const answer = await fromDiscord(interaction('9001'));
      expect([answer.status, await answer.json()]).toEqual([
        200,
        { type: 4, data: { content: 'Received.', flags: 64 } },
      ]);
    }
    expect(await (await fromDiscord(interaction('9002', { type: 3 }))).json()).toEqual({ type: 6 });
    expect(await (await fromDiscord(interaction('9003', { type: 4 }))).json()).toMatchObject({ type: 8 });
    await settled();
    const told = await eventsOf(ada.id);
    expect(told.map(({ type, data }) => [type, data.message.id])).toEqual([
      ['discord.message.received', '9001'],
      ['discord.message.received', '9002'],
    ]);
    expect(told[0]?.data).toMatchObject({ application_id: BOT, guild_id: '1', channel_id: '2', from: '77' });
    expect(JSON.stringify(told)).not.toContain('interaction-token');
  });
});

test('[TH-9.6] what arrived can be read by tools: newest first, page by page, and by nobody else', async () => {
  const ada = await slackCustomer('xoxp-reader', 'reader', 'U900');
  discord.tokens.set('discord-bot-token-1', 'helper');
  await apiOf(service.url, ada.token)('PUT', '/api/credentials/discord', {
    bot_token: 'discord-bot-token-1',
  });
  for (let n = 0; n < 3; n += 1)
    await fromSlack(
      slackMessage('U300', { text: `letter ${n}`, channel: n < 2 ? 'C777' : 'C778' }, ['U900']),
    );
  const data = { id: '5', name: 'ask', options: [{ name: 'question', value: 'why?' }] };
  await fromDiscord({
    ...{ id: '9900', application_id: BOT, type: 2, token: 'interaction-token', guild_id: '1' },
    ...{ channel_id: '200000000000000000', member: { user: { id: '77', username: 'bob' } }, data },
  });
  await settled();
  const { token } = await makeToken(service.url, ada);
  const read = async (name: string, args: Record<string, unknown>) => {
    const { body } = await callTool(service.url, token, name, args);
    return body.result?.structuredContent as { items: Record<string, unknown>[]; next_cursor: string | null };
  };
  const first = await read('slack_list_received_messages', { limit: 2 });
  expect(first.items.map(({ text, channel }) => [text, channel])).toEqual([
    ['letter 2', 'C778'],
    ['letter 1', 'C777'],
  ]);
  const rest = await read('slack_list_received_messages', { limit: 2, cursor: first.next_cursor });
  expect([rest.items.map(({ text }) => text), rest.next_cursor]).toEqual([['letter 0'], null]);
  const there = await read('slack_list_received_messages', { channel: 'C778' });
  expect(there.items.map(({ text }) => text)).toEqual(['letter 2']);
  expect((await read('slack_list_received_messages', { since: '2099-01-01T00:00:00Z' })).items).toEqual([]);
  const leap = await read('slack_list_received_messages', { since: '2016-12-31T23:59:60Z', limit: 2 });
  expect(leap.items).toEqual(first.items);
  const commands = await read('discord_list_received_messages', { channel_id: '200000000000000000' });
  expect(commands.items).toEqual([
    expect.objectContaining({
      ...{ id: '9900', kind: 'command', server_id: '1', author_id: '77', author_name: 'bob', name: 'ask' },
      input: JSON.stringify(data.options),
    }),
  ]);
  expect(JSON.stringify(commands)).not.toContain('interaction-token');
  const bob = await newCustomer(service.url);
  const other = await makeToken(service.url, bob);
  discord.tokens.set('discord-bot-token-2', 'other');
  await apiOf(service.url, bob.token)('PUT', '/api/credentials/discord?verify=false', { bot_token: 'x' });
  const none = await callTool(service.url, other.token, 'discord_list_received_messages', {});
  expect(none.body.result?.structuredContent).toMatchObject({ items: [] });
});

test('[TH-9.7] a bot’s messages are collected without a tool’s call, and told once', async () => {
  const token = '777:AAE_abcdefghijklmnopqrstuvwxyz012345';
  telegram.addBot(token, 'ada_bot');
  telegram.addChat({ id: 5, type: 'private', first_name: 'Bob' });
  const ada = await newCustomer(service.url);
  const put = await apiOf(service.url, ada.token)('PUT', '/api/credentials/telegram', { bot_token: token });
  expect(put.status).toBe(200);
  const message = (id: number, text: string) => ({
    message: {
      message_id: id,
      date: Number(seconds()) + id,
      chat: { id: 5, type: 'private', first_name: 'Bob' },
      text,
    },
  });
  telegram.push(token, message(1, 'first'));
  telegram.push(token, message(2, 'second'));
  const collect = async () => {
    await enqueueJobs(db.database, SCHEMA, [{ name: 'inbound.telegram', payload: {} }]);
    await settled();
  };
  await collect();
  await expect.poll(async () => (await eventsOf(ada.id)).length).toBe(2);
  telegram.push(token, message(3, 'third'));
  await collect();
  await expect.poll(async () => (await eventsOf(ada.id)).length).toBe(3);
  const told = await eventsOf(ada.id);
  expect(told.map(({ data }) => data.message.text)).toEqual(['first', 'second', 'third']);
  expect(told[0]).toMatchObject({ type: 'telegram.message.received', data: { bot_id: 777, chat_id: 5 } });
});

test('[TH-9.6] without their settings the routes answer 503', async () => {
  for (const platform of ['slack', 'discord']) {
    const answer = await post(platform, '{}', {}, bare);
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      503,
      'not_configured',
    ]);
  }
});

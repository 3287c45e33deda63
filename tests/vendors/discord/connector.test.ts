// Discord's connector against a server of its published contract.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDiscordConnector } from '../../../services/toolhub/src/connectors/discord/connector.ts';
import { closeTestContexts } from '../../../services/toolhub/src/connectors/test/tool-runner.ts';
import { tryFaults } from '../connector-faults.ts';
import { NOW, platformTrial } from '../platform-trial.ts';
import { tryRenewal } from '../token-endpoint.ts';
import { CHANNELS, type DiscordServer, SERVERS, startDiscord } from './server.ts';

const TOKEN = 'MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.secret-of-a-bot';
const [CHANNEL = '', OTHER = ''] = CHANNELS;
const connector = createDiscordConnector();
let server: DiscordServer;
let messageId: string;
const { context, call, all } = platformTrial(
  connector,
  () => server,
  () => ({ bot_token: TOKEN }),
);

beforeAll(async () => {
  server = await startDiscord();
  server.tokens.set(TOKEN, 'helper');
  messageId = server.addMessage(CHANNEL, 'bob', 'Hello <@80351110224678912>');
});
afterAll(async () => {
  await closeTestContexts();
  await server.stop();
});

const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id);

describe('tools', () => {
  it('lists servers and channels page by page', async () => {
    expect(idsOf(await all('discord_list_servers', { limit: 2 }))).toEqual(SERVERS);
    expect(idsOf(await all('discord_list_channels', { server_id: SERVERS[0], limit: 2 }))).toEqual(CHANNELS);
  });

  it('reads messages backwards, and forwards from a message on', async () => {
    const made = Array.from({ length: 7 }, (_, count) => server.addMessage(OTHER, 'bob', `n${count}`));
    expect(idsOf(await all('discord_get_messages', { channel_id: OTHER, limit: 3 }))).toEqual(
      made.toReversed(),
    );
    const forwards = await all<{ id: string }>('discord_get_messages', {
      channel_id: OTHER,
      after: made[1],
      limit: 2,
    });
    expect(idsOf(forwards).sort()).toEqual(made.slice(2));
    const both = call('discord_get_messages', { channel_id: OTHER, before: made[1], after: made[0] });
    await expect(both).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it.each<[string, object, object]>([
    [
      'embeds of an application, but not what Discord shows below a link',
      {
        content: 'New: https://a.test',
        embeds: [
          {
            ...{ type: 'rich', author: { name: 'GitHub' }, title: 'Release 2', description: 'Faster.' },
            ...{ fields: [{ name: 'By', value: 'ada' }, 7], footer: { text: 'today' } },
          },
          { type: 'article', title: 'A page', description: 'its text' },
        ],
      },
      { content: 'New: https://a.test\nGitHub\nRelease 2\nFaster.\nBy: ada\ntoday' },
    ],
    [
      'what was forwarded, which is no answer to it',
      {
        content: '',
        message_reference: { type: 1, message_id: '41771983429993000' },
        message_snapshots: [
          {
            message: {
              content: 'the original',
              embeds: [{ type: 'rich', title: 'with a card' }],
              attachments: [{ filename: 'a.png', url: 'https://cdn.test/a.png', size: 7 }],
            },
          },
        ],
      },
      {
        content: 'the original\nwith a card',
        attachments: [{ filename: 'a.png', url: 'https://cdn.test/a.png', size: 7 }],
        reply_to_message_id: null,
      },
    ],
    [
      'components',
      {
        content: '',
        components: [
          {
            type: 17,
            components: [
              { type: 10, content: '# Hi' },
              { type: 9, components: [{ type: 10, content: 'there' }] },
            ],
          },
          { type: 1, components: [{ type: 2, label: 'Press' }] },
        ],
      },
      { content: '# Hi\nthere' },
    ],
    [
      'a poll',
      {
        content: '',
        poll: {
          question: { text: 'Lunch?' },
          answers: [
            { answer_id: 1, poll_media: { text: 'Soup' } },
            { answer_id: 2, poll_media: { text: 'Rice' } },
          ],
        },
      },
      { content: 'Lunch?\n- Soup\n- Rice' },
    ],
    [
      'an answer',
      { content: 'yes', message_reference: { type: 0, message_id: '41771983429993000' } },
      { content: 'yes', reply_to_message_id: '41771983429993000' },
    ],
    ['nothing', { embeds: [null], components: 'x', poll: 7, message_snapshots: [{}] }, { content: '' }],
  ])('reads all that people see: %s', async (_what, said, shown) => {
    const json = [{ id: '41771983429993111', ...said }];
    server.failNext({ kind: 'reply', reply: { json } });
    expect(await call('discord_get_messages', { channel_id: CHANNEL })).toMatchObject({ items: [shown] });
  });

  it('sends with the words of the documentation, and wakes no whole server up', async () => {
    const sent = await call<{ id: string }>('discord_send_message', {
      ...{ channel_id: CHANNEL, content: '@everyone hi', reply_to_message_id: messageId },
    });
    expect(server.received.at(-1)).toMatchObject({
      ...{ method: 'POST', path: `/channels/${CHANNEL}/messages` },
      raw: JSON.stringify({
        content: '@everyone hi',
        message_reference: { message_id: messageId },
        allowed_mentions: { parse: ['users'], replied_user: true },
      }),
      headers: { authorization: `Bot ${TOKEN}`, 'user-agent': expect.stringMatching(/^DiscordBot \(/) },
    });
    const { items } = await call<{ items: unknown[] }>('discord_get_messages', { channel_id: CHANNEL });
    expect(items[0]).toMatchObject({ id: sent.id, reply_to_message_id: messageId, author_is_bot: true });
    expect(await call('discord_delete_message', { channel_id: CHANNEL, message_id: sent.id })).toEqual({
      ...{ message_id: sent.id, deleted: true },
    });
    const others = call('discord_delete_message', { channel_id: CHANNEL, message_id: messageId });
    await expect(others).rejects.toMatchObject({ platformCode: '50013' });
  });

  it('uses the nonce of the vendor: a lost answer is asked for again, and one message is there', async () => {
    const before = server.messages.length;
    const at = context({ idempotencyKey: 'key-1' });
    const first = await call('discord_send_message', { channel_id: CHANNEL, content: 'once' }, at);
    server.failNext({ kind: 'drop' });
    expect(await call('discord_send_message', { channel_id: CHANNEL, content: 'once' }, at)).toEqual(first);
    expect(server.messages.length).toBe(before + 1);
    const other = context({ idempotencyKey: 'key-2' });
    expect(await call('discord_send_message', { channel_id: CHANNEL, content: 'once' }, other)).not.toEqual(
      first,
    );
  });

  it('begins threads and reacts once, with emojis of both kinds', async () => {
    expect(await call('discord_create_thread', { channel_id: CHANNEL, name: 'talk' })).toMatchObject({
      name: 'talk',
    });
    expect(server.received.at(-1)?.raw).toBe('{"name":"talk","type":11}');
    await call('discord_create_thread', { channel_id: CHANNEL, message_id: messageId, name: 'talk' });
    expect(server.received.at(-1)?.path).toBe(`/channels/${CHANNEL}/messages/${messageId}/threads`);
    for (const emoji of ['👍', '👍', '👩🏽‍💻', '🇩🇪', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '1️⃣', 'party:41771983429993937'])
      await call('discord_add_reaction', { channel_id: CHANNEL, message_id: messageId, emoji });
    expect(server.reactions.size).toBe(6);
    const unknown = call('discord_add_reaction', {
      channel_id: CHANNEL,
      message_id: '41771983429993999',
      emoji: '👍',
    });
    await expect(unknown).rejects.toMatchObject({ code: 'platform_error', platformCode: '10008' });
  });
});

describe('a refusal', () => {
  it('[TH-5.9] names the field that Discord does not take, however deep it lies', async () => {
    const message = { channel_id: CHANNEL, content: 'hi' };
    await expect(
      call('discord_send_message', { ...message, reply_to_message_id: '41771983429993999' }),
    ).rejects.toMatchObject({
      ...{ code: 'platform_error', platformCode: '50035' },
      message: 'Discord refused: Invalid Form Body: message_reference: Unknown message',
    });
    const deep = { embeds: { 0: { title: { _errors: [{ code: 'X', message: 'Too long.' }] } } } };
    const many = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`f${at}`, { _errors: [{ message: 'no' }] }]),
    );
    const cases: [unknown, string][] = [
      [deep, 'Invalid Form Body: embeds.0.title: Too long.'],
      [{ _errors: [{ message: 'Nothing fits.' }] }, 'Invalid Form Body: Nothing fits.'],
      [many, 'Invalid Form Body: f0: no; f1: no; f2: no'],
      [[{ _errors: 'x' }], 'Invalid Form Body'],
      ['x', 'Invalid Form Body'],
    ];
    for (const [errors, said] of cases) {
      const json = { code: 50_035, message: 'Invalid Form Body', errors };
      server.failNext({ kind: 'reply', reply: { status: 400, json } });
      await expect(call('discord_send_message', message)).rejects.toThrow(`Discord refused: ${said}`);
    }
  });
});

describe('the login of a person', () => {
  const person = { access_token: 'token-of-a-person' };

  it('shows who it is and where it is a member; for messages it is told to connect a bot, before Discord is asked', async () => {
    server.people.set('token-of-a-person', 'ada');
    const at = context({ credential: person });
    expect(await call('discord_get_profile', {}, at)).toMatchObject({
      ...{ username: 'ada', display_name: 'ADA', is_bot: false },
    });
    expect(server.received.at(-1)?.headers.authorization).toBe('Bearer token-of-a-person');
    expect((await call<{ items: unknown[] }>('discord_list_servers', {}, at)).items).toHaveLength(3);
    const before = server.received.length;
    for (const [name, args] of [
      ['discord_list_channels', { server_id: SERVERS[0] }],
      ['discord_get_messages', { channel_id: CHANNEL }],
      ['discord_send_message', { channel_id: CHANNEL, content: 'x' }],
      ['discord_create_thread', { channel_id: CHANNEL, name: 'x' }],
      ['discord_add_reaction', { channel_id: CHANNEL, message_id: messageId, emoji: '👍' }],
      ['discord_delete_message', { channel_id: CHANNEL, message_id: messageId }],
    ] as const)
      await expect(call(name, args, at)).rejects.toMatchObject({ platformCode: 'bot_required' });
    expect(server.received.length).toBe(before);
    expect(await connector.verify(at)).toMatchObject({ kind: 'accepted', account: 'ada' });
    expect(connector.isRefreshable?.({ bot_token: TOKEN }, () => null)).toBe(false);
    expect(connector.expiresAt?.({ bot_token: TOKEN })).toBeNull();
  });

  tryRenewal({
    ...{ connector, context, now: NOW, path: '/oauth2/token' },
    ...{ server: () => server, endpoint: () => server.endpoint },
  });
});

describe('the account', () => {
  it('is checked, named and probed', async () => {
    expect(await connector.verify(context())).toMatchObject({ kind: 'accepted', account: 'helper' });
    const wrong = context({ credential: { bot_token: 'wrong' } });
    expect(await connector.verify(wrong)).toMatchObject({ kind: 'rejected' });
    expect(await connector.health(context())).toEqual({ status: 'ok', message: null, account: 'helper' });
    expect(await connector.health(wrong)).toMatchObject({ status: 'token_expired' });
  });
});

describe('faults', () => {
  tryFaults({
    connector,
    server: () => server,
    context,
    samples: {
      discord_get_profile: () => ({}),
      discord_list_servers: () => ({}),
      discord_list_channels: () => ({ server_id: SERVERS[0] }),
      discord_get_messages: () => ({ channel_id: CHANNEL }),
      discord_send_message: () => ({ channel_id: CHANNEL, content: 'hello', reply_to_message_id: messageId }),
      discord_create_thread: () => ({ channel_id: CHANNEL, message_id: messageId, name: 'talk' }),
      discord_add_reaction: () => ({ channel_id: CHANNEL, message_id: messageId, emoji: '👍' }),
      discord_delete_message: () => ({
        channel_id: CHANNEL,
        message_id: server.addMessage(CHANNEL, 'helper', 'mine'),
      }),
    },
    local: ['discord_list_received_messages'],
    tokenRefusal: { status: 401, json: { message: '401: Unauthorized', code: 0 } },
    slowDown: {
      reply: {
        ...{ status: 429, headers: { 'retry-after': '65' } },
        json: { message: 'You are being rate limited.', retry_after: 64.57, global: false },
      },
      seconds: 65,
    },
    refusal: {
      reply: { status: 403, json: { message: `Missing Access ${TOKEN}`, code: 50_001 } },
      code: '50001',
    },
    meanings: [
      [{ status: 401 }, { code: 'token_expired' }],
      [
        { status: 429, headers: { 'retry-after': '7' } },
        { code: 'rate_limited', retryAfterSeconds: 7 },
      ],
      [{ status: 404, json: { message: '404: Not Found', code: 0 } }, { platformCode: '404' }],
      [{ status: 502, json: { message: 'x', code: 50_001 } }, { code: 'platform_unavailable' }],
      [{ status: 302, json: { message: 'x', code: 50_001 } }, { code: 'platform_unavailable' }],
    ],
    secrets: [TOKEN],
  });
});

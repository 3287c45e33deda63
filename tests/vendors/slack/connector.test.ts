// Slack's connector against a server of its published contract.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSlackConnector } from '../../../services/toolhub/src/connectors/slack/connector.ts';
import { closeTestContexts } from '../../../services/toolhub/src/connectors/test/tool-runner.ts';
import { tryFaults } from '../connector-faults.ts';
import { NOW, platformTrial } from '../platform-trial.ts';
import { tryRenewal } from '../token-endpoint.ts';
import { CHANNELS, type SlackServer, startSlack } from './server.ts';

const TOKEN = 'xoxp-secret-token-1';
const [CHANNEL = ''] = CHANNELS;
const connector = createSlackConnector();
let server: SlackServer;
let ts: string;
const { context, call, all } = platformTrial(
  connector,
  () => server,
  () => ({ access_token: TOKEN }),
);

beforeAll(async () => {
  server = await startSlack();
  server.tokens.set(TOKEN, { user: 'ada', kind: 'user' });
  server.tokens.set('xoxb-bot', { user: 'bot', kind: 'bot' });
  ts = server.addMessage(CHANNEL, 'U2', 'Hello <@U1> & all');
  for (let count = 0; count < 450; count += 1)
    server.addUser(
      `U${1_000 + count}`,
      count % 150 === 0 ? `grace${count}` : `person${count}`,
      `p${count}@example.com`,
    );
});
afterAll(async () => {
  await closeTestContexts();
  await server.stop();
});

describe('tools', () => {
  it('lists channels and reads messages page by page, to the last', async () => {
    expect((await all<{ id: string }>('slack_list_channels', { limit: 2 })).map(({ id }) => id)).toEqual(
      CHANNELS,
    );
    const made = Array.from({ length: 7 }, (_, count) => server.addMessage('C0RANDOM01', 'U2', `n${count}`));
    const seen = await all<{ ts: string }>('slack_get_messages', { channel: 'C0RANDOM01', limit: 3 });
    expect(seen.map((message) => message.ts)).toEqual(made.toReversed());
    const some = await all<{ ts: string }>('slack_get_messages', {
      ...{ channel: 'C0RANDOM01', oldest: made[2], latest: made[5] },
    });
    expect(some.map((message) => message.ts)).toEqual([made[4], made[3]]);
    const page = await call('slack_get_messages', { channel: 'C0RANDOM01', limit: 1 });
    expect(page).toMatchObject({ untrusted_content: true });
    // Of a stretch without an end, too, the newest come first.
    const news = { channel: 'C0RANDOM01', oldest: made[1], limit: 2 };
    expect((await all<{ ts: string }>('slack_get_messages', news)).map(({ ts }) => ts)).toEqual(
      made.slice(2).toReversed(),
    );
    const ends = server.received.slice(-3).map(({ query }) => query.get('latest'));
    expect(new Set(ends)).toEqual(new Set([String(NOW.getTime() / 1_000 + 60)]));
  });

  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });
  const rich = (...elements: object[]) => ({
    type: 'rich_text',
    elements: [{ type: 'rich_text_section', elements }],
  });
  it.each<[string, object, string]>([
    [
      'attachments of an alert',
      {
        text: '',
        attachments: [
          {
            ...{ pretext: 'Alert', title: 'CPU', text: '*high*', fallback: 'CPU high' },
            fields: [{ title: 'Host', value: 'web-1' }, { value: 'since 10:00' }, 7],
          },
          { fallback: 'and this' },
          { fallback: '[no preview available]', blocks: [section('deployed')] },
        ],
      },
      'Alert\nCPU\n*high*\nHost: web-1\nsince 10:00\nand this\ndeployed',
    ],
    [
      'text and an attachment, but not what Slack shows below a link',
      {
        text: 'see <https://a.test>',
        attachments: [
          { text: 'more' },
          { from_url: 'https://a.test', original_url: 'https://a.test', title: 'A page', text: 'its text' },
        ],
      },
      'see <https://a.test>\nmore',
    ],
    [
      'a message that was forwarded',
      {
        attachments: [
          { is_share: true, from_url: 'https://x.slack.com/archives/C1/p1', text: 'the original' },
        ],
      },
      'the original',
    ],
    [
      'blocks alone',
      {
        text: '',
        blocks: [
          { type: 'header', text: { type: 'plain_text', text: 'Build 7' } },
          { ...section('passed'), fields: [{ type: 'mrkdwn', text: 'by <@U1>' }] },
          {
            type: 'context',
            elements: [
              { type: 'mrkdwn', text: 'main' },
              { type: 'image', alt_text: 'x' },
            ],
          },
          rich(
            { type: 'text', text: 'Hi ' },
            { type: 'user', user_id: 'U2' },
            { type: 'emoji', name: 'wave' },
            { type: 'link', url: 'https://b.test' },
          ),
          { type: 'markdown', text: '**done**' },
        ],
      },
      'Build 7\npassed\nby <@U1>\nmain\nHi <@U2>:wave:https://b.test\n**done**',
    ],
    ['text, whatever its blocks say', { text: 'hello', blocks: [section('hello')] }, 'hello'],
    ['nothing', { text: '', blocks: 'x', attachments: [null, 'x', {}] }, ''],
  ])('reads all that people see: %s', async (_what, said, text) => {
    const message = { type: 'message', ts: '1700000000.000100', ...said };
    server.failNext({ kind: 'reply', reply: { json: { ok: true, messages: [message] } } });
    expect(await call('slack_get_messages', { channel: CHANNEL })).toMatchObject({ items: [{ text }] });
    const found = { ok: true, messages: { matches: [message] } };
    server.failNext({ kind: 'reply', reply: { json: found } });
    expect(await call('slack_search_messages', { query: 'x' })).toMatchObject({ items: [{ text }] });
  });

  it('reads blocks of any depth and number in a moment', async () => {
    let deep: object = { type: 'text', text: 'x' };
    for (let depth = 0; depth < 300; depth += 1) deep = { type: 'section', elements: [deep] };
    const message = {
      ts: '1700000000.000100',
      text: '',
      blocks: [deep, ...Array.from({ length: 20_000 }, () => section('y'))],
    };
    server.failNext({ kind: 'reply', reply: { json: { ok: true, messages: [message] } } });
    const { items } = await call<{ items: { text: string }[] }>('slack_get_messages', { channel: CHANNEL });
    expect(items[0]?.text.length).toBeLessThan(1_000);
  });

  it('sends with the words of the documentation, answers in a thread, and deletes', async () => {
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: '*hi*' } }];
    const sent = await call<{ ts: string }>('slack_send_message', {
      ...{ channel: CHANNEL, text: 'answer', thread_ts: ts, blocks },
    });
    expect(server.received.at(-1)).toMatchObject({
      ...{ method: 'POST', path: '/chat.postMessage' },
      raw: JSON.stringify({ channel: CHANNEL, text: 'answer', thread_ts: ts, blocks }),
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json; charset=utf-8' },
    });
    const thread = await all<{ ts: string }>('slack_get_thread', { channel: CHANNEL, thread_ts: ts });
    expect(thread.map((message) => message.ts)).toEqual([ts, sent.ts]);
    expect(await call('slack_delete_message', { channel: CHANNEL, ts: sent.ts })).toMatchObject({
      deleted: true,
    });
    await expect(call('slack_delete_message', { channel: CHANNEL, ts })).rejects.toMatchObject({
      ...{ code: 'platform_error', platformCode: 'cant_delete_message' },
    });
  });

  it.each(['fatal_error', 'internal_error'])(
    'leaves open what Slack may have done before it failed: %s',
    async (error) => {
      const meet = (status: number) =>
        server.failNext({ kind: 'reply', reply: { status, json: { ok: false, error } } });
      const failed = { code: 'platform_unavailable', message: expect.stringContaining(error) };
      const open = { ...failed, outcomeOpen: true };
      for (const [tool, args] of [
        ['slack_send_message', { channel: CHANNEL, text: 'hi' }],
        ['slack_delete_message', { channel: CHANNEL, ts: server.addMessage(CHANNEL, 'ada', 'mine') }],
      ] as const)
        for (const status of [200, 500]) {
          const before = server.received.length;
          meet(status);
          await expect(call(tool, args), tool).rejects.toMatchObject(open);
          expect(server.received.length - before).toBe(1);
        }
      const emoji = 'eyes';
      meet(200);
      server.failNext({ kind: 'reply', reply: { json: { ok: false, error: 'channel_not_found' } } });
      await expect(call('slack_add_reaction', { channel: CHANNEL, ts, emoji })).rejects.toMatchObject({
        outcomeOpen: true,
      });
      meet(200);
      meet(200);
      await expect(call('slack_list_channels', {})).rejects.toMatchObject({ ...failed, outcomeOpen: false });
    },
  );

  it('writes to people of every kind of workspace', async () => {
    for (const person of ['U0123456789', 'W0123456789']) {
      const json = { ok: true, channel: 'D0123456789', ts: '1700000000.000100' };
      server.failNext({ kind: 'reply', reply: { json } });
      expect(await call('slack_send_message', { channel: person, text: 'hi' })).toMatchObject({
        channel: 'D0123456789',
      });
    }
  });

  it('reacts once, however often it is asked', async () => {
    for (const emoji of ['thumbsup', ':thumbsup:'])
      expect(await call('slack_add_reaction', { channel: CHANNEL, ts, emoji })).toEqual({
        ...{ channel: CHANNEL, ts, emoji: 'thumbsup' },
      });
    expect(server.reactions.size).toBe(1);
  });

  it('reacts with the emoji of a workspace, whatever script they are named in, and no other text', async () => {
    const react = (emoji: string) => call('slack_add_reaction', { channel: CHANNEL, ts, emoji });
    const names = [
      'いいね',
      'サーバー',
      '感謝',
      'спасибо',
      'größe',
      'हाँ',
      'شكرا',
      '좋아요_2',
      'ー'.repeat(100),
    ];
    for (const emoji of [...names, '+1', '-1', "o'clock", 'wave::skin-tone-3']) {
      expect(await react(`:${emoji}:`)).toMatchObject({ emoji });
      expect(server.reactions).toContain(`${ts} ${emoji}`);
    }
    for (const emoji of [
      '',
      '::',
      'Привет',
      'a b',
      'a.b',
      'a:b',
      '👍',
      'ー'.repeat(101),
      'wave::skin-tone-9',
    ])
      await expect(react(emoji), emoji).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('searches as a person; a bot is told why not', async () => {
    for (let count = 0; count < 5; count += 1) server.addMessage(CHANNEL, 'U2', `needle ${count}`);
    const found = await all<{ text: string }>('slack_search_messages', { query: 'needle', limit: 2 });
    expect(found.map(({ text }) => text)).toEqual([4, 3, 2, 1, 0].map((count) => `needle ${count}`));
    const bot = context({ credential: { access_token: 'xoxb-bot' } });
    await expect(call('slack_search_messages', { query: 'needle' }, bot)).rejects.toMatchObject({
      platformCode: 'not_allowed_token_type',
    });
  });

  it('goes on with a search where it was, also with another limit', async () => {
    for (let count = 0; count < 7; count += 1) server.addMessage(CHANNEL, 'U2', `thimble ${count}`);
    const found: string[] = [];
    let cursor: string | null = null;
    for (const limit of [3, 1, 10, 10]) {
      const args = { query: 'thimble', limit, ...(cursor === null ? {} : { cursor }) };
      const page: { items: { text: string }[]; next_cursor: string | null } = await call(
        'slack_search_messages',
        args,
      );
      expect(page.items.length).toBeLessThanOrEqual(limit);
      found.push(...page.items.map(({ text }) => text));
      cursor = page.next_cursor;
    }
    expect(found).toEqual([6, 5, 4, 3, 2, 1, 0].map((count) => `thimble ${count}`));
    expect(cursor).toBeNull();
  });

  it('finds people by name over the whole directory, and by address', async () => {
    const found = await all<{ name: string }>('slack_find_users', { query: '@Grace', limit: 1 });
    expect(found.map(({ name }) => name)).toEqual(['grace0', 'grace150', 'grace300']);
    expect(await all('slack_find_users', { query: 'p7@example.com' })).toMatchObject([{ id: 'U1007' }]);
    expect(await all('slack_find_users', { query: 'nobody@example.com' })).toEqual([]);
  });

  it('[TH-5.9] says what is wrong with blocks and arguments', async () => {
    const refused = (json: object) =>
      server.failNext({ kind: 'reply', reply: { json: { ok: false, ...json } } });
    const send = () =>
      call('slack_send_message', { channel: CHANNEL, text: 'x', blocks: [{ type: 'section' }] });
    const fault = 'must be less than 3001 characters [json-pointer:/blocks/1/text/text]';
    const messages = [`[ERROR] ${fault}`, '[ERROR] missing required field: text', 7];
    refused({ error: 'invalid_blocks', errors: [fault], response_metadata: { messages } });
    await expect(send()).rejects.toMatchObject({
      ...{ code: 'platform_error', platformCode: 'invalid_blocks' },
      message: `Slack refused: invalid_blocks: ${fault}; missing required field: text`,
    });
    for (const response_metadata of [undefined, { messages: 'x' }, { messages: [{}] }]) {
      refused({ error: 'invalid_arguments', response_metadata });
      await expect(send()).rejects.toThrow(/^Slack refused: invalid_arguments$/);
    }
  });

  it('says which scope is missing', async () => {
    const json = { ok: false, error: 'missing_scope', needed: 'chat:write', provided: 'users:read' };
    server.failNext({ kind: 'reply', reply: { json } });
    await expect(call('slack_send_message', { channel: CHANNEL, text: 'x' })).rejects.toMatchObject({
      ...{ platformCode: 'missing_scope', message: expect.stringContaining('chat:write') },
    });
  });
});

describe('the account', () => {
  it('is checked, named and probed', async () => {
    expect(await connector.verify(context())).toMatchObject({ kind: 'accepted', account: 'ada in Team' });
    const wrong = context({ credential: { access_token: 'wrong' } });
    expect(await connector.verify(wrong)).toMatchObject({ kind: 'rejected' });
    expect(await connector.health(context())).toEqual({
      status: 'ok',
      message: null,
      account: 'ada in Team',
    });
    expect(await connector.health(wrong)).toMatchObject({ status: 'token_expired' });
    // Ids are no made-up names.
    server.failNext({ kind: 'reply', reply: { json: { ok: true, user_id: 'U1', team_id: 'T1' } } });
    expect(await connector.health(context())).toMatchObject({ status: 'ok', account: 'U1 in T1' });
  });

  it('is made of the tokens of the person where the app has a bot, too', async () => {
    const [login] = connector.auth.providers ?? [];
    const client = { clientId: 'c', clientSecret: null, authorizeUrl: null, tokenUrl: null };
    const grant = (answer: Record<string, unknown>) =>
      login?.toCredential({
        answer,
        client,
        server: null,
        now: NOW,
        fetch: () => Promise.reject(new Error('not called')),
      });
    const person = { access_token: 'xoxp-1', refresh_token: 'xoxe-1', expires_in: 43_200 };
    const credential = {
      access_token: 'xoxp-1',
      refresh_token: 'xoxe-1',
      expires_at: '2026-11-16T00:00:00.000Z',
    };
    expect(await grant({ ok: true, access_token: 'xoxb-1', authed_user: { id: 'U1', ...person } })).toEqual(
      credential,
    );
    expect(await grant({ ok: true, ...person })).toEqual(credential);
  });

  tryRenewal({
    ...{ connector, context, now: NOW, path: '/oauth.v2.access' },
    ...{ server: () => server, endpoint: () => server.endpoint },
  });
});

describe('faults', () => {
  tryFaults({
    connector,
    server: () => server,
    context,
    samples: {
      slack_list_channels: () => ({}),
      slack_get_messages: () => ({ channel: CHANNEL }),
      slack_get_thread: () => ({ channel: CHANNEL, thread_ts: ts }),
      slack_search_messages: () => ({ query: 'hello' }),
      slack_find_users: () => ({ query: 'grace' }),
      slack_send_message: () => ({ channel: CHANNEL, text: 'hello', thread_ts: ts }),
      slack_add_reaction: () => ({ channel: CHANNEL, ts, emoji: 'eyes' }),
      slack_delete_message: () => ({ channel: CHANNEL, ts: server.addMessage(CHANNEL, 'ada', 'mine') }),
    },
    local: ['slack_list_received_messages'],
    tokenRefusal: { json: { ok: false, error: 'token_expired' } },
    slowDown: {
      reply: { status: 429, json: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': '17' } },
      seconds: 17,
    },
    refusal: { reply: { json: { ok: false, error: 'channel_not_found' } }, code: 'channel_not_found' },
    meanings: [
      ...['invalid_auth', 'token_revoked', 'account_inactive', 'not_authed'].map(
        (error) => [{ json: { ok: false, error } }, { code: 'token_expired' }] as const,
      ),
      ...['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'].map(
        (error) => [{ json: { ok: false, error } }, { code: 'platform_unavailable' }] as const,
      ),
      ...['ratelimited', 'rate_limited'].map(
        (error) =>
          [
            { json: { ok: false, error }, headers: { 'retry-after': '5' } },
            { code: 'rate_limited', retryAfterSeconds: 5 },
          ] as const,
      ),
      [{ status: 429 }, { code: 'rate_limited', retryAfterSeconds: 30 }],
      [{ status: 429, json: { ok: false, error: 'message_limit' } }, { code: 'rate_limited' }],
      [{ status: 500, json: { ok: false, error: 'invalid_auth' } }, { code: 'platform_unavailable' }],
      [{ json: { ok: false } }, { code: 'platform_error', platformCode: '200' }],
    ],
    secrets: [TOKEN],
  });
});

import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { tryIds } from '../../../../../tests/vendors/connector-faults.ts';
import { migrationSource } from '../../schema.ts';
import type { ToolContext } from '../connector.ts';
import { closeTestContexts, runTool, type TestContextInput, testContext } from '../test/tool-runner.ts';
import { encodeCursor } from '../vendor-api/cursor.ts';
import { createTelegramConnector } from './connector.ts';
import type { TelegramMessage } from './message.ts';
import { type BotApiServer, startBotApi } from './test/bot-api-server.ts';

const SECRET = 'AAE_abcdefghijklmnopqrstuvwxyz012345';
const FIRST_MESSAGE_SECONDS = 1_793_500_000;
/** Messages are kept for ninety days, so the tests live in the days of theirs. */
const now = () => new Date((FIRST_MESSAGE_SECONDS + 86_400) * 1_000);
const connector = createTelegramConnector();
let api: BotApiServer;
let db: TestDatabase;
let token: string;
let nextBot = 100;

beforeAll(async () => {
  [api, db] = await Promise.all([startBotApi(), createTestDatabase(migrationSource)]);
});
beforeEach(() => {
  token = `${nextBot++}:${SECRET}`;
  api.addBot(token, 'test_bot');
  api.addChat({ id: 77, type: 'private', first_name: 'Ann', last_name: 'Lee', username: 'ann_lee' });
  api.addChat({ id: -1001, type: 'supergroup', title: 'Ops', username: 'ops_room', description: 'Alarms' });
  api.calls.length = 0;
  api.setUpdateDelay(0);
});
afterAll(async () => {
  await closeTestContexts();
  await Promise.all([api.stop(), db.drop()]);
});

function context(overrides: Partial<TestContextInput> = {}): ToolContext {
  return testContext({
    platform: 'telegram',
    credential: { bot_token: token },
    allow: [new URL(api.url).host],
    baseUrl: api.url,
    database: db.database,
    now,
    ...overrides,
  });
}

const call = <Result = Record<string, unknown>>(
  name: string,
  args: Record<string, unknown>,
  at = context(),
) => runTool<Result>(connector, name, { args, context: at });

type Page = { items: TelegramMessage[]; next_cursor: string | null };

function text(messageId: number, content: string, more: Record<string, unknown> = {}) {
  return {
    message_id: messageId,
    date: FIRST_MESSAGE_SECONDS + messageId,
    chat: { id: 77, type: 'private', first_name: 'Ann', username: 'ann_lee' },
    from: { id: 77, is_bot: false, first_name: 'Ann', username: 'ann_lee' },
    text: content,
    ...more,
  };
}

describe('sending', () => {
  it('sends, replies, edits and deletes', async () => {
    const sent = await call('telegram_send_message', {
      chat_id: 77,
      text: '<b>hi</b>',
      parse_mode: 'HTML',
      reply_to_message_id: 5,
    });
    expect(sent).toEqual({ message_id: expect.any(Number), chat_id: 77, date: '2026-11-02T06:13:20.000Z' });
    expect(api.calls.at(-1)).toEqual({
      method: 'sendMessage',
      token,
      parameters: { chat_id: 77, text: '<b>hi</b>', parse_mode: 'HTML', reply_parameters: { message_id: 5 } },
    });
    const target = { chat_id: 77, message_id: sent.message_id };
    expect(await call('telegram_edit_message', { ...target, text: 'new' })).toMatchObject({ edited: true });
    expect(await call('telegram_edit_message', { ...target, text: 'new' })).toMatchObject({ edited: false });
    expect(await call('telegram_delete_message', target)).toMatchObject({ deleted: true });
    await expect(call('telegram_delete_message', target)).rejects.toMatchObject({
      code: 'platform_error',
      platformCode: '400',
    });
  });

  it('sends every kind of media by address', async () => {
    for (const kind of ['photo', 'video', 'animation', 'audio', 'voice', 'document']) {
      await call('telegram_send_media', {
        chat_id: '@ops_room',
        kind,
        url: 'https://files.example/a',
        caption: 'c',
      });
      const last = api.calls.at(-1);
      expect(last?.method).toBe(`send${kind.charAt(0).toUpperCase()}${kind.slice(1)}`);
      expect(last?.parameters).toEqual({
        chat_id: '@ops_room',
        [kind]: 'https://files.example/a',
        caption: 'c',
      });
    }
    await expect(
      call('telegram_send_media', { chat_id: 1, kind: 'photo', url: 'file:///etc/passwd' }),
    ).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });

  it('looks up chats', async () => {
    expect(await call('telegram_get_chat', { chat_id: '@Ops_Room' })).toMatchObject({
      id: -1001,
      type: 'supergroup',
      title: 'Ops',
      description: 'Alarms',
      untrusted_content: true,
    });
    await expect(call('telegram_get_chat', { chat_id: 404 })).rejects.toMatchObject({
      code: 'platform_error',
      platformCode: '400',
      message: expect.stringContaining('chat not found'),
    });
  });
});

describe('received messages', () => {
  it('come from our store, newest first, with edits in place and Telegram confirmed', async () => {
    api.push(token, { message: text(1, 'one') });
    api.push(token, { message: text(2, 'two', { reply_to_message: text(1, 'one') }) });
    api.push(token, { edited_message: text(1, 'one!', { edit_date: 1_793_500_100 }) });
    api.push(token, {
      channel_post: text(3, '', { text: undefined, photo: [{}], caption: 'look', from: undefined }),
    });
    api.push(token, { my_chat_member: { anything: true } });
    api.push(token, { message: { message_id: 'not what the documentation says' } });
    const page = await call<Page>('telegram_list_messages', {});
    expect(page.items.map((message) => [message.message_id, message.text, message.media])).toEqual([
      [3, 'look', 'photo'],
      [2, 'two', null],
      [1, 'one!', null],
    ]);
    expect(page.items[1]).toMatchObject({
      reply_to_message_id: 1,
      from: { name: 'Ann', username: 'ann_lee' },
    });
    expect(page.items[2]?.edited_at).not.toBeNull();
    expect(page).toMatchObject({ next_cursor: null, untrusted_content: true });
    expect(api.waiting(token)).toBe(0);
    const again = await call<Page>('telegram_list_messages', {});
    expect(again.items).toEqual(page.items);
  });

  it('that nothing can store as they are never keep back those behind them', async () => {
    api.push(token, {
      message: text(50, 'nul \0 in it', { from: { id: 9, first_name: 'A\0', last_name: '\ud800' } }),
    });
    api.push(token, { message: text(51, 'half \ud83d') });
    api.push(token, { message: text(52, 'far away', { date: 9e14 }) });
    api.push(token, { message: text(53, 'plain') });
    const page = await call<Page>('telegram_list_messages', { limit: 3 });
    const received = new Map(page.items.map((message) => [message.message_id, message.text]));
    expect([received.get(50), received.get(51), received.get(52), received.get(53)]).toEqual([
      'nul \ufffd in it',
      'half \ufffd',
      undefined,
      'plain',
    ]);
    expect(api.waiting(token)).toBe(0);
  });

  it('are read to the end, filtered and paged', async () => {
    for (let index = 1; index <= 250; index += 1) api.push(token, { message: text(index, `m${index}`) });
    const chat = { id: -1001, type: 'supergroup', title: 'Ops', username: 'Ops_Room' };
    api.push(token, { message: text(900, 'elsewhere', { chat }) });
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = await call('telegram_list_messages', {
        chat_id: 77,
        limit: 100,
        ...(cursor === null ? {} : { cursor }),
      });
      seen.push(...page.items.map(({ message_id }) => message_id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(Array.from({ length: 250 }, (_, index) => 250 - index));
    expect(api.calls.filter(({ method }) => method === 'getUpdates')).toHaveLength(4);
    for (const chat_id of ['@ops_room', -1001, '-1001']) {
      const there = await call<Page>('telegram_list_messages', { chat_id });
      expect(there.items.map((message) => message.text)).toEqual(['elsewhere']);
    }
    const since = new Date((FIRST_MESSAGE_SECONDS + 249) * 1_000).toISOString();
    const late = await call<Page>('telegram_list_messages', { chat_id: 77, since });
    expect(late.items.map(({ message_id }) => message_id)).toEqual([250, 249]);
    const made = { sentAt: '2026-01-01T00:00:00Z', chatId: 1, messageId: 1 };
    for (const wrong of [{ sentAt: '2026' }, { chatId: 1e300 }, { messageId: 0.5 }])
      await expect(
        call('telegram_list_messages', { cursor: encodeCursor({ ...made, ...wrong }) }),
      ).rejects.toMatchObject({ code: 'invalid_arguments' });
    const leap = await call<Page>('telegram_list_messages', { since: '2016-12-31T23:59:60Z', limit: 1 });
    expect(leap.items).toHaveLength(1);
    await expect(call('telegram_list_messages', { cursor: 'eyJhIjoxfQ' })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });

  it('lets one reader at the stream however many ask, and all see what it brought', async () => {
    api.setUpdateDelay(50);
    api.push(token, { message: text(1, 'shared') });
    const pages = await Promise.all(
      Array.from({ length: 8 }, () => call<Page>('telegram_list_messages', {})),
    );
    for (const page of pages) expect(page.items.map((message) => message.text)).toEqual(['shared']);
  });

  it('keeps what was stored when the next call to Telegram fails', async () => {
    for (let index = 1; index <= 3; index += 1) api.push(token, { message: text(index, `kept ${index}`) });
    await call<Page>('telegram_list_messages', {});
    api.failNext({ kind: 'status', status: 502 }, 'getUpdates');
    await expect(call('telegram_list_messages', {})).rejects.toMatchObject({
      ...{ code: 'platform_unavailable', outcomeOpen: false },
    });
    expect((await call<Page>('telegram_list_messages', {})).items).toHaveLength(3);
  });

  it('are not lost when Telegram numbers anew after a week of silence', async () => {
    api.renumber(token, 900_000);
    api.push(token, { message: text(1, 'before') });
    await call<Page>('telegram_list_messages', {});
    api.renumber(token, 400);
    api.push(token, { message: text(2, 'a week later') });
    api.push(token, { edited_message: text(1, 'edited', { edit_date: 1_793_600_000 }) });
    const later = context({ now: () => new Date(now().getTime() + 8 * 86_400_000) });
    const page = await call<Page>('telegram_list_messages', {}, later);
    expect(page.items.map((message) => message.text)).toEqual(['a week later', 'edited']);
    api.push(token, { message: text(3, 'and on') });
    const again = context({ now: () => new Date(now().getTime() + 8 * 86_400_000 + 60_000) });
    expect((await call<Page>('telegram_list_messages', {}, again)).items).toHaveLength(3);
    expect(api.calls.at(-1)?.parameters.offset).toBe(403);
  });

  it('belong to the customer who received them', async () => {
    api.push(token, { message: text(1, 'private') });
    expect(
      (await call<Page>('telegram_list_messages', {}, context({ customerId: 'cus_a' }))).items,
    ).toHaveLength(1);
    expect((await call<Page>('telegram_list_messages', {}, context({ customerId: 'cus_b' }))).items).toEqual(
      [],
    );
    expect((await call<Page>('telegram_list_messages', {}, context({ customerId: null }))).items).toEqual([]);
    await db.database.transaction(async (tx) => connector.forget?.(tx, 'cus_a'));
    expect((await call<Page>('telegram_list_messages', {}, context({ customerId: 'cus_a' }))).items).toEqual(
      [],
    );
  });

  it('are forgotten after their time', async () => {
    api.push(token, { message: text(1, 'old') });
    const later = () => new Date((FIRST_MESSAGE_SECONDS + 91 * 86_400) * 1_000);
    expect((await call<Page>('telegram_list_messages', {}, context({ now: later }))).items).toEqual([]);
  });
});

describe('updates by webhook', () => {
  const inboundUrl = 'https://hub.example.com/webhooks/telegram';
  const told: string[] = [];
  const collect = (at: ToolContext) =>
    connector.collect?.(
      at,
      async (_tx, data) => void told.push((data.message as TelegramMessage).text ?? ''),
    );
  const receive = (payload: unknown) => {
    const { url = '', secret = '' } = api.webhook(token) ?? {};
    const hookId = url.split('/').at(-1) ?? '';
    const headers = { 'x-telegram-bot-api-secret-token': secret };
    return connector.receive?.(
      { database: db.database, hookId, headers, payload: () => payload },
      async (_tx, _customer, data) => void told.push((data.message as TelegramMessage).text ?? ''),
    );
  };
  beforeEach(() => {
    told.length = 0;
  });

  it('[TH-9.8] begin where polling ended, and end where it begins: nothing is lost, nothing is told twice', async () => {
    const [asked, sent] = [context(), context({ inboundUrl })];
    api.push(token, { message: text(1, 'polled') });
    await collect(asked);
    // Told of and stored, but not confirmed yet: Telegram has it still and sends it again.
    const [first] = [{ update_id: 1, message: text(1, 'polled') }];
    api.push(token, { message: text(2, 'waits for the webhook') });
    await collect(sent);
    expect(api.webhook(token)).toBeDefined();
    for (const update of [first, { update_id: 2, message: text(2, 'waits for the webhook') }])
      expect(await receive(update)).toEqual({ kind: 'taken', body: undefined });
    // Edits before the message that they edit, and what is no message.
    await receive({ update_id: 5, edited_message: text(3, 'edited', { edit_date: 1_793_600_000 }) });
    await receive({ update_id: 4, message: text(3, 'as it was') });
    for (const odd of [null, [], 7, { update_id: 6, poll: {} }, { message: text(8, 'without a number') }])
      expect(await receive(odd)).toEqual({ kind: 'taken', body: undefined });
    await collect(sent);
    expect(api.calls.filter(({ method }) => method === 'setWebhook')).toHaveLength(1);
    // Back to polling, though the webhook took later updates: those that wait are read.
    const hook = api.webhook(token);
    api.push(token, { message: text(4, 'after') });
    await collect(asked);
    expect([api.webhook(token), hook]).toEqual([undefined, expect.anything()]);
    expect(told).toEqual(['polled', 'waits for the webhook', 'edited', 'after']);
    const page = await call<Page>('telegram_list_messages', {});
    expect(page.items.map((message) => message.text)).toEqual([
      'after',
      'edited',
      'waits for the webhook',
      'polled',
    ]);
  });

  it('[TH-9.8] are asked for where Telegram takes no address, and the address is mended when it is lost', async () => {
    const sent = context({ inboundUrl });
    api.failNext({ kind: 'flood', retryAfter: 3 }, 'setWebhook');
    api.push(token, { message: text(1, 'asked for') });
    await collect(sent);
    expect(told).toEqual(['asked for']);
    await collect(sent);
    expect(api.webhook(token)).toBeUndefined();
    const later = () => new Date(now().getTime() + 16 * 60_000);
    await collect(context({ inboundUrl, now: later }));
    const first = api.webhook(token);
    expect(first).toBeDefined();
    await fetch(`${api.url}/bot${token}/deleteWebhook`, { method: 'POST', body: '{}' });
    await collect(context({ inboundUrl, now: () => new Date(now().getTime() + 32 * 60_000) }));
    expect(api.webhook(token)).toBeDefined();
    expect(api.webhook(token)).not.toEqual(first);
  });

  it('[TH-9.8] of a bot that was replaced by another go to nobody', async () => {
    await collect(context({ inboundUrl }));
    const credential = { bot_token: '999999:AAE_other' };
    await db.database.transaction(async (tx) =>
      connector.claim?.(tx, { customerId: 'cus_test', credential, identity: null, at: new Date() }),
    );
    expect(await receive({ update_id: 1, message: text(1, 'late') })).toEqual({
      kind: 'taken',
      body: { method: 'deleteWebhook' },
    });
    expect(told).toEqual([]);
  });
});

tryIds({
  ...{ connector, context: () => context(), asked: () => api.calls.length },
  samples: {
    telegram_get_chat: () => ({ chat_id: 77 }),
    telegram_list_messages: () => ({ chat_id: 77 }),
    telegram_send_message: () => ({ chat_id: 77, text: 'x', reply_to_message_id: 1 }),
    telegram_send_media: () => ({ chat_id: 77, kind: 'photo', url: 'https://example.com/a.png' }),
    telegram_edit_message: () => ({ chat_id: 77, message_id: 1, text: 'x' }),
    telegram_delete_message: () => ({ chat_id: 77, message_id: 1 }),
  },
});

describe('on a bad day', () => {
  const send = (at = context()) => call('telegram_send_message', { chat_id: 77, text: 'x' }, at);

  it('names each failure for what it is, and never shows the token', async () => {
    const expected = [
      [
        { kind: 'flood', retryAfter: 17 },
        { code: 'rate_limited', retryAfterSeconds: 17 },
      ],
      [{ kind: 'status', status: 502 }, { code: 'platform_unavailable' }],
      [{ kind: 'broken_json' }, { code: 'platform_unavailable' }],
      [{ kind: 'endless' }, { code: 'platform_unavailable' }],
      [{ kind: 'drop' }, { code: 'platform_unavailable' }],
    ] as const;
    for (const [failure, error] of expected) {
      api.failNext(failure);
      const caught = await send().catch((thrown: Error) => thrown as Error & Record<string, unknown>);
      expect(caught, failure.kind).toMatchObject(error);
      expect(String((caught as Error).message), failure.kind).not.toContain(SECRET);
    }
    api.revoke(token);
    await expect(send()).rejects.toMatchObject({ code: 'token_expired' });
    // Whoever reads it learns what to do.
    expect(await connector.health(context())).toEqual({
      status: 'token_expired',
      message: 'Connect the account again: Telegram does not accept the bot token.',
    });
    expect(await connector.verify(context())).toMatchObject({ kind: 'rejected' });
  });

  it('ends a call that is cancelled while Telegram is silent', async () => {
    api.failNext({ kind: 'silent' });
    const abort = new AbortController();
    const sending = send(context({ signal: abort.signal }));
    await expect.poll(() => api.calls.length).toBe(1);
    abort.abort(new Error('cancelled by the caller'));
    await expect(sending).rejects.toThrow('cancelled by the caller');
  });

  it('verifies a good token with its name', async () => {
    expect(await connector.verify(context())).toEqual({ kind: 'accepted', account: '@test_bot' });
    expect(await connector.health(context())).toEqual({ status: 'ok', message: null, account: '@test_bot' });
    api.failNext({ kind: 'flood', retryAfter: 3 });
    expect(await connector.health(context())).toEqual({
      status: 'degraded',
      message: 'Wait a little: Telegram asks to slow down.',
    });
    // What only reads is asked for a second time.
    for (let time = 0; time < 2; time += 1) api.failNext({ kind: 'status', status: 500 });
    expect(await connector.health(context())).toEqual({
      status: 'down',
      message:
        'It cannot be used now: Telegram answered 500. It is tried again by itself; if it stays so, tell the operator.',
    });
  });
});

// Telegram's connector under the faults that every platform is tried with; its tools, updates and webhooks are tried beside it
// (services/toolhub/src/connectors/telegram/connector.db.test.ts).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTelegramConnector } from '../../../services/toolhub/src/connectors/telegram/connector.ts';
import { closeTestContexts } from '../../../services/toolhub/src/connectors/test/tool-runner.ts';
import { tryFaults } from '../connector-faults.ts';
import { platformTrial } from '../platform-trial.ts';
import { startVendorServer, type VendorServer } from '../vendor-server.ts';

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';
const chat = { id: 77, type: 'private', first_name: 'Ada' };
const connector = createTelegramConnector();
const done = (result: unknown) => () => ({ json: { ok: true, result } });
const sent = done({ message_id: 5, date: 1_793_600_000, chat });
let server: VendorServer;
const { context, call } = platformTrial(
  connector,
  () => server,
  () => ({ bot_token: TOKEN }),
);

beforeAll(async () => {
  server = await startVendorServer('Telegram', {
    'POST /bot*/getChat': done(chat),
    'POST /bot*/sendMessage': sent,
    'POST /bot*/sendPhoto': sent,
    'POST /bot*/editMessageText': sent,
    'POST /bot*/deleteMessage': done(true),
  });
});
afterAll(async () => {
  await closeTestContexts();
  await server.stop();
});

it('asks with the words of the documentation', async () => {
  await call('telegram_send_message', { chat_id: '@channel', text: '*hi*', parse_mode: 'MarkdownV2' });
  expect(server.received.at(-1)).toMatchObject({
    ...{ method: 'POST', path: `/bot${TOKEN}/sendMessage` },
    raw: '{"chat_id":"@channel","text":"*hi*","parse_mode":"MarkdownV2"}',
  });
  await call('telegram_send_message', { chat_id: 77, text: 'yes', reply_to_message_id: 3 });
  expect(server.received.at(-1)?.raw).toBe('{"chat_id":77,"text":"yes","reply_parameters":{"message_id":3}}');
});

it('leaves the length of a marked-up text to Telegram, which counts it without the marks', async () => {
  const text = `<b>${'x'.repeat(4_096)}</b>`;
  await call('telegram_send_message', { chat_id: 77, text, parse_mode: 'HTML' });
  expect(JSON.parse(server.received.at(-1)?.raw ?? '')).toEqual({ chat_id: 77, text, parse_mode: 'HTML' });
  const asked = server.received.length;
  for (const args of [{ text }, { text: 'x'.repeat(32_769), parse_mode: 'HTML' }])
    await expect(call('telegram_send_message', { chat_id: 77, ...args })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  await expect(
    call('telegram_edit_message', { chat_id: 77, message_id: 5, text: 'x'.repeat(4_097) }),
  ).rejects.toMatchObject({ code: 'invalid_arguments' });
  expect(server.received.length).toBe(asked);
});

it.each([
  [{ json: { parameters: { retry_after: 0.5 } } }, 1],
  [{ json: { parameters: { retry_after: 1e300 } } }, 86_400],
  [{ json: { parameters: { retry_after: 'soon' } } }, 5],
  [{ text: 'busy', headers: { 'retry-after': '7' } }, 7],
])('waits whole seconds, a day at most: %j', async (reply, seconds) => {
  server.failNext({ kind: 'reply', reply: { status: 429, ...reply } });
  await expect(call('telegram_send_message', { chat_id: 77, text: 'x' })).rejects.toMatchObject({
    ...{ code: 'rate_limited', retryAfterSeconds: seconds },
  });
});

it('tells the new id of a group that has become a supergroup, as Telegram does beside its words', async () => {
  const description = 'Bad Request: group chat was upgraded to a supergroup chat';
  const json = {
    ok: false,
    error_code: 400,
    description,
    parameters: { migrate_to_chat_id: -1001234567890 },
  };
  server.failNext({ kind: 'reply', reply: { status: 400, json } });
  await expect(call('telegram_send_message', { chat_id: -77, text: 'x' })).rejects.toMatchObject({
    ...{ code: 'platform_error', platformCode: '400' },
    message: `Telegram refused: ${description}; its chat_id is -1001234567890 now`,
  });
});

it('does not take a message for unsent because of its date', async () => {
  const result = { message_id: 5, date: Number.MAX_SAFE_INTEGER, chat };
  server.failNext({ kind: 'reply', reply: { json: { ok: true, result } } });
  await expect(call('telegram_send_message', { chat_id: 77, text: 'x' })).rejects.toMatchObject({
    ...{ code: 'platform_unavailable', outcomeOpen: true },
  });
});

tryFaults({
  ...{ connector, context, server: () => server },
  samples: {
    telegram_get_chat: () => ({ chat_id: 77 }),
    telegram_send_message: () => ({ chat_id: 77, text: 'x', reply_to_message_id: 1 }),
    telegram_send_media: () => ({ chat_id: 77, kind: 'photo', url: 'https://example.com/a.png' }),
    telegram_edit_message: () => ({ chat_id: 77, message_id: 1, text: 'x' }),
    telegram_delete_message: () => ({ chat_id: 77, message_id: 1 }),
  },
  local: ['telegram_list_messages'],
  tokenRefusal: { status: 401, json: { ok: false, error_code: 401, description: 'Unauthorized' } },
  slowDown: {
    reply: {
      status: 429,
      json: {
        ...{ ok: false, error_code: 429, description: 'Too Many Requests: retry after 17' },
        parameters: { retry_after: 17 },
      },
    },
    seconds: 17,
  },
  meanings: [
    [
      { status: 404, json: { ok: false, error_code: 404, description: 'Not Found' } },
      { code: 'token_expired' },
    ],
    [{ json: { ok: false, error_code: 401, description: 'Unauthorized' } }, { code: 'token_expired' }],
    [{ status: 404, text: '<html>' }, { code: 'platform_unavailable' }],
    [{ status: 401 }, { code: 'platform_unavailable' }],
    [{ status: 429 }, { code: 'rate_limited', retryAfterSeconds: 5 }],
    [
      { status: 429, headers: { 'retry-after': '8' } },
      { code: 'rate_limited', retryAfterSeconds: 8 },
    ],
    [{ json: { ok: false, error_code: 500 } }, { code: 'platform_unavailable' }],
    [{ json: { result: {} } }, { code: 'platform_unavailable' }],
    [
      { status: 403, json: { ok: false, error_code: 403 } },
      { code: 'platform_error', platformCode: '403' },
    ],
  ],
  refusal: {
    reply: { status: 400, json: { ok: false, error_code: 400, description: `Bad Request ${TOKEN}` } },
    code: '400',
  },
  secrets: [TOKEN],
});

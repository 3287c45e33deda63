import { hash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { ConnectorError, type ToolContext } from '../connector.ts';
import { path } from '../vendor-api/path.ts';
import {
  boundSeconds,
  createVendorApi,
  notNow,
  refusedBy,
  retryAfterSeconds,
  serverFailed,
  slowDown,
} from '../vendor-api/request.ts';
import { fieldsOf } from '../vendor-api/shape.ts';

/*
 * The Bot API is one POST with JSON per method, so the shared guarded client does. grammY would bring a second HTTP
 * client (node-fetch) that the guard of outgoing connections does not see, for six methods.
 */

export const telegramCredentialSchema = Type.Object(
  {
    // Telegram's own form is number:text; what matters is that no character can change the path of the address.
    bot_token: Type.String({
      pattern: '^[A-Za-z0-9_:-]{1,200}$',
      'x-mismatch':
        'Must be the token as @BotFather wrote it, such as 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw.',
      description: 'Token of the bot, from @BotFather.',
    }),
  },
  {
    additionalProperties: false,
    title: 'TelegramCredential',
    examples: [{ bot_token: '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw' }],
  },
);

export type TelegramCredential = Static<typeof telegramCredentialSchema>;
export type TelegramContext = ToolContext<TelegramCredential>;

export const TELEGRAM_URL = 'https://api.telegram.org';
const RETRY_AFTER_SECONDS = 5;

const OWN_ID_BYTES = 6;

/** The number in front of the colon is the bot's id. A test server may have other tokens; they get a number of ours. */
export function botIdOf({ bot_token }: TelegramCredential): number {
  const id = /^([0-9]{1,15}):/.exec(bot_token)?.[1];
  return id === undefined ? hash('sha256', bot_token, 'buffer').readUIntBE(0, OWN_ID_BYTES) : Number(id);
}

const api = createVendorApi<TelegramCredential>({
  title: 'Telegram',
  // The token is part of the address, so no address is ever put in a message.
  baseUrl: ({ baseUrl, credential }) => `${baseUrl ?? TELEGRAM_URL}/bot${credential.bot_token}`,
  headers: () => ({}),
  secrets: ({ bot_token }) => [bot_token],
  isRefusal: ({ body }) => fieldsOf(body).ok !== true,
  explain({ status, headers, body, isRead }, said, now) {
    if (status >= 500) return undefined;
    const answer = fieldsOf(body);
    if (status === 200 && answer.ok !== false) return unreadable();
    // Telegram says of each refusal that it is one; another 404 comes from something on the way, which knows no token.
    if (status >= 400 && status !== 429 && answer.ok !== false)
      return notNow(`Telegram answered ${status}`, { isRead });
    // A proxy in front of it knows the header alone.
    const usualSeconds = headers.has('retry-after') ? retryAfterSeconds(headers, now) : RETRY_AFTER_SECONDS;
    return refusalOf(answer, { status, said, usualSeconds, isRead });
  },
});

/** Methods that only read: a lost answer may be asked for again. */
const READS: ReadonlySet<string> = new Set(['getMe', 'getChat', 'getWebhookInfo']);
/** It does away with what was stored already and no more; one at a time may ask, so that it is not repeated at once. */
const READ_ONCE = 'getUpdates';

/** Calls a method and gives its `result`. */
export async function callTelegram(
  context: TelegramContext,
  method: string,
  parameters: Record<string, unknown> = {},
): Promise<unknown> {
  const { body } = await api(context, {
    ...{ method: 'POST', path: path`/${method}`, json: parameters },
    isRead: READS.has(method) || method === READ_ONCE,
    repeatable: READS.has(method),
  });
  return fieldsOf(body).result;
}

function refusalOf(
  answer: Record<string, unknown>,
  refusal: { status: number; said: (text: unknown) => string; usualSeconds: number; isRead: boolean },
): ConnectorError {
  const { status, said, usualSeconds, isRead } = refusal;
  const code = typeof answer.error_code === 'number' ? answer.error_code : status;
  // 404 is what a token gets that no bot ever had; methods and chats that do not exist are 400.
  if (code === 401 || code === 404)
    return new ConnectorError('token_expired', 'Telegram does not accept the bot token');
  if (code === 429) {
    const { retry_after } = fieldsOf(answer.parameters);
    return slowDown('Telegram', typeof retry_after === 'number' ? boundSeconds(retry_after) : usualSeconds);
  }
  if (code >= 500) return serverFailed('Telegram', { status: code, body: answer, isRead });
  if (code >= 300 && code < 400)
    return notNow('Telegram answered with a redirect, which is not followed', { isRead });
  return refusedBy('Telegram', `${said(answer.description)}${movedTo(answer)}`, String(code));
}

/** A group that has become a supergroup has another id, which Telegram tells beside its words. */
function movedTo({ parameters }: Record<string, unknown>): string {
  const { migrate_to_chat_id: chatId } = fieldsOf(parameters);
  return Number.isSafeInteger(chatId) ? `; its chat_id is ${chatId} now` : '';
}

/** Whether Telegram refused because nothing would change: what was asked for is already so. */
export function isNotModified(error: unknown): boolean {
  return (
    error instanceof ConnectorError &&
    error.platformCode === '400' &&
    /message is not modified/i.test(error.message)
  );
}

type Fields = Record<string, unknown>;

export function asObject(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw unreadable();
}

/** It answered, so it may well have done what it was asked for. */
function unreadable(): ConnectorError {
  return new ConnectorError(
    'platform_unavailable',
    'Telegram sent an answer of another shape than it documents',
    { outcomeOpen: true },
  );
}

/** What people write may hold characters that no storage takes; a mark stands in for them, as in any editor. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd').toWellFormed() : null;
}

export function integerOf(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw unreadable();
}

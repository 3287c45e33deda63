import { hash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { ConnectorError, type ToolContext } from '../connector.ts';
import { readJsonAnswer } from '../vendor-api/answer.ts';

/*
 * The Bot API is one POST with JSON per method, so the shared guarded client does. grammY would bring a second HTTP
 * client (node-fetch) that the guard of outgoing connections does not see, for six methods.
 */

export const telegramCredentialSchema = Type.Object(
  {
    // Telegram's own form is number:text; what matters is that no character can change the path of the address.
    bot_token: Type.String({
      pattern: '^[A-Za-z0-9_:-]{1,200}$',
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
const DESCRIPTION_LENGTH_MAX = 300;
const RETRY_AFTER_SECONDS = 5;

const OWN_ID_BYTES = 6;

/** The number in front of the colon is the bot's id. A test server may have other tokens; they get a number of ours. */
export function botIdOf({ bot_token }: TelegramCredential): number {
  const id = /^([0-9]{1,15}):/.exec(bot_token)?.[1];
  return id === undefined ? hash('sha256', bot_token, 'buffer').readUIntBE(0, OWN_ID_BYTES) : Number(id);
}

/** Calls a method and gives its `result`. The token is part of the address, so no address is ever put in a message. */
export async function callTelegram(
  context: TelegramContext,
  method: string,
  parameters: Record<string, unknown> = {},
): Promise<unknown> {
  const url = `${context.baseUrl ?? TELEGRAM_URL}/bot${context.credential.bot_token}/${method}`;
  const response = await context.fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(parameters),
  });
  if (response.status >= 500) {
    throw new ConnectorError('platform_unavailable', `Telegram answered ${response.status}`);
  }
  const answer = await readJsonAnswer(response, 'Telegram');
  if (answer.ok === true) return answer.result;
  throw asConnectorError(answer, response.status);
}

function asConnectorError(answer: Record<string, unknown>, status: number): ConnectorError {
  const code = typeof answer.error_code === 'number' ? answer.error_code : status;
  const description = String(answer.description ?? 'no description').slice(0, DESCRIPTION_LENGTH_MAX);
  // 404 is what a token gets that no bot ever had; methods and chats that do not exist are 400.
  if (code === 401 || code === 404)
    return new ConnectorError('token_expired', 'Telegram does not accept the bot token');
  if (code === 429) {
    const { retry_after } = (answer.parameters ?? {}) as { retry_after?: unknown };
    const retryAfterSeconds =
      typeof retry_after === 'number' && retry_after > 0 ? retry_after : RETRY_AFTER_SECONDS;
    return new ConnectorError('rate_limited', 'Telegram asks to slow down', { retryAfterSeconds });
  }
  if (code >= 500) return new ConnectorError('platform_unavailable', `Telegram answered ${code}`);
  return new ConnectorError('platform_error', `Telegram refused: ${description}`, {
    platformCode: String(code),
  });
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
  throw new ConnectorError(
    'platform_unavailable',
    'Telegram sent an answer of another shape than it documents',
  );
}

/** What people write may hold characters that no storage takes; a mark stands in for them, as in any editor. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd').toWellFormed() : null;
}

export function integerOf(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new ConnectorError(
    'platform_unavailable',
    'Telegram sent an answer of another shape than it documents',
  );
}

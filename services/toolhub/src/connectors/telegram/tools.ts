import { type TProperties, Type } from 'typebox';
import { ConnectorError, defineTool, type PageArguments, pageOf, type ToolDefinition } from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import { momentOf } from '../vendor-api/moment.ts';
import { asObject, callTelegram, integerOf, isNotModified, type TelegramContext, textOrNull } from './api.ts';
import { isoDate, type TelegramMessage, telegramMessageSchema } from './message.ts';
import { listStored } from './store.ts';
import { botKeyOf, collectUpdates } from './updates.ts';

const TEXT_LENGTH_MAX = 4_096;
/** Telegram counts a text without its marks, of which a link alone has two thousand characters; it has the last word. */
const MARKED_UP_LENGTH_MAX = 32_768;
const CAPTION_LENGTH_MAX = 1_024;
const URL_LENGTH_MAX = 2_048;

const closed = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

const chatId = Type.Union(
  [
    Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
    Type.String({ pattern: '^(@[A-Za-z0-9_]{4,32}|-?[0-9]{1,15})$' }),
  ],
  { description: 'Number of the chat, or @name of a public channel or group.' },
);
const messageId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const parseMode = Type.Optional(
  Type.Enum(['HTML', 'MarkdownV2', 'Markdown'], {
    type: 'string',
    description: 'How the text is marked up; plain if absent.',
  }),
);
const sentSchema = closed({
  message_id: Type.Integer(),
  chat_id: Type.Integer(),
  date: Type.String({ format: 'date-time' }),
});

const mediaMethods = {
  photo: 'sendPhoto',
  video: 'sendVideo',
  animation: 'sendAnimation',
  audio: 'sendAudio',
  voice: 'sendVoice',
  document: 'sendDocument',
} as const;
type MediaKind = keyof typeof mediaMethods;

function readSent(value: unknown) {
  const message = asObject(value);
  return {
    message_id: integerOf(message.message_id),
    chat_id: integerOf(asObject(message.chat).id),
    date: isoDate(message.date),
  };
}

function replyTo(messageIdToReply: number | undefined): Record<string, unknown> {
  return messageIdToReply === undefined ? {} : { reply_parameters: { message_id: messageIdToReply } };
}

export function telegramTools(): ToolDefinition[] {
  return [getChat, listMessagesTool, sendMessage, sendMedia, editMessage, deleteMessage];
}

const nullableText = Type.Union([Type.String(), Type.Null()]);

const getChat = defineTool({
  name: 'telegram_get_chat',
  title: 'Get a chat',
  description: 'Looks up a chat, group or channel that the bot can see.',
  class: 'R',
  inputSchema: closed({ chat_id: chatId }),
  outputSchema: closed({
    id: Type.Integer(),
    type: Type.String(),
    title: nullableText,
    username: nullableText,
    first_name: nullableText,
    last_name: nullableText,
    description: nullableText,
    bio: nullableText,
    invite_link: nullableText,
  }),
  untrusted: true,
  async run(args, context: TelegramContext) {
    const chat = asObject(await callTelegram(context, 'getChat', { chat_id: args.chat_id }));
    return {
      id: integerOf(chat.id),
      type: textOrNull(chat.type) ?? 'unknown',
      title: textOrNull(chat.title),
      username: textOrNull(chat.username),
      first_name: textOrNull(chat.first_name),
      last_name: textOrNull(chat.last_name),
      description: textOrNull(chat.description),
      bio: textOrNull(chat.bio),
      invite_link: textOrNull(chat.invite_link),
    };
  },
});

const storedNumber = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
const cursorSchema = closed({
  sentAt: Type.String({ format: 'date-time' }),
  chatId: storedNumber,
  messageId: storedNumber,
});

interface ListArguments extends PageArguments {
  chat_id?: number | string;
  since?: string;
}

async function listReceived(args: ListArguments, context: TelegramContext) {
  const before = decodeCursor(cursorSchema, args.cursor);
  // Later pages continue what the first one found; only that one asks Telegram for news.
  if (before === undefined) await collectUpdates(context);
  const name =
    typeof args.chat_id === 'string' && args.chat_id.startsWith('@') ? args.chat_id.slice(1) : undefined;
  const filter = {
    chatId: args.chat_id === undefined || name !== undefined ? undefined : Number(args.chat_id),
    chatUsername: name?.toLowerCase(),
    since: args.since === undefined ? undefined : momentOf(args.since),
    before: before && { ...before, sentAt: momentOf(before.sentAt) },
    limit: args.limit + 1,
  };
  const messages = await context.database.transaction(async (tx) => {
    // Whoever is refused so looks at the account, and finds it gone or another.
    if (!(await context.stillConnected(tx)))
      throw new ConnectorError('token_expired', 'The bot is not connected any more');
    return listStored(tx, botKeyOf(context), filter);
  });
  const items = messages.slice(0, args.limit);
  return { items, next_cursor: messages.length > args.limit ? cursorAfter(items) : null };
}

function cursorAfter(items: readonly TelegramMessage[]): string | null {
  const last = items.at(-1);
  if (last === undefined) return null;
  return encodeCursor({ sentAt: last.date, chatId: last.chat.id, messageId: last.message_id });
}

const listMessagesTool = defineTool({
  name: 'telegram_list_messages',
  title: 'List received messages',
  description:
    'Lists what the bot has received since it was connected here, newest first. Bots cannot read history.',
  class: 'R',
  inputSchema: closed({
    chat_id: Type.Optional(chatId),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'Messages from this moment on.' })),
  }),
  outputSchema: pageOf(telegramMessageSchema),
  list: true,
  untrusted: true,
  run: (args, context: TelegramContext) => listReceived(args, context),
});

const sendMessage = defineTool({
  name: 'telegram_send_message',
  title: 'Send a message',
  description: 'Sends a text to a chat as the bot.',
  class: 'W',
  inputSchema: closed({
    chat_id: chatId,
    text: Type.String({
      ...{ minLength: 1, maxLength: MARKED_UP_LENGTH_MAX },
      description: 'At most 4,096 characters, which Telegram counts without the marks of `parse_mode`.',
    }),
    parse_mode: parseMode,
    reply_to_message_id: Type.Optional(messageId),
  }),
  outputSchema: sentSchema,
  async run({ chat_id, text, parse_mode, reply_to_message_id }, context: TelegramContext) {
    if (parse_mode === undefined && [...text].length > TEXT_LENGTH_MAX)
      throw new ConnectorError('invalid_arguments', `text has more than ${TEXT_LENGTH_MAX} characters`);
    const parameters = {
      chat_id,
      text,
      ...(parse_mode ? { parse_mode } : {}),
      ...replyTo(reply_to_message_id),
    };
    return readSent(await callTelegram(context, 'sendMessage', parameters));
  },
});

const sendMedia = defineTool({
  name: 'telegram_send_media',
  title: 'Send media',
  description: 'Sends a picture, video, sound or file that Telegram fetches from a public address.',
  class: 'W',
  inputSchema: closed({
    chat_id: chatId,
    kind: Type.Enum(Object.keys(mediaMethods) as MediaKind[], { type: 'string' }),
    url: Type.String({ maxLength: URL_LENGTH_MAX, pattern: '^https?://[^\\s]+$' }),
    caption: Type.Optional(Type.String({ maxLength: CAPTION_LENGTH_MAX })),
  }),
  outputSchema: sentSchema,
  async run({ chat_id, kind, url, caption }, context: TelegramContext) {
    const parameters = { chat_id, [kind]: url, ...(caption === undefined ? {} : { caption }) };
    return readSent(await callTelegram(context, mediaMethods[kind as MediaKind], parameters));
  },
});

const editMessage = defineTool({
  name: 'telegram_edit_message',
  title: 'Edit a message',
  description: 'Replaces the text of a message that the bot sent.',
  class: 'U',
  inputSchema: closed({
    chat_id: chatId,
    message_id: messageId,
    text: Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX }),
  }),
  outputSchema: closed({ message_id: Type.Integer(), edited: Type.Boolean() }),
  async run({ chat_id, message_id, text }, context: TelegramContext) {
    try {
      await callTelegram(context, 'editMessageText', { chat_id, message_id, text });
      return { message_id, edited: true };
    } catch (error) {
      // The text is the same already, which is what the caller wanted.
      if (isNotModified(error)) return { message_id, edited: false };
      throw error;
    }
  },
});

const deleteMessage = defineTool({
  name: 'telegram_delete_message',
  title: 'Delete a message',
  description: 'Deletes a message from a chat for everybody.',
  class: 'D',
  inputSchema: closed({ chat_id: chatId, message_id: messageId }),
  outputSchema: closed({ message_id: Type.Integer(), deleted: Type.Boolean() }),
  async run({ chat_id, message_id }, context: TelegramContext) {
    await callTelegram(context, 'deleteMessage', { chat_id, message_id });
    return { message_id, deleted: true };
  },
});

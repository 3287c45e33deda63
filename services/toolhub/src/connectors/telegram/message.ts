import { type Static, Type } from 'typebox';
import { ConnectorError } from '../connector.ts';
import { asObject, integerOf, textOrNull } from './api.ts';
import { textOfMessage } from './message-text.ts';

const nullable = Type.Union([Type.String(), Type.Null()]);

/**
 * Kinds of content that a message can carry besides text, as the Bot API names them. An animation is a document, too, and
 * a venue a location.
 */
const MEDIA = [
  'photo',
  'video',
  'animation',
  'audio',
  'voice',
  'video_note',
  'document',
  'sticker',
  'venue',
  'location',
  'contact',
  'poll',
  'checklist',
  'dice',
  'game',
  'invoice',
  'story',
  'paid_media',
] as const;

const personProperties = {
  id: Type.Integer(),
  name: Type.String(),
  username: nullable,
};

export const telegramMessageSchema = Type.Object(
  {
    message_id: Type.Integer(),
    chat: Type.Object({ ...personProperties, type: Type.String() }, { additionalProperties: false }),
    from: Type.Union([
      Type.Object({ ...personProperties, is_bot: Type.Boolean() }, { additionalProperties: false }),
      Type.Null(),
    ]),
    date: Type.String({ format: 'date-time' }),
    edited_at: nullable,
    text: Type.Union([Type.String(), Type.Null()], {
      description: 'Also of a place, a contact, a poll and the like: what people see of it.',
    }),
    media: Type.Union([Type.String(), Type.Null()], { description: 'Kind of the attached content.' }),
    reply_to_message_id: Type.Union([Type.Integer(), Type.Null()]),
  },
  { additionalProperties: false },
);

export type TelegramMessage = Static<typeof telegramMessageSchema>;

function nameOf(person: Record<string, unknown>): string {
  const full = [textOrNull(person.first_name), textOrNull(person.last_name)].filter((part) => part !== null);
  return textOrNull(person.title) ?? full.join(' ');
}

/** The year 3000: what lies beyond is no moment at which anybody wrote. */
const SECONDS_MAX = 32_503_680_000;

export function isoDate(seconds: unknown): string {
  const moment = integerOf(seconds);
  if (moment < 0 || moment > SECONDS_MAX)
    throw new ConnectorError('platform_unavailable', 'Telegram sent a message without a date', {
      outcomeOpen: true,
    });
  return new Date(moment * 1_000).toISOString();
}

/** What is kept of a Bot API message: what the tools show and nothing more. */
export function readMessage(value: unknown): TelegramMessage {
  const message = asObject(value);
  const chat = asObject(message.chat);
  const from = message.from === undefined ? null : asObject(message.from);
  return {
    message_id: integerOf(message.message_id),
    chat: {
      id: integerOf(chat.id),
      name: nameOf(chat),
      username: textOrNull(chat.username),
      type: textOrNull(chat.type) ?? 'unknown',
    },
    from: from && {
      id: integerOf(from.id),
      name: nameOf(from),
      username: textOrNull(from.username),
      is_bot: from.is_bot === true,
    },
    date: isoDate(message.date),
    edited_at: message.edit_date === undefined ? null : isoDate(message.edit_date),
    text: textOfMessage(message),
    media: MEDIA.find((kind) => message[kind] !== undefined) ?? null,
    reply_to_message_id:
      message.reply_to_message === undefined
        ? null
        : integerOf(asObject(message.reply_to_message).message_id),
  };
}

import { type Static, Type } from 'typebox';
import { countOrNull, fieldsOf, idOrNull, listOf, textOrNull } from '../vendor-api/shape.ts';
import { closed, nullableCount, nullableText } from '../vendor-api/tool-schemas.ts';
import { shape } from './api.ts';
import { forwardedIn, textOfMessage } from './message-text.ts';

export const messageSchema = closed({
  id: Type.String(),
  channel_id: nullableText,
  author_id: nullableText,
  author_name: nullableText,
  author_is_bot: Type.Boolean(),
  content: Type.String({
    description: 'With what applications write into embeds and components, polls, and what was forwarded.',
  }),
  sent_at: nullableText,
  edited_at: nullableText,
  reply_to_message_id: nullableText,
  thread_id: nullableText,
  attachments: Type.Array(closed({ filename: nullableText, url: nullableText, size: nullableCount })),
  reactions: Type.Array(closed({ emoji: nullableText, count: nullableCount })),
});

export type DiscordMessage = Static<typeof messageSchema>;

/** Discord's number for a reference to what was forwarded, which is no answer to it. */
const FORWARD = 1;

export function readMessage(value: unknown): DiscordMessage {
  const message = shape.object(value);
  const author = fieldsOf(message.author);
  const replied = fieldsOf(message.message_reference);
  return {
    id: shape.text(message.id),
    channel_id: idOrNull(message.channel_id),
    author_id: idOrNull(author.id),
    author_name: textOrNull(author.global_name) ?? textOrNull(author.username),
    author_is_bot: author.bot === true,
    content: textOfMessage(message),
    sent_at: textOrNull(message.timestamp),
    edited_at: textOrNull(message.edited_timestamp),
    reply_to_message_id: replied.type === FORWARD ? null : idOrNull(replied.message_id),
    thread_id: idOrNull(fieldsOf(message.thread).id),
    attachments: [...listOf(message.attachments), ...listOf(forwardedIn(message).attachments)].map((item) => {
      const { filename, url, size } = fieldsOf(item);
      return { filename: textOrNull(filename), url: textOrNull(url), size: countOrNull(size) };
    }),
    reactions: listOf(message.reactions).map((item) => {
      const { emoji, count } = fieldsOf(item);
      return { emoji: textOrNull(fieldsOf(emoji).name), count: countOrNull(count) };
    }),
  };
}

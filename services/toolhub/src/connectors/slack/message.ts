import { type Static, Type } from 'typebox';
import { countOrNull, fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';
import { closed, nullableCount, nullableText } from '../vendor-api/tool-schemas.ts';
import { shape } from './api.ts';
import { textOfMessage } from './message-text.ts';

export const messageSchema = closed({
  ts: Type.String({ description: 'Names the message within its channel.' }),
  thread_ts: nullableText,
  user: nullableText,
  bot_id: nullableText,
  subtype: nullableText,
  text: Type.String({
    description:
      'In Slack’s mrkdwn: <@U…> is a person, <#C…> a channel. With what apps write into attachments and blocks.',
  }),
  reply_count: nullableCount,
  reactions: Type.Array(closed({ emoji: Type.String(), count: nullableCount })),
  files: Type.Array(closed({ id: nullableText, name: nullableText, mimetype: nullableText })),
});

export type SlackMessage = Static<typeof messageSchema>;

export function readMessage(value: unknown): SlackMessage {
  const message = shape.object(value);
  return {
    ts: shape.text(message.ts),
    thread_ts: textOrNull(message.thread_ts),
    user: textOrNull(message.user),
    bot_id: textOrNull(message.bot_id),
    subtype: textOrNull(message.subtype),
    text: textOfMessage(message),
    reply_count: countOrNull(message.reply_count),
    reactions: listOf(message.reactions).map((item) => {
      const { name, count } = fieldsOf(item);
      return { emoji: textOrNull(name) ?? '', count: countOrNull(count) };
    }),
    files: listOf(message.files).map((item) => {
      const { id, name, mimetype } = fieldsOf(item);
      return { id: textOrNull(id), name: textOrNull(name), mimetype: textOrNull(mimetype) };
    }),
  };
}

export const userSchema = closed({
  id: Type.String(),
  name: nullableText,
  real_name: nullableText,
  display_name: nullableText,
  email: nullableText,
  is_bot: Type.Boolean(),
  deleted: Type.Boolean(),
});

export type SlackUser = Static<typeof userSchema>;

export function readUser(value: unknown): SlackUser {
  const user = shape.object(value);
  const profile = fieldsOf(user.profile);
  return {
    id: shape.text(user.id),
    name: textOrNull(user.name),
    real_name: textOrNull(user.real_name) ?? textOrNull(profile.real_name),
    display_name: textOrNull(profile.display_name) || null,
    email: textOrNull(profile.email),
    is_bot: user.is_bot === true,
    deleted: user.deleted === true,
  };
}

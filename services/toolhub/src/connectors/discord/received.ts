import { Type } from 'typebox';
import { receivedTool } from '../vendor-api/received-tool.ts';
import { countOrNull, fieldsOf, idOrNull, textOrNull } from '../vendor-api/shape.ts';
import { nullableText } from '../vendor-api/tool-schemas.ts';
import { channelId } from './ids.ts';

/** Kinds of interactions, by Discord's numbers. */
const KINDS: Readonly<Record<number, string>> = { 2: 'command', 3: 'component', 5: 'form' };

/** Interactions are in no channel's history: they can be read here alone. */
export const listReceivedMessages = receivedTool({
  platform: 'discord',
  description:
    'Lists what people did with the application (commands, buttons, forms) since it was connected here, newest first. It asks Discord nothing.',
  channel: { name: 'channel_id', schema: channelId },
  item: {
    id: Type.String(),
    kind: Type.String({ description: '`command`, `component` (a button or a menu), or `form`.' }),
    channel_id: nullableText,
    server_id: nullableText,
    author_id: nullableText,
    author_name: nullableText,
    name: Type.Union([Type.String(), Type.Null()], {
      description: 'Name of the command, or the id that the application gave the button or form.',
    }),
    input: Type.Union([Type.String(), Type.Null()], {
      description: 'What the person gave with it, as JSON in Discord’s own form.',
    }),
    message_id: nullableText,
    received_at: Type.String({ format: 'date-time' }),
  },
  read({ key, channel, receivedAt, message }) {
    const data = fieldsOf(message.data);
    // In a server the person is a member; in a direct message there is none.
    const member = fieldsOf(fieldsOf(message.member).user);
    const author = member.id === undefined ? fieldsOf(message.user) : member;
    const input = data.options ?? data.values ?? data.components;
    return {
      id: key,
      kind: KINDS[countOrNull(message.type) ?? 0] ?? 'other',
      channel_id: channel === '' ? null : channel,
      server_id: idOrNull(message.guild_id),
      author_id: idOrNull(author.id),
      author_name: textOrNull(author.global_name) ?? textOrNull(author.username),
      name: textOrNull(data.name) ?? textOrNull(data.custom_id),
      input: input === undefined ? null : JSON.stringify(input),
      message_id: idOrNull(fieldsOf(message.message).id),
      received_at: receivedAt.toISOString(),
    };
  },
});

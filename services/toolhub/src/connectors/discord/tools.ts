import { hash } from 'node:crypto';
import { Type } from 'typebox';
import { ConnectorError, defineTool, pageOf, type ToolDefinition } from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import { path } from '../vendor-api/path.ts';
import { countOrNull, idOrNull, textOrNull } from '../vendor-api/shape.ts';
import { closed, message, nullableCount, nullableText } from '../vendor-api/tool-schemas.ts';
import { callAsBot, callDiscord, type DiscordContext, shape } from './api.ts';
import { channelId, SNOWFLAKE, snowflake } from './ids.ts';
import { messageSchema, readMessage } from './message.ts';
import { listReceivedMessages } from './received.ts';

const CONTENT_LENGTH_MAX = 2_000;
const THREAD_NAME_LENGTH_MAX = 100;
/** A thread that begins with no message is one that everybody in the channel sees. */
const PUBLIC_THREAD = 11;

const messageId = snowflake('Id of the message.');

export function discordTools(): ToolDefinition[] {
  return [
    ...[getProfile, listServers, listChannels, getMessages, listReceivedMessages],
    ...[sendMessage, createThread, addReaction, deleteMessage],
  ];
}

const getProfile = defineTool({
  name: 'discord_get_profile',
  title: 'Read the profile',
  description: 'Reads who the account is: a bot, or the person who logged in.',
  class: 'R',
  untrusted: true,
  inputSchema: closed({}),
  outputSchema: closed({
    id: Type.String(),
    username: Type.String(),
    display_name: nullableText,
    is_bot: Type.Boolean(),
  }),
  async run(_args, context: DiscordContext) {
    const { body } = await callDiscord(context, { path: '/users/@me' });
    const { id, username, global_name, bot } = shape.object(body);
    return {
      id: shape.text(id),
      username: shape.text(username),
      display_name: textOrNull(global_name),
      is_bot: bot === true,
    };
  },
});

const afterCursor = Type.Object({ after: Type.String({ pattern: SNOWFLAKE }) });

const listServers = defineTool({
  name: 'discord_list_servers',
  title: 'List servers',
  description: 'Lists the servers that the account is a member of.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({}),
  outputSchema: pageOf(closed({ id: Type.String(), name: Type.String(), is_owner: Type.Boolean() })),
  async run({ limit, cursor }, context: DiscordContext) {
    const { body } = await callDiscord(context, {
      path: '/users/@me/guilds',
      query: { limit, after: decodeCursor(afterCursor, cursor)?.after },
    });
    const items = shape.list(body).map((value) => {
      const server = shape.object(value);
      return { id: shape.text(server.id), name: shape.text(server.name), is_owner: server.owner === true };
    });
    const last = items.at(-1);
    const isMore = last !== undefined && items.length >= limit;
    return { items, next_cursor: isMore ? encodeCursor({ after: last.id }) : null };
  },
});

const offsetCursor = Type.Object({ offset: Type.Integer({ minimum: 1, maximum: 10_000 }) });

const listChannels = defineTool({
  name: 'discord_list_channels',
  title: 'List channels',
  description: 'Lists the channels of a server, without threads.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({ server_id: snowflake('Id of the server.') }),
  outputSchema: pageOf(
    closed({
      id: Type.String(),
      name: nullableText,
      type: Type.Integer({
        description: 'Discord’s number: 0 text, 2 voice, 4 category, 5 announcements, 15 forum.',
      }),
      topic: nullableText,
      parent_id: nullableText,
      position: nullableCount,
    }),
  ),
  async run({ server_id: id, limit, cursor }, context: DiscordContext) {
    // Discord gives all of them at once, 500 at most; the pages are ours.
    const { body } = await callAsBot(context, { path: path`/guilds/${id}/channels` });
    const offset = decodeCursor(offsetCursor, cursor)?.offset ?? 0;
    const all = shape.list(body);
    const items = all.slice(offset, offset + limit).map((value) => {
      const channel = shape.object(value);
      return {
        id: shape.text(channel.id),
        name: textOrNull(channel.name),
        type: shape.integer(channel.type),
        topic: textOrNull(channel.topic),
        parent_id: idOrNull(channel.parent_id),
        position: countOrNull(channel.position),
      };
    });
    const end = offset + items.length;
    return {
      items,
      next_cursor: end < all.length && items.length > 0 ? encodeCursor({ offset: end }) : null,
    };
  },
});

const messageCursor = Type.Union([
  Type.Object({ before: Type.String({ pattern: SNOWFLAKE }) }, { additionalProperties: false }),
  Type.Object({ after: Type.String({ pattern: SNOWFLAKE }) }, { additionalProperties: false }),
]);

const getMessages = defineTool({
  name: 'discord_get_messages',
  title: 'Read a channel',
  description:
    'Reads the messages of a channel or thread, newest first. With `after`, pages go on towards newer messages.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({
    channel_id: channelId,
    before: Type.Optional(snowflake('Only messages before this one.')),
    after: Type.Optional(snowflake('Only messages after this one.')),
  }),
  outputSchema: pageOf(messageSchema),
  async run({ channel_id: id, before, after, limit, cursor }, context: DiscordContext) {
    if (before !== undefined && after !== undefined)
      throw new ConnectorError('invalid_arguments', 'Discord takes `before` or `after`, not both');
    const position = decodeCursor(messageCursor, cursor) ?? { before, after };
    const { body } = await callAsBot(context, {
      path: path`/channels/${id}/messages`,
      query: { limit, ...position },
    });
    const items = shape.list(body).map(readMessage);
    const isForward = 'after' in position && position.after !== undefined;
    const edge = isForward ? items[0] : items.at(-1);
    const isMore = edge !== undefined && items.length >= limit;
    return {
      items,
      next_cursor: isMore ? encodeCursor({ [isForward ? 'after' : 'before']: edge.id }) : null,
    };
  },
});

const sendMessage = defineTool({
  name: 'discord_send_message',
  title: 'Send a message',
  description:
    'Sends a message to a channel or thread as the bot, or answers one. It notifies whom it mentions by name and, where it answers a message, who wrote that; @everyone, @here and roles notify nobody.',
  class: 'W',
  inputSchema: closed({
    channel_id: channelId,
    content: message(CONTENT_LENGTH_MAX, 'The text, in Discord’s Markdown.'),
    reply_to_message_id: Type.Optional(snowflake('Id of the message that this answers.')),
  }),
  outputSchema: closed({ id: Type.String(), channel_id: Type.String() }),
  async run({ channel_id: id, content, reply_to_message_id }, context: DiscordContext) {
    const { idempotencyKey } = context;
    const { body } = await callAsBot(context, {
      method: 'POST',
      path: path`/channels/${id}/messages`,
      json: {
        content,
        ...(reply_to_message_id === undefined
          ? {}
          : { message_reference: { message_id: reply_to_message_id } }),
        // A text that a model wrote must not wake a whole server up by @everyone.
        allowed_mentions: { parse: ['users'], replied_user: true },
        ...(idempotencyKey === null ? {} : { nonce: nonceOf(idempotencyKey), enforce_nonce: true }),
      },
      // With a nonce that it enforces, Discord answers a repeat with the message that is there.
      repeatable: idempotencyKey !== null,
    });
    return { id: shape.text(shape.object(body).id), channel_id: id };
  },
});

const NONCE_LENGTH_MAX = 25;

/** As long as Discord takes it; another key has another one. */
function nonceOf(key: string): string {
  return hash('sha256', key, 'base64url').slice(0, NONCE_LENGTH_MAX);
}

const createThread = defineTool({
  name: 'discord_create_thread',
  title: 'Begin a thread',
  description: 'Begins a thread in a channel, at a message or by itself.',
  class: 'W',
  inputSchema: closed({
    channel_id: channelId,
    message_id: Type.Optional(snowflake('Id of the message at which the thread begins.')),
    name: message(THREAD_NAME_LENGTH_MAX, 'Name of the thread.'),
  }),
  outputSchema: closed({ id: Type.String(), name: nullableText, parent_id: nullableText }),
  async run({ channel_id: id, message_id, name }, context: DiscordContext) {
    const { body } = await callAsBot(context, {
      method: 'POST',
      ...(message_id === undefined
        ? { path: path`/channels/${id}/threads`, json: { name, type: PUBLIC_THREAD } }
        : { path: path`/channels/${id}/messages/${message_id}/threads`, json: { name } }),
    });
    const thread = shape.object(body);
    return {
      id: shape.text(thread.id),
      name: textOrNull(thread.name),
      parent_id: idOrNull(thread.parent_id),
    };
  },
});

const addReaction = defineTool({
  name: 'discord_add_reaction',
  title: 'Add a reaction',
  description: 'Adds an emoji to a message; once it is there, nothing changes.',
  class: 'I',
  inputSchema: closed({
    channel_id: channelId,
    message_id: messageId,
    emoji: Type.String({
      pattern:
        '^([A-Za-z0-9_]{2,32}:[0-9]{15,20}|[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\p{Regional_Indicator}\\u200d\\ufe0f\\u20e3]{1,16}|\\u{1f3f4}[\\u{e0020}-\\u{e007f}]{1,16}|[0-9#*]\\ufe0f?\\u20e3)$',
      description: 'A Unicode emoji, or name:id of an emoji of the server.',
    }),
  }),
  outputSchema: closed({ message_id: Type.String(), emoji: Type.String() }),
  async run({ channel_id, message_id, emoji }, context: DiscordContext) {
    await callAsBot(context, {
      method: 'PUT',
      path: path`/channels/${channel_id}/messages/${message_id}/reactions/${emoji}/@me`,
      repeatable: true,
    });
    return { message_id, emoji };
  },
});

const deleteMessage = defineTool({
  name: 'discord_delete_message',
  title: 'Delete a message',
  description: 'Deletes a message for everybody: one of the bot, or any where the bot may manage messages.',
  class: 'D',
  inputSchema: closed({ channel_id: channelId, message_id: messageId }),
  outputSchema: closed({ message_id: Type.String(), deleted: Type.Boolean() }),
  async run({ channel_id, message_id }, context: DiscordContext) {
    await callAsBot(context, {
      method: 'DELETE',
      path: path`/channels/${channel_id}/messages/${message_id}`,
    });
    return { message_id, deleted: true };
  },
});

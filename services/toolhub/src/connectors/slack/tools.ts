import { Type } from 'typebox';
import { ConnectorError, defineTool, pageOf, type ToolDefinition } from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import { countOrNull, fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';
import {
  closed,
  message,
  nullableCount,
  nullableText,
  searchQuery,
  vendorId,
} from '../vendor-api/tool-schemas.ts';
import { callSlack, type SlackContext, shape } from './api.ts';
import { findUsers } from './find-users.ts';
import { channel } from './ids.ts';
import { messageSchema, readMessage, userSchema } from './message.ts';
import { textOfMessage } from './message-text.ts';
import { readPage } from './page.ts';
import { listReceivedMessages } from './received.ts';

/** Slack cuts longer texts off. */
const TEXT_LENGTH_MAX = 40_000;
const BLOCKS_MAX = 50;
/** Slack's clock may be ahead of ours. */
const AHEAD_SECONDS = 60;
const SEARCH_PAGES_MAX = 100;
const SEARCH_COUNT_MAX = 100;

const timestamp = (description: string) => vendorId(description, '^[0-9]{1,12}\\.[0-9]{6}$');
const moment = (description: string) =>
  Type.String({
    pattern: '^[0-9]{1,12}(\\.[0-9]{1,6})?$',
    description: `${description} Unix seconds or a ts.`,
  });
/** Slack counts in pages, so where a search goes on depends on how large they are; `skip` of the page were given already. */
const searchCursor = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: SEARCH_PAGES_MAX }),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: SEARCH_COUNT_MAX })),
  skip: Type.Optional(Type.Integer({ minimum: 0, maximum: SEARCH_COUNT_MAX })),
});

export function slackTools(): ToolDefinition[] {
  return [
    ...[listChannels, getMessages, getThread, searchMessages, listReceivedMessages, findPeople],
    ...[sendMessage, addReaction, deleteMessage],
  ];
}

const listChannels = defineTool({
  name: 'slack_list_channels',
  title: 'List channels',
  description: 'Lists the channels of the workspace that the account can see, without archived ones.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({}),
  outputSchema: pageOf(
    closed({
      id: Type.String(),
      name: nullableText,
      topic: nullableText,
      purpose: nullableText,
      is_private: Type.Boolean(),
      is_member: Type.Boolean(),
      members: nullableCount,
    }),
  ),
  run(page, context: SlackContext) {
    const query = { types: 'public_channel,private_channel', exclude_archived: true };
    return readPage(
      context,
      { path: '/conversations.list', query },
      {
        ...page,
        field: 'channels',
        read(value) {
          const found = shape.object(value);
          return {
            id: shape.text(found.id),
            name: textOrNull(found.name),
            topic: textOrNull(fieldsOf(found.topic).value) || null,
            purpose: textOrNull(fieldsOf(found.purpose).value) || null,
            is_private: found.is_private === true,
            is_member: found.is_member === true,
            members: countOrNull(found.num_members),
          };
        },
      },
    );
  },
});

const getMessages = defineTool({
  name: 'slack_get_messages',
  title: 'Read a channel',
  description:
    'Reads the messages of a channel, newest first. Answers within threads are read by slack_get_thread.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({
    channel,
    oldest: Type.Optional(moment('Only messages after this moment.')),
    latest: Type.Optional(moment('Only messages before this moment.')),
  }),
  outputSchema: pageOf(messageSchema),
  run({ channel: id, oldest, latest, ...page }, context: SlackContext) {
    const request = { path: '/conversations.history', query: { channel: id, oldest, latest } };
    const isOpen = oldest !== undefined && latest === undefined;
    return readPage(context, request, {
      ...{ ...page, field: 'messages', read: readMessage },
      // Of a stretch without an end Slack gives the oldest messages first.
      latest: isOpen ? String(Math.ceil(context.now().getTime() / 1_000) + AHEAD_SECONDS) : undefined,
    });
  },
});

const getThread = defineTool({
  name: 'slack_get_thread',
  title: 'Read a thread',
  description: 'Reads a message and the answers in its thread, oldest first.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({ channel, thread_ts: timestamp('`ts` of the message that began the thread.') }),
  outputSchema: pageOf(messageSchema),
  run({ channel: id, thread_ts, ...page }, context: SlackContext) {
    const request = { path: '/conversations.replies', query: { channel: id, ts: thread_ts } };
    return readPage(context, request, { ...page, field: 'messages', read: readMessage });
  },
});

const searchMessages = defineTool({
  name: 'slack_search_messages',
  title: 'Search messages',
  description:
    'Searches the messages that the account can see, newest first; takes Slack’s own operators (in:, from:, before:). Slack lets people search, not bots.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({ query: searchQuery('What to look for.') }),
  outputSchema: pageOf(
    closed({
      ts: Type.String(),
      channel: nullableText,
      channel_name: nullableText,
      user: nullableText,
      username: nullableText,
      text: Type.String(),
      permalink: nullableText,
    }),
  ),
  async run({ query, limit, cursor }, context: SlackContext) {
    const { page = 1, count = limit, skip = 0 } = decodeCursor(searchCursor, cursor) ?? {};
    const { body } = await callSlack(context, {
      path: '/search.messages',
      query: { query, count, page, sort: 'timestamp', sort_dir: 'desc' },
    });
    const found = shape.object(shape.object(body).messages);
    const pages = Math.min(countOrNull(fieldsOf(found.paging).pages) ?? 1, SEARCH_PAGES_MAX);
    const matches = listOf(found.matches);
    const end = skip + limit;
    const next =
      end < matches.length ? { page, count, skip: end } : page < pages ? { page: page + 1, count } : null;
    return {
      items: matches.slice(skip, end).map((value) => {
        const match = shape.object(value);
        const { id, name } = fieldsOf(match.channel);
        return {
          ts: shape.text(match.ts),
          channel: textOrNull(id),
          channel_name: textOrNull(name),
          user: textOrNull(match.user),
          username: textOrNull(match.username),
          text: textOfMessage(match),
          permalink: textOrNull(match.permalink),
        };
      }),
      next_cursor: next === null ? null : encodeCursor(next),
    };
  },
});

const findPeople = defineTool({
  name: 'slack_find_users',
  title: 'Find people',
  description:
    'Finds members of the workspace by a part of their name, or by their whole e-mail address. A page may be short: go on while there is a cursor.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({ query: searchQuery('Name, part of a name, user id, or e-mail address.') }),
  outputSchema: pageOf(userSchema),
  run: (args, context: SlackContext) => findUsers(context, args),
});

const sendMessage = defineTool({
  name: 'slack_send_message',
  title: 'Send a message',
  description: 'Sends a message to a channel, a person or a thread, as the account.',
  class: 'W',
  inputSchema: closed({
    channel: vendorId('Id of the channel, conversation or person.', '^[CDGUW][A-Z0-9]{2,30}$'),
    text: message(TEXT_LENGTH_MAX, 'The text, in mrkdwn; beside blocks it is what notifications show.'),
    thread_ts: Type.Optional(timestamp('`ts` of the message whose thread this answers.')),
    blocks: Type.Optional(
      Type.Array(Type.Object({ type: Type.String({ maxLength: 100 }) }, { additionalProperties: true }), {
        minItems: 1,
        maxItems: BLOCKS_MAX,
        description: 'Block Kit, as Slack documents it.',
      }),
    ),
  }),
  outputSchema: closed({ channel: Type.String(), ts: Type.String() }),
  async run({ channel: id, text, thread_ts, blocks }, context: SlackContext) {
    const { body } = await callSlack(context, {
      method: 'POST',
      path: '/chat.postMessage',
      json: { channel: id, text, thread_ts, blocks },
    });
    const sent = shape.object(body);
    return { channel: shape.text(sent.channel), ts: shape.text(sent.ts) };
  },
});

/** Lower case, and letters of scripts that have no cases: workspaces name emoji of their own in any script. */
const EMOJI_NAME = "[\\p{Ll}\\p{Lo}\\p{Lm}\\p{M}\\p{Nd}_+'-]{1,100}";

const addReaction = defineTool({
  name: 'slack_add_reaction',
  title: 'Add a reaction',
  description: 'Adds an emoji to a message; once it is there, nothing changes.',
  class: 'I',
  inputSchema: closed({
    channel,
    ts: timestamp('`ts` of the message.'),
    emoji: Type.String({
      pattern: `^:?${EMOJI_NAME}(::skin-tone-[2-6])?:?$`,
      description: 'Name of the emoji, for example thumbsup; in lower case, not the emoji itself.',
    }),
  }),
  outputSchema: closed({ channel: Type.String(), ts: Type.String(), emoji: Type.String() }),
  async run({ channel: id, ts, emoji }, context: SlackContext) {
    const name = emoji.replace(/^:|:$/g, '');
    try {
      const json = { channel: id, timestamp: ts, name };
      await callSlack(context, { method: 'POST', path: '/reactions.add', json, repeatable: true });
    } catch (error) {
      const isThere = error instanceof ConnectorError && error.platformCode === 'already_reacted';
      if (!isThere) throw error;
    }
    return { channel: id, ts, emoji: name };
  },
});

const deleteMessage = defineTool({
  name: 'slack_delete_message',
  title: 'Delete a message',
  description: 'Deletes a message of the account for everybody.',
  class: 'D',
  inputSchema: closed({ channel, ts: timestamp('`ts` of the message.') }),
  outputSchema: closed({ channel: Type.String(), ts: Type.String(), deleted: Type.Boolean() }),
  async run({ channel: id, ts }, context: SlackContext) {
    await callSlack(context, { method: 'POST', path: '/chat.delete', json: { channel: id, ts } });
    return { channel: id, ts, deleted: true };
  },
});

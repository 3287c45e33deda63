import { Type } from 'typebox';
import { defineTool, pageOf, type ToolDefinition } from '../connector.ts';
import { momentOf } from '../vendor-api/moment.ts';
import { path } from '../vendor-api/path.ts';
import { countOrNull, fieldsOf, textOrNull } from '../vendor-api/shape.ts';
import {
  closed,
  message,
  moment,
  nullableCount,
  nullableText,
  searchQuery,
  vendorId,
} from '../vendor-api/tool-schemas.ts';
import { callX, shape, type XContext } from './api.ts';
import { readPosts } from './page.ts';
import { POST_FIELDS, postSchema, readPost } from './post.ts';

/** Accounts with a subscription write long posts; the others are told by X at 280. */
const POST_LENGTH_MAX = 25_000;
const DIRECT_MESSAGE_LENGTH_MAX = 10_000;
const SEARCH_PAGE_MIN = 10;
const MENTIONS_PAGE_MIN = 5;

const numericId = (description: string) => vendorId(description, '^[0-9]{1,19}$');
const postId = numericId('Id of the post.');

export function xTools(): ToolDefinition[] {
  return [getProfile, searchPosts, listMentions, getPost, createPost, sendDirectMessage, deletePost];
}

const getProfile = defineTool({
  name: 'x_get_profile',
  title: 'Read a profile',
  description: 'Reads the profile of the account, or of somebody else by username.',
  class: 'R',
  untrusted: true,
  inputSchema: closed({
    username: Type.Optional(
      vendorId('Username without or with @; the account itself if absent.', '^@?[A-Za-z0-9_]{1,15}$'),
    ),
  }),
  outputSchema: closed({
    id: Type.String(),
    username: Type.String(),
    name: nullableText,
    description: nullableText,
    location: nullableText,
    url: nullableText,
    created_at: nullableText,
    followers: nullableCount,
    following: nullableCount,
    posts: nullableCount,
  }),
  async run({ username }, context: XContext) {
    const { body } = await callX(context, {
      path: username === undefined ? '/2/users/me' : path`/2/users/by/username/${username.replace(/^@/, '')}`,
      query: { 'user.fields': 'created_at,description,location,public_metrics,url' },
    });
    const user = shape.object(shape.object(body).data);
    const metrics = fieldsOf(user.public_metrics);
    return {
      id: shape.text(user.id),
      username: shape.text(user.username),
      name: textOrNull(user.name),
      description: textOrNull(user.description),
      location: textOrNull(user.location),
      url: textOrNull(user.url),
      created_at: textOrNull(user.created_at),
      followers: countOrNull(metrics.followers_count),
      following: countOrNull(metrics.following_count),
      posts: countOrNull(metrics.tweet_count),
    };
  },
});

const searchPosts = defineTool({
  name: 'x_search_posts',
  title: 'Search posts',
  description:
    'Searches public posts of the last seven days, newest first; takes X’s own operators (from:, has:, -is:retweet).',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({
    query: searchQuery('What to look for.'),
    start_time: Type.Optional(moment('Only posts from this moment on, at most seven days ago.')),
  }),
  outputSchema: pageOf(postSchema),
  run({ query, start_time, ...page }, context: XContext) {
    const request = {
      path: '/2/tweets/search/recent',
      // X takes whole seconds in UTC.
      query: { query, start_time: start_time === undefined ? undefined : wholeSeconds(start_time) },
    };
    return readPosts(context, request, { ...page, sizeMin: SEARCH_PAGE_MIN, tokenName: 'next_token' });
  },
});

function wholeSeconds(moment: string): string {
  return momentOf(moment)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z');
}

const listMentions = defineTool({
  name: 'x_list_mentions',
  title: 'List mentions',
  description: 'Lists the posts that mention the account, newest first.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({ since_id: Type.Optional(numericId('Only posts that are newer than this one.')) }),
  outputSchema: pageOf(postSchema),
  async run({ since_id, ...page }, context: XContext) {
    const me = await callX(context, { path: '/2/users/me' });
    const id = shape.text(shape.object(shape.object(me.body).data).id);
    const request = { path: path`/2/users/${id}/mentions`, query: { since_id } };
    return readPosts(context, request, {
      ...page,
      sizeMin: MENTIONS_PAGE_MIN,
      tokenName: 'pagination_token',
    });
  },
});

const getPost = defineTool({
  name: 'x_get_post',
  title: 'Read a post',
  description: 'Reads one post.',
  class: 'R',
  untrusted: true,
  inputSchema: closed({ post_id: postId }),
  outputSchema: postSchema,
  async run({ post_id: id }, context: XContext) {
    const { body } = await callX(context, { path: path`/2/tweets/${id}`, query: POST_FIELDS });
    const { data, includes } = shape.object(body);
    return readPost(data, includes);
  },
});

const createPost = defineTool({
  name: 'x_create_post',
  title: 'Publish a post',
  description: 'Publishes a post as the account, or answers or quotes one.',
  class: 'W',
  inputSchema: closed({
    text: message(POST_LENGTH_MAX, 'The text; 280 characters for most accounts.'),
    reply_to_post_id: Type.Optional(numericId('Id of the post that this answers.')),
    quote_post_id: Type.Optional(numericId('Id of the post that this quotes.')),
  }),
  outputSchema: closed({ id: Type.String(), text: nullableText }),
  async run({ text, reply_to_post_id, quote_post_id }, context: XContext) {
    const { body } = await callX(context, {
      method: 'POST',
      path: '/2/tweets',
      json: {
        text,
        ...(reply_to_post_id === undefined ? {} : { reply: { in_reply_to_tweet_id: reply_to_post_id } }),
        ...(quote_post_id === undefined ? {} : { quote_tweet_id: quote_post_id }),
      },
    });
    const post = shape.object(shape.object(body).data);
    return { id: shape.text(post.id), text: textOrNull(post.text) };
  },
});

const sendDirectMessage = defineTool({
  name: 'x_send_direct_message',
  title: 'Send a direct message',
  description: 'Sends a direct message to a person who allows it.',
  class: 'W',
  inputSchema: closed({
    user_id: numericId('Id of the person; x_get_profile gives it.'),
    text: message(DIRECT_MESSAGE_LENGTH_MAX, 'The text.'),
  }),
  outputSchema: closed({ event_id: Type.String(), conversation_id: nullableText }),
  async run({ user_id: id, text }, context: XContext) {
    const { body } = await callX(context, {
      method: 'POST',
      path: path`/2/dm_conversations/with/${id}/messages`,
      json: { text },
    });
    const event = shape.object(shape.object(body).data);
    return { event_id: shape.text(event.dm_event_id), conversation_id: textOrNull(event.dm_conversation_id) };
  },
});

const deletePost = defineTool({
  name: 'x_delete_post',
  title: 'Delete a post',
  description: 'Deletes a post of the account for good.',
  class: 'D',
  inputSchema: closed({ post_id: postId }),
  outputSchema: closed({ id: Type.String(), deleted: Type.Boolean() }),
  async run({ post_id: id }, context: XContext) {
    const { body } = await callX(context, { method: 'DELETE', path: path`/2/tweets/${id}` });
    return { id, deleted: fieldsOf(fieldsOf(body).data).deleted === true };
  },
});

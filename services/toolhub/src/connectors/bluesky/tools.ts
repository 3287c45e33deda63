import { Type } from 'typebox';
import { ConnectorError, defineTool, type PageArguments, pageOf, type ToolDefinition } from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import { momentOf } from '../vendor-api/moment.ts';
import type { VendorRequest } from '../vendor-api/request.ts';
import { countOrNull, type Fields, fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';
import {
  closed,
  message,
  moment,
  nullableCount,
  nullableText,
  searchQuery,
} from '../vendor-api/tool-schemas.ts';
import { type BlueskyContext, callBluesky, sessionOf, shape } from './api.ts';
import { postUri } from './at-uri.ts';
import { authorSchema, readAuthor } from './author.ts';
import { lacksAppView, readProfileRecord, readThreadRecords } from './own-records.ts';
import { type BlueskyPost, postSchema, readPost } from './post.ts';
import { deletePost, likePost, publishPost } from './publish.ts';

const THREAD_DEPTH = 6;
const THREAD_HEIGHT = 80;
const THREAD_POSTS_MAX = 500;

const actor = Type.String({
  pattern: '^@?(did:[a-z]+:[A-Za-z0-9._:%-]{1,250}|[A-Za-z0-9][A-Za-z0-9.-]{0,252})$',
  description: 'Handle or DID; the connected account if absent.',
});
const vendorCursor = Type.Object({ at: Type.String({ minLength: 1, maxLength: 2_000 }) });

export function blueskyTools(): ToolDefinition[] {
  return [
    getProfile,
    getTimeline,
    searchPosts,
    getThread,
    listNotifications,
    createPost,
    likePostTool,
    deletePostTool,
  ];
}

/** One page of a list that Bluesky continues by a cursor of its own. */
async function readPage<Item>(
  context: BlueskyContext,
  request: VendorRequest & { items: string },
  { limit, cursor, read }: PageArguments & { read: (value: unknown) => Item },
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const { items, ...call } = request;
  const position = decodeCursor(vendorCursor, cursor);
  const { body } = await callBluesky(context, {
    ...call,
    query: { ...call.query, limit, cursor: position?.at },
  });
  const answer = shape.object(body);
  const next = textOrNull(answer.cursor);
  return {
    items: shape.list(answer[items]).map(read),
    next_cursor: next === null || next === '' ? null : encodeCursor({ at: next }),
  };
}

const getProfile = defineTool({
  name: 'bluesky_get_profile',
  title: 'Get a profile',
  description: 'Looks up an account: name, description and numbers.',
  class: 'R',
  untrusted: true,
  inputSchema: closed({ actor: Type.Optional(actor) }),
  outputSchema: closed({
    did: Type.String(),
    handle: nullableText,
    display_name: nullableText,
    description: nullableText,
    followers: nullableCount,
    follows: nullableCount,
    posts: nullableCount,
    created_at: nullableText,
  }),
  async run({ actor: wanted }, context: BlueskyContext) {
    const who = wanted?.replace(/^@/, '') ?? sessionOf(context.credential).did;
    const profile = await readProfile(context, who);
    return {
      ...readAuthor(profile),
      description: textOrNull(profile.description),
      followers: countOrNull(profile.followersCount),
      follows: countOrNull(profile.followsCount),
      posts: countOrNull(profile.postsCount),
      created_at: textOrNull(profile.createdAt),
    };
  },
});

async function readProfile(context: BlueskyContext, who: string): Promise<Fields> {
  try {
    const path = '/xrpc/app.bsky.actor.getProfile';
    return shape.object((await callBluesky(context, { path, query: { actor: who } })).body);
  } catch (error) {
    if (!lacksAppView(error)) throw error;
    return readProfileRecord(context, who);
  }
}

const getTimeline = defineTool({
  name: 'bluesky_get_timeline',
  title: 'Read the timeline',
  description: 'Reads what the accounts that this one follows have posted, newest first.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({}),
  outputSchema: pageOf(postSchema),
  run: (page, context: BlueskyContext) =>
    readPage(
      context,
      { path: '/xrpc/app.bsky.feed.getTimeline', items: 'feed' },
      { ...page, read: (entry) => readPost(shape.object(entry).post) },
    ),
});

const searchPosts = defineTool({
  name: 'bluesky_search_posts',
  title: 'Search posts',
  description: 'Searches all public posts.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({
    query: searchQuery('Words; "phrases", from:handle, #tags and more work as in the app.'),
    sort: Type.Optional(
      Type.Enum(['top', 'latest'], { type: 'string', description: 'Order; `latest` if absent.' }),
    ),
    since: Type.Optional(moment('Only posts from then on.')),
  }),
  outputSchema: pageOf(postSchema),
  run: ({ query, sort = 'latest', since, ...page }, context: BlueskyContext) =>
    readPage(
      context,
      {
        path: '/xrpc/app.bsky.feed.searchPosts',
        items: 'posts',
        query: { q: query, sort, since: since && momentOf(since).toISOString() },
      },
      { ...page, read: readPost },
    ),
});

const getThread = defineTool({
  name: 'bluesky_get_thread',
  title: 'Read a thread',
  description: 'Reads a post with what it answers and what answers it.',
  class: 'R',
  untrusted: true,
  inputSchema: closed({ uri: postUri }),
  outputSchema: closed({
    post: postSchema,
    ancestors: Type.Array(postSchema),
    replies: Type.Array(postSchema),
  }),
  async run({ uri }, context: BlueskyContext) {
    try {
      const query = { uri, depth: THREAD_DEPTH, parentHeight: THREAD_HEIGHT };
      const { body } = await callBluesky(context, { path: '/xrpc/app.bsky.feed.getPostThread', query });
      const thread = shape.object(shape.object(body).thread);
      if (thread.post === undefined) throw notShown(thread);
      return {
        post: readPost(thread.post),
        ancestors: ancestorsOf(thread),
        replies: repliesOf(thread),
      };
    } catch (error) {
      if (!lacksAppView(error)) throw error;
      const { post, ancestors, replies } = await readThreadRecords(context, uri);
      return {
        post: readPost(post),
        ancestors: ancestors.map(readPost),
        replies: replies.map(readPost),
      };
    }
  },
});

/** What stands for the post itself where the account may not see it, or where it is gone. */
function notShown({ blocked, notFound }: Fields): ConnectorError {
  if (blocked === true)
    return new ConnectorError('platform_error', 'Bluesky refused: one of the two accounts blocks the other', {
      platformCode: 'BlockedPost',
    });
  if (notFound === true)
    return new ConnectorError('platform_error', 'Bluesky refused: the post is not there', {
      platformCode: 'NotFound',
    });
  return shape.wrong();
}

/** Posts that were deleted or blocked stand in a thread without a `post`: they are passed over. */
function ancestorsOf(thread: Readonly<Record<string, unknown>>): BlueskyPost[] {
  const above: BlueskyPost[] = [];
  let node = fieldsOf(thread.parent);
  for (let height = 0; height < THREAD_HEIGHT && node.post !== undefined; height += 1) {
    above.unshift(readPost(node.post));
    node = fieldsOf(node.parent);
  }
  return above;
}

function repliesOf(thread: Readonly<Record<string, unknown>>): BlueskyPost[] {
  const below: BlueskyPost[] = [];
  let level = listOf(thread.replies);
  for (let depth = 0; depth < THREAD_DEPTH && level.length > 0; depth += 1) {
    const nodes = level.map(fieldsOf).filter(({ post }) => post !== undefined);
    below.push(...nodes.map(({ post }) => readPost(post)));
    level = nodes.flatMap(({ replies }) => listOf(replies));
  }
  return below.slice(0, THREAD_POSTS_MAX);
}

const listNotifications = defineTool({
  name: 'bluesky_list_notifications',
  title: 'List notifications',
  description:
    'Lists what others did that concerns the account, newest first. It does not mark them as read.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({
    unread_only: Type.Optional(
      Type.Boolean({ description: 'Leaves out what was read; a page may then be short.' }),
    ),
  }),
  outputSchema: pageOf(
    closed({
      uri: Type.String(),
      reason: Type.String(),
      author: authorSchema,
      subject_uri: nullableText,
      text: nullableText,
      read: Type.Boolean(),
      at: nullableText,
    }),
  ),
  async run({ unread_only, ...page }, context: BlueskyContext) {
    const request = { path: '/xrpc/app.bsky.notification.listNotifications', items: 'notifications' };
    const { items, next_cursor } = await readPage(context, request, { ...page, read: readNotification });
    return { items: unread_only === true ? items.filter(({ read }) => !read) : items, next_cursor };
  },
});

function readNotification(value: unknown) {
  const notification = shape.object(value);
  return {
    uri: shape.text(notification.uri),
    reason: shape.text(notification.reason),
    author: readAuthor(notification.author),
    subject_uri: textOrNull(notification.reasonSubject),
    text: textOrNull(fieldsOf(notification.record).text),
    read: notification.isRead === true,
    at: textOrNull(notification.indexedAt),
  };
}

const createPost = defineTool({
  name: 'bluesky_create_post',
  title: 'Publish a post',
  description: 'Publishes a post as the account, or answers one. Links, @handles and #tags become links.',
  class: 'W',
  inputSchema: closed({
    text: message(3_000, 'The text, at most 300 characters as people count them.'),
    reply_to_uri: Type.Optional(postUri),
    langs: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}$' }), {
        minItems: 1,
        maxItems: 3,
        description: 'Languages of the text, for example ["en"].',
      }),
    ),
  }),
  outputSchema: closed({ uri: Type.String(), cid: Type.String() }),
  run: ({ text, reply_to_uri: replyToUri, langs }, context: BlueskyContext) =>
    publishPost(context, { text, replyToUri, langs }),
});

const likePostTool = defineTool({
  name: 'bluesky_like_post',
  title: 'Like a post',
  description: 'Likes a post as the account; once it is liked, nothing changes.',
  class: 'I',
  inputSchema: closed({ uri: postUri }),
  outputSchema: closed({ uri: Type.String(), liked: Type.Boolean() }),
  async run({ uri }, context: BlueskyContext) {
    await likePost(context, uri);
    return { uri, liked: true };
  },
});

const deletePostTool = defineTool({
  name: 'bluesky_delete_post',
  title: 'Delete a post',
  description: 'Deletes a post of the account for good.',
  class: 'D',
  inputSchema: closed({ uri: postUri }),
  outputSchema: closed({ uri: Type.String(), deleted: Type.Boolean() }),
  async run({ uri }, context: BlueskyContext) {
    await deletePost(context, uri);
    return { uri, deleted: true };
  },
});

import { Type } from 'typebox';
import {
  ConnectorError,
  defineTool,
  doingNothing,
  type PageArguments,
  pageOf,
  type ToolDefinition,
} from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import { path } from '../vendor-api/path.ts';
import { createPostReader } from '../vendor-api/plain-text.ts';
import type { VendorAnswer, VendorRequest } from '../vendor-api/request.ts';
import { fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';
import { closed, message, nullableText, searchQuery, vendorId } from '../vendor-api/tool-schemas.ts';
import { visibilityOfAnswer } from './answer.ts';
import { callMastodon, type MastodonContext, nextMaxId, shape } from './api.ts';
import { accountSchema, type ReadItem, readAccount, readEach, readStatus, statusSchema } from './status.ts';

/** The largest page that Mastodon gives of statuses and of search results. */
const PAGE_SIZE_MAX = 40;
/** Servers may allow more than the usual 500; beyond this none does, and the server itself has the last word. */
const STATUS_LENGTH_MAX = 100_000;
const SEARCH_OFFSET_MAX = 10_000;
/** A thread has no pages, and a server gives thousands of its statuses: more than one result may hold. */
const THREAD_ANCESTORS_MAX = 80;
const THREAD_DESCENDANTS_MAX = 500;

/** "Not guaranteed to be a number": other servers that speak Mastodon's language have UUIDs, ULIDs or moments for ids. */
const statusId = vendorId(
  'Id of the status on this server, as other tools give it.',
  '^[0-9A-Za-z](?:[._-]?[0-9A-Za-z]){0,127}$',
);
/** Where a list goes on is the server's affair: some join the moment, the kind and the id. */
const maxIdCursor = Type.Object({ max_id: Type.String({ pattern: '^[!-~]{1,512}$' }) });
const offsetCursor = Type.Object({ offset: Type.Integer({ minimum: 1, maximum: SEARCH_OFFSET_MAX }) });

export function mastodonTools(): ToolDefinition[] {
  return [getTimeline, search, getThread, listNotifications, createStatus, favouriteStatus, deleteStatus];
}

/** One page of a list that Mastodon continues by `max_id`. */
async function readPage<Item>(
  context: MastodonContext,
  request: VendorRequest,
  { limit, cursor, read }: PageArguments & { read: ReadItem<Item> },
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const position = decodeCursor(maxIdCursor, cursor);
  const answer = await callMastodon(context, {
    ...request,
    query: { ...request.query, limit: Math.min(limit, PAGE_SIZE_MAX), max_id: position?.max_id },
  });
  const next = nextMaxId(answer.headers);
  return {
    items: await readEach(shape.list(answer.body), read),
    next_cursor: next === null ? null : encodeCursor({ max_id: next }),
  };
}

const timelineRequests = {
  home: () => ({ path: '/api/v1/timelines/home' }),
  local: () => ({ path: '/api/v1/timelines/public', query: { local: true } }),
  public: () => ({ path: '/api/v1/timelines/public' }),
  tag: (tag: string) => ({ path: path`/api/v1/timelines/tag/${tag}` }),
};

const getTimeline = defineTool({
  name: 'mastodon_get_timeline',
  title: 'Read a timeline',
  description:
    'Reads a timeline, newest first: `home` (who the account follows), `local` (this server), `public` (all servers), or `tag` with a hashtag.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({
    kind: Type.Enum(['home', 'local', 'public', 'tag'], { type: 'string', description: 'Which timeline.' }),
    tag: Type.Optional(
      Type.String({
        pattern: '^#?[\\p{L}\\p{N}\\p{M}_·・\\u200c]{1,200}$',
        description: 'The hashtag, for `tag`.',
      }),
    ),
  }),
  outputSchema: pageOf(statusSchema),
  run({ kind, tag, ...page }, context: MastodonContext) {
    if ((kind === 'tag') !== (tag !== undefined))
      throw new ConnectorError('invalid_arguments', '`tag` belongs to the timeline `tag`, and to no other');
    const request = timelineRequests[kind as keyof typeof timelineRequests]((tag ?? '').replace(/^#/, ''));
    return readPage(context, request, { ...page, read: readStatus });
  },
});

const search = defineTool({
  name: 'mastodon_search',
  title: 'Search',
  description:
    'Searches accounts, statuses and hashtags. Many servers find statuses only among those that the account wrote, liked or was mentioned in.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({
    query: searchQuery('What to look for; an address of an account or status is looked up on its server.'),
    type: Type.Optional(
      Type.Enum(['accounts', 'statuses', 'hashtags'], {
        type: 'string',
        description: 'What to find; `statuses` if absent.',
      }),
    ),
  }),
  outputSchema: pageOf(
    closed({
      kind: Type.String(),
      account: Type.Union([accountSchema, Type.Null()]),
      status: Type.Union([statusSchema, Type.Null()]),
      hashtag: nullableText,
    }),
  ),
  async run({ query, type = 'statuses', limit, cursor }, context: MastodonContext) {
    const offset = decodeCursor(offsetCursor, cursor)?.offset ?? 0;
    const size = Math.min(limit, PAGE_SIZE_MAX);
    const { body } = await callMastodon(context, {
      path: '/api/v2/search',
      query: {
        q: query,
        type,
        limit: size,
        offset: offset === 0 ? undefined : offset,
        // Addresses are looked up at their own servers, as people expect who paste one.
        resolve: /^(https?:\/\/|@?[^\s@]+@[^\s@]+$)/.test(query) ? true : undefined,
      },
    });
    const found = listOf(shape.object(body)[type]);
    const more = found.length >= size && offset + found.length <= SEARCH_OFFSET_MAX;
    return {
      items: await readEach(found, async (item, readPost) => ({
        kind: type,
        account: type === 'accounts' ? readAccount(item) : null,
        status: type === 'statuses' ? await readStatus(item, readPost) : null,
        hashtag: type === 'hashtags' ? textOrNull(fieldsOf(item).name) : null,
      })),
      next_cursor: more ? encodeCursor({ offset: offset + found.length }) : null,
    };
  },
});

const getThread = defineTool({
  name: 'mastodon_get_thread',
  title: 'Read a thread',
  description: `Reads a status with what it answers (the nearest ${THREAD_ANCESTORS_MAX}) and what answers it (the first ${THREAD_DESCENDANTS_MAX}).`,
  class: 'R',
  untrusted: true,
  inputSchema: closed({ status_id: statusId }),
  outputSchema: closed({
    status: statusSchema,
    ancestors: Type.Array(statusSchema),
    descendants: Type.Array(statusSchema),
  }),
  async run({ status_id: id }, context: MastodonContext) {
    // One after the other: where the first is refused, the second is not sent.
    const status = await callMastodon(context, { path: path`/api/v1/statuses/${id}` });
    const around = await callMastodon(context, { path: path`/api/v1/statuses/${id}/context` });
    const { ancestors, descendants } = shape.object(around.body);
    const readPost = createPostReader();
    return {
      status: await readStatus(status.body, readPost),
      ancestors: await readEach(listOf(ancestors).slice(-THREAD_ANCESTORS_MAX), readStatus, readPost),
      descendants: await readEach(listOf(descendants).slice(0, THREAD_DESCENDANTS_MAX), readStatus, readPost),
    };
  },
});

const notificationTypes = [
  'mention',
  'status',
  'reblog',
  'follow',
  'follow_request',
  'favourite',
  'poll',
  'update',
  'quote',
  'quoted_update',
  'severed_relationships',
  'moderation_warning',
  'added_to_collection',
  'collection_update',
  'admin.sign_up',
  'admin.report',
];

const listNotifications = defineTool({
  name: 'mastodon_list_notifications',
  title: 'List notifications',
  description: 'Lists what others did that concerns the account, newest first.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({
    types: Type.Optional(
      Type.Array(Type.Enum(notificationTypes, { type: 'string' }), {
        minItems: 1,
        maxItems: notificationTypes.length,
        description: 'Only these kinds; all if absent.',
      }),
    ),
  }),
  outputSchema: pageOf(
    closed({
      id: Type.String(),
      type: Type.String(),
      created_at: nullableText,
      account: Type.Union([accountSchema, Type.Null()]),
      status: Type.Union([statusSchema, Type.Null()]),
    }),
  ),
  run({ types, ...page }, context: MastodonContext) {
    const request = { path: '/api/v1/notifications', query: { 'types[]': types as string[] | undefined } };
    return readPage(context, request, {
      ...page,
      async read(value, readPost) {
        const notification = shape.object(value);
        const { account, status } = notification;
        return {
          id: shape.text(notification.id),
          type: shape.text(notification.type),
          created_at: textOrNull(notification.created_at),
          // What the server itself did has nobody who did it.
          account: account === null || account === undefined ? null : readAccount(account),
          status: status === null || status === undefined ? null : await readStatus(status, readPost),
        };
      },
    });
  },
});

const createStatus = defineTool({
  name: 'mastodon_create_status',
  title: 'Publish a status',
  description:
    'Publishes a status as the account, or answers one. People are told of it where it mentions them (@name@server), also whom it answers.',
  class: 'W',
  inputSchema: closed({
    text: message(STATUS_LENGTH_MAX, 'The text. Most servers allow 500 characters.'),
    visibility: Type.Optional(
      Type.Enum(['public', 'unlisted', 'private', 'direct'], {
        type: 'string',
        description:
          "Who sees it. If absent the account's own setting, and of an answer no more people than what it answers. `direct` reaches those who are mentioned.",
      }),
    ),
    reply_to_id: Type.Optional(statusId),
    spoiler_text: Type.Optional(message(500, 'A warning in front of the text.')),
  }),
  outputSchema: closed({
    id: Type.String(),
    url: nullableText,
    created_at: nullableText,
    visibility: nullableText,
  }),
  async run({ text, visibility, reply_to_id, spoiler_text }, context: MastodonContext) {
    const { idempotencyKey } = context;
    const seenBy =
      visibility === undefined && reply_to_id !== undefined
        ? await doingNothing(visibilityOfAnswer(context, { text, answered: reply_to_id }))
        : visibility;
    const { body } = await callMastodon(context, {
      method: 'POST',
      path: '/api/v1/statuses',
      json: { status: text, visibility: seenBy, in_reply_to_id: reply_to_id, spoiler_text },
      ...(idempotencyKey === null
        ? {}
        : { headers: { 'idempotency-key': idempotencyKey }, repeatable: true }),
    });
    const status = shape.object(body);
    return {
      id: shape.text(status.id),
      url: textOrNull(status.url) ?? textOrNull(status.uri),
      created_at: textOrNull(status.created_at),
      visibility: textOrNull(status.visibility),
    };
  },
});

const favouriteStatus = defineTool({
  name: 'mastodon_favourite_status',
  title: 'Favourite a status',
  description: 'Marks a status as a favourite of the account; once it is, nothing changes.',
  class: 'I',
  inputSchema: closed({ status_id: statusId }),
  outputSchema: closed({ id: Type.String(), favourited: Type.Boolean() }),
  async run({ status_id: id }, context: MastodonContext) {
    const request = {
      method: 'POST',
      path: path`/api/v1/statuses/${id}/favourite`,
      repeatable: true,
    } as const;
    const { body } = await callMastodon(context, request).catch((error: unknown) =>
      unlessDoneBefore(context, id, error),
    );
    return { id, favourited: shape.object(body).favourited !== false };
  },
});

/** Some servers say of a status that is a favourite already that they do not find it. */
async function unlessDoneBefore(context: MastodonContext, id: string, error: unknown): Promise<VendorAnswer> {
  if (!(error instanceof ConnectorError) || error.platformCode !== '404') throw error;
  const status = await callMastodon(context, { path: path`/api/v1/statuses/${id}` });
  if (fieldsOf(status.body).favourited !== true) throw error;
  return status;
}

const deleteStatus = defineTool({
  name: 'mastodon_delete_status',
  title: 'Delete a status',
  description: 'Deletes a status of the account for good.',
  class: 'D',
  inputSchema: closed({ status_id: statusId }),
  outputSchema: closed({ id: Type.String(), deleted: Type.Boolean() }),
  async run({ status_id: id }, context: MastodonContext) {
    await callMastodon(context, { method: 'DELETE', path: path`/api/v1/statuses/${id}` });
    return { id, deleted: true };
  },
});

import { Type } from 'typebox';
import { ConnectorError, defineTool, doingNothing, pageOf, type ToolDefinition } from '../connector.ts';
import { graphId, type MetaContext, madeSchema, sentSchema } from '../vendor-api/meta.ts';
import { momentOf } from '../vendor-api/moment.ts';
import { path } from '../vendor-api/path.ts';
import { countOrNull, fieldsOf, textOrNull } from '../vendor-api/shape.ts';
import {
  closed,
  mediaUrl,
  message,
  moment,
  nullableCount,
  nullableText,
  vendorId,
} from '../vendor-api/tool-schemas.ts';
import { asPage, asPageOf, facebook, listPagesOf } from './api.ts';

const { shape, readPage, make } = facebook;

const POST_LENGTH_MAX = 63_206;
const COMMENT_LENGTH_MAX = 8_000;
const MESSAGE_LENGTH_MAX = 2_000;
const MINUTE_MS = 60_000;
const SCHEDULE_MIN_MS = 10 * MINUTE_MS;
const SCHEDULE_MAX_MS = 30 * 24 * 60 * MINUTE_MS;

const objectId = (description: string) => vendorId(description, '^[0-9]{1,25}(_[0-9]{1,25}){0,2}$');
const pageId = graphId('Id of the page; facebook_list_pages gives it.');

export function facebookTools(): ToolDefinition[] {
  return [listPages, listPosts, listComments, createPost, replyComment, sendMessage, deletePost];
}

const listPages = defineTool({
  name: 'facebook_list_pages',
  title: 'List pages',
  description: 'Lists the pages that the account runs.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({}),
  outputSchema: pageOf(
    closed({
      id: Type.String(),
      name: nullableText,
      category: nullableText,
      link: nullableText,
      followers: nullableCount,
    }),
  ),
  run(page, context: MetaContext) {
    return listPagesOf(context, 'id,name,category,link,followers_count', {
      ...page,
      read(value) {
        const found = shape.object(value);
        return {
          id: shape.text(found.id),
          name: textOrNull(found.name),
          category: textOrNull(found.category),
          link: textOrNull(found.link),
          followers: countOrNull(found.followers_count),
        };
      },
    });
  },
});

const listPosts = defineTool({
  name: 'facebook_list_posts',
  title: 'List posts',
  description: 'Lists the posts of a page, newest first.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({ page_id: pageId }),
  outputSchema: pageOf(
    closed({ id: Type.String(), message: nullableText, created_at: nullableText, url: nullableText }),
  ),
  async run({ page_id: id, ...page }, context: MetaContext) {
    const request = { path: path`/${id}/posts`, query: { fields: 'id,message,created_time,permalink_url' } };
    return readPage(await asPage(context, id), request, {
      ...page,
      read(value) {
        const post = shape.object(value);
        return {
          id: shape.text(post.id),
          message: textOrNull(post.message),
          created_at: textOrNull(post.created_time),
          url: textOrNull(post.permalink_url),
        };
      },
    });
  },
});

const listComments = defineTool({
  name: 'facebook_list_comments',
  title: 'List comments',
  description: 'Lists the comments on a post of a page, or the answers to a comment.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({ object_id: objectId('Id of the post or comment.') }),
  outputSchema: pageOf(
    closed({
      id: Type.String(),
      message: Type.String(),
      from_id: nullableText,
      from_name: nullableText,
      created_at: nullableText,
      replies: nullableCount,
    }),
  ),
  async run({ object_id: id, ...page }, context: MetaContext) {
    const request = {
      path: path`/${id}/comments`,
      query: { fields: 'id,message,from,created_time,comment_count' },
    };
    return readPage(await asPageOf(context, id), request, {
      ...page,
      read(value) {
        const comment = shape.object(value);
        const from = fieldsOf(comment.from);
        return {
          id: shape.text(comment.id),
          message: textOrNull(comment.message) ?? '',
          from_id: textOrNull(from.id),
          from_name: textOrNull(from.name),
          created_at: textOrNull(comment.created_time),
          replies: countOrNull(comment.comment_count),
        };
      },
    });
  },
});

const createPost = defineTool({
  name: 'facebook_create_post',
  title: 'Publish a post',
  description: 'Publishes a post as a page, now or at a later moment.',
  class: 'W',
  inputSchema: closed({
    page_id: pageId,
    message: message(POST_LENGTH_MAX, 'The text.'),
    link: Type.Optional(mediaUrl('Public https address that the post shows.')),
    scheduled_at: Type.Optional(moment('When it is published: 10 minutes to 30 days from now.')),
  }),
  outputSchema: madeSchema,
  async run({ page_id: id, message: text, link, scheduled_at }, context: MetaContext) {
    const schedule = scheduled_at === undefined ? {} : scheduleOf(momentOf(scheduled_at), context.now());
    const page = await doingNothing(asPage(context, id));
    return make(page, { path: path`/${id}/feed`, json: { message: text, link, ...schedule } });
  },
});

function scheduleOf(at: Date, now: Date): { published: false; scheduled_publish_time: number } {
  const aheadMs = at.getTime() - now.getTime();
  if (!(aheadMs >= SCHEDULE_MIN_MS && aheadMs <= SCHEDULE_MAX_MS))
    throw new ConnectorError('invalid_arguments', '`scheduled_at` has to be 10 minutes to 30 days from now');
  return { published: false, scheduled_publish_time: Math.floor(at.getTime() / 1_000) };
}

const replyComment = defineTool({
  name: 'facebook_reply_comment',
  title: 'Answer a comment',
  description: 'Answers a comment as the page that it is on.',
  class: 'W',
  inputSchema: closed({
    comment_id: objectId('Id of the comment.'),
    message: message(COMMENT_LENGTH_MAX, 'The text.'),
  }),
  outputSchema: madeSchema,
  async run({ comment_id: id, message: text }, context: MetaContext) {
    const page = await doingNothing(asPageOf(context, id));
    return make(page, { path: path`/${id}/comments`, json: { message: text } });
  },
});

const sendMessage = defineTool({
  name: 'facebook_send_message',
  title: 'Send a message',
  description: 'Answers a person who wrote to the page within the last 24 hours.',
  class: 'W',
  inputSchema: closed({
    page_id: pageId,
    recipient_id: graphId('Id of the person, as the page sees it.'),
    text: message(MESSAGE_LENGTH_MAX, 'The text.'),
  }),
  outputSchema: sentSchema,
  async run({ page_id: id, recipient_id, text }, context: MetaContext) {
    return facebook.sendMessage(await doingNothing(asPage(context, id)), {
      path: path`/${id}/messages`,
      json: { recipient: { id: recipient_id }, messaging_type: 'RESPONSE', message: { text } },
    });
  },
});

const deletePost = defineTool({
  name: 'facebook_delete_post',
  title: 'Delete a post',
  description: 'Deletes a post of a page for good.',
  class: 'D',
  inputSchema: closed({ post_id: objectId('Id of the post.') }),
  outputSchema: closed({ id: Type.String(), deleted: Type.Boolean() }),
  async run({ post_id: id }, context: MetaContext) {
    const page = await doingNothing(asPageOf(context, id));
    const { body } = await facebook.call(page, { method: 'DELETE', path: path`/${id}` });
    return { id, deleted: fieldsOf(body).success === true };
  },
});

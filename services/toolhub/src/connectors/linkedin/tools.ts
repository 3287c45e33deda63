import { Type } from 'typebox';
import { ConnectorError, defineTool, doingNothing, pageOf, type ToolDefinition } from '../connector.ts';
import { decodeCursor, encodeCursor } from '../vendor-api/cursor.ts';
import { isoOrNull } from '../vendor-api/moment.ts';
import { path } from '../vendor-api/path.ts';
import { countOrNull, fieldsOf, idOrNull, textOrNull } from '../vendor-api/shape.ts';
import { closed, mediaUrl, message, nullableText, vendorId } from '../vendor-api/tool-schemas.ts';
import { callLinkedin, type LinkedinContext, readPerson, shape, TITLE } from './api.ts';
import { littleText } from './little-text.ts';

const POST_LENGTH_MAX = 3_000;
const COMMENT_LENGTH_MAX = 1_250;
const COMMENTS_OFFSET_MAX = 100_000;
const TITLE_LENGTH_MAX = 200;

const postUrn = vendorId(
  'URN of the post: urn:li:share:…, urn:li:ugcPost:… or urn:li:activity:…',
  '^urn:li:(share|ugcPost|activity):[0-9]{1,25}$',
);
const startCursor = Type.Object({ start: Type.Integer({ minimum: 1, maximum: COMMENTS_OFFSET_MAX }) });

export function linkedinTools(): ToolDefinition[] {
  return [getProfile, listComments, createPost, createComment, deletePost];
}

const getProfile = defineTool({
  name: 'linkedin_get_profile',
  title: 'Read the profile',
  description: 'Reads the name and picture of the account.',
  class: 'R',
  untrusted: true,
  inputSchema: closed({}),
  outputSchema: closed({
    id: Type.String(),
    urn: Type.String(),
    name: nullableText,
    given_name: nullableText,
    family_name: nullableText,
    picture: nullableText,
    email: nullableText,
  }),
  async run(_args, context: LinkedinContext) {
    const { id, name, body } = await readPerson(context);
    const { given_name, family_name, picture, email } = fieldsOf(body);
    return {
      ...{ id, urn: `urn:li:person:${id}`, name },
      given_name: textOrNull(given_name),
      family_name: textOrNull(family_name),
      picture: textOrNull(picture),
      email: textOrNull(email),
    };
  },
});

const listComments = defineTool({
  name: 'linkedin_list_comments',
  title: 'List comments',
  description: 'Lists the comments on a post. LinkedIn allows this to apps that it approved for reading.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({ post_urn: postUrn }),
  outputSchema: pageOf(
    closed({
      id: Type.String(),
      urn: nullableText,
      author_urn: nullableText,
      text: Type.String(),
      created_at: nullableText,
    }),
  ),
  async run({ post_urn: urn, limit, cursor }, context: LinkedinContext) {
    const start = decodeCursor(startCursor, cursor)?.start ?? 0;
    const { body } = await callLinkedin(context, {
      path: path`/rest/socialActions/${urn}/comments`,
      query: { start, count: limit },
    });
    const { elements, paging } = shape.object(body);
    const items = shape.list(elements).map((value) => {
      const comment = shape.object(value);
      const time = countOrNull(fieldsOf(comment.created).time);
      return {
        id: idOrNull(comment.id) ?? shape.text(comment.id),
        urn: textOrNull(comment.commentUrn),
        author_urn: textOrNull(comment.actor),
        text: textOrNull(fieldsOf(comment.message).text) ?? '',
        created_at: time === null ? null : isoOrNull(time),
      };
    });
    const end = start + items.length;
    const total = countOrNull(fieldsOf(paging).total) ?? (items.length < limit ? end : end + 1);
    const isMore = items.length > 0 && end < Math.min(total, COMMENTS_OFFSET_MAX);
    return { items, next_cursor: isMore ? encodeCursor({ start: end }) : null };
  },
});

const createPost = defineTool({
  name: 'linkedin_create_post',
  title: 'Publish a post',
  description: 'Publishes a post as the account, with a link if one is given.',
  class: 'W',
  inputSchema: closed({
    text: message(POST_LENGTH_MAX, 'The text; words after # become hashtags.'),
    visibility: Type.Optional(
      Type.Enum(['PUBLIC', 'CONNECTIONS'], { type: 'string', description: 'Who sees it; PUBLIC if absent.' }),
    ),
    link_url: Type.Optional(mediaUrl('Public https address that the post shows as a card.')),
  }),
  outputSchema: closed({ urn: Type.String() }),
  async run({ text, visibility = 'PUBLIC', link_url }, context: LinkedinContext) {
    const { id } = await doingNothing(readPerson(context));
    const { headers } = await callLinkedin(context, {
      method: 'POST',
      path: '/rest/posts',
      json: {
        author: `urn:li:person:${id}`,
        commentary: littleText(text),
        visibility,
        distribution: {
          feedDistribution: 'MAIN_FEED',
          targetEntities: [],
          thirdPartyDistributionChannels: [],
        },
        ...(link_url === undefined
          ? {}
          : { content: { article: { source: link_url, title: titleOf(link_url) } } }),
        lifecycleState: 'PUBLISHED',
        isReshareDisabledByAuthor: false,
      },
    });
    const urn = headers.get('x-restli-id');
    if (urn === null)
      // It said that it made one.
      throw new ConnectorError('platform_unavailable', `${TITLE} did not say which post it made`, {
        outcomeOpen: true,
      });
    return { urn };
  },
});

/** LinkedIn looks at no page by itself and wants a title: what people recognise an address by. */
function titleOf(link: string): string {
  if (!URL.canParse(link)) throw new ConnectorError('invalid_arguments', '`link_url` is no address');
  const { host, pathname } = new URL(link);
  return `${host}${pathname === '/' ? '' : pathname}`.slice(0, TITLE_LENGTH_MAX);
}

const createComment = defineTool({
  name: 'linkedin_create_comment',
  title: 'Comment on a post',
  description: 'Writes a comment on a post as the account.',
  class: 'W',
  inputSchema: closed({ post_urn: postUrn, text: message(COMMENT_LENGTH_MAX, 'The text.') }),
  outputSchema: closed({ id: Type.String(), urn: nullableText }),
  async run({ post_urn: object, text }, context: LinkedinContext) {
    const { id } = await doingNothing(readPerson(context));
    const { headers, body } = await callLinkedin(context, {
      method: 'POST',
      path: path`/rest/socialActions/${object}/comments`,
      json: { actor: `urn:li:person:${id}`, object, message: { text } },
    });
    const made = fieldsOf(body);
    return {
      id: headers.get('x-restli-id') ?? shape.text(idOrNull(made.id)),
      urn: textOrNull(made.commentUrn),
    };
  },
});

const deletePost = defineTool({
  name: 'linkedin_delete_post',
  title: 'Delete a post',
  description: 'Deletes a post of the account for good.',
  class: 'D',
  inputSchema: closed({ post_urn: postUrn }),
  outputSchema: closed({ urn: Type.String(), deleted: Type.Boolean() }),
  async run({ post_urn: urn }, context: LinkedinContext) {
    await callLinkedin(context, {
      method: 'DELETE',
      path: path`/rest/posts/${urn}`,
      headers: { 'x-restli-method': 'DELETE' },
    });
    return { urn, deleted: true };
  },
});

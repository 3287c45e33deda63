import { Type } from 'typebox';
import { ConnectorError, defineTool, doingNothing, pageOf, type ToolDefinition } from '../connector.ts';
import { graphId, type MetaContext, madeSchema, sentSchema } from '../vendor-api/meta.ts';
import { path } from '../vendor-api/path.ts';
import { countOrNull, idOrNull, textOrNull } from '../vendor-api/shape.ts';
import { closed, mediaUrl, message, nullableCount, nullableText } from '../vendor-api/tool-schemas.ts';
import { instagram, readOwnId } from './api.ts';
import { KINDS, type Kind, publish } from './publish.ts';

const { shape, readPage } = instagram;

const CAPTION_LENGTH_MAX = 2_200;
const COMMENT_LENGTH_MAX = 2_200;
const MESSAGE_LENGTH_MAX = 1_000;
const CAROUSEL_MAX = 10;

export function instagramTools(): ToolDefinition[] {
  return [getProfile, listMedia, listComments, publishMedia, replyComment, sendMessage];
}

const getProfile = defineTool({
  name: 'instagram_get_profile',
  title: 'Read the profile',
  description: 'Reads the profile of the account.',
  class: 'R',
  untrusted: true,
  inputSchema: closed({}),
  outputSchema: closed({
    id: Type.String(),
    username: Type.String(),
    name: nullableText,
    account_type: nullableText,
    biography: nullableText,
    followers: nullableCount,
    following: nullableCount,
    media: nullableCount,
  }),
  async run(_args, context: MetaContext) {
    const { body } = await instagram.call(context, {
      path: '/me',
      query: {
        fields: 'id,user_id,username,name,account_type,biography,followers_count,follows_count,media_count',
      },
    });
    const profile = shape.object(body);
    return {
      id: shape.text(idOrNull(profile.user_id) ?? idOrNull(profile.id)),
      username: shape.text(profile.username),
      name: textOrNull(profile.name),
      account_type: textOrNull(profile.account_type),
      biography: textOrNull(profile.biography),
      followers: countOrNull(profile.followers_count),
      following: countOrNull(profile.follows_count),
      media: countOrNull(profile.media_count),
    };
  },
});

const listMedia = defineTool({
  name: 'instagram_list_media',
  title: 'List posts',
  description: 'Lists what the account published, newest first.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({}),
  outputSchema: pageOf(
    closed({
      id: Type.String(),
      caption: nullableText,
      media_type: nullableText,
      media_url: nullableText,
      permalink: nullableText,
      created_at: nullableText,
      likes: nullableCount,
      comments: nullableCount,
    }),
  ),
  run(page, context: MetaContext) {
    const fields = 'id,caption,media_type,media_url,permalink,timestamp,like_count,comments_count';
    return readPage(
      context,
      { path: '/me/media', query: { fields } },
      {
        ...page,
        read(value) {
          const media = shape.object(value);
          return {
            id: shape.text(media.id),
            caption: textOrNull(media.caption),
            media_type: textOrNull(media.media_type),
            media_url: textOrNull(media.media_url),
            permalink: textOrNull(media.permalink),
            created_at: textOrNull(media.timestamp),
            likes: countOrNull(media.like_count),
            comments: countOrNull(media.comments_count),
          };
        },
      },
    );
  },
});

const listComments = defineTool({
  name: 'instagram_list_comments',
  title: 'List comments',
  description: 'Lists the comments on a post of the account.',
  class: 'R',
  list: true,
  untrusted: true,
  inputSchema: closed({ media_id: graphId('Id of the post.') }),
  outputSchema: pageOf(
    closed({
      id: Type.String(),
      text: Type.String(),
      username: nullableText,
      created_at: nullableText,
      likes: nullableCount,
    }),
  ),
  run({ media_id: id, ...page }, context: MetaContext) {
    const request = {
      path: path`/${id}/comments`,
      query: { fields: 'id,text,username,timestamp,like_count' },
    };
    return readPage(context, request, {
      ...page,
      read(value) {
        const comment = shape.object(value);
        return {
          id: shape.text(comment.id),
          text: textOrNull(comment.text) ?? '',
          username: textOrNull(comment.username),
          created_at: textOrNull(comment.timestamp),
          likes: countOrNull(comment.like_count),
        };
      },
    });
  },
});

const publishMedia = defineTool({
  name: 'instagram_publish_media',
  title: 'Publish a post',
  description:
    'Publishes a picture, a video (as a reel), a story, or a carousel of 2 to 10 pictures, which Instagram fetches from public addresses.',
  class: 'W',
  inputSchema: closed({
    kind: Type.Enum([...KINDS], { type: 'string', description: 'What is published.' }),
    media_urls: Type.Array(mediaUrl('Public https address of the file.'), {
      minItems: 1,
      maxItems: CAROUSEL_MAX,
      description: 'One address, or 2 to 10 for a carousel.',
    }),
    caption: Type.Optional(message(CAPTION_LENGTH_MAX, 'The text; stories have none.')),
    container_id: Type.Optional(
      graphId('Where an earlier call was told that Instagram still works on the file: goes on from there.'),
    ),
  }),
  outputSchema: madeSchema,
  async run({ kind, media_urls: urls, caption, container_id: container }, context: MetaContext) {
    if ((kind === 'carousel') !== urls.length > 1)
      throw new ConnectorError('invalid_arguments', 'a carousel has 2 to 10 files, everything else one');
    if (caption !== undefined && kind.startsWith('story'))
      throw new ConnectorError('invalid_arguments', 'a story has no caption');
    return { id: await publish(context, { kind: kind as Kind, urls, caption, container }) };
  },
});

const replyComment = defineTool({
  name: 'instagram_reply_comment',
  title: 'Answer a comment',
  description: 'Answers a comment on a post of the account.',
  class: 'W',
  inputSchema: closed({
    comment_id: graphId('Id of the comment.'),
    message: message(COMMENT_LENGTH_MAX, 'The text.'),
  }),
  outputSchema: madeSchema,
  run: ({ comment_id: id, message: text }, context: MetaContext) =>
    instagram.make(context, { path: path`/${id}/replies`, json: { message: text } }),
});

const sendMessage = defineTool({
  name: 'instagram_send_message',
  title: 'Send a message',
  description: 'Answers a person who wrote to the account within the last 24 hours.',
  class: 'W',
  inputSchema: closed({
    recipient_id: graphId('Id of the person, as the account sees it.'),
    text: message(MESSAGE_LENGTH_MAX, 'The text.'),
  }),
  outputSchema: sentSchema,
  async run({ recipient_id, text }, context: MetaContext) {
    const owner = await doingNothing(readOwnId(context));
    return instagram.sendMessage(context, {
      path: path`/${owner}/messages`,
      json: { recipient: { id: recipient_id }, message: { text } },
    });
  },
});

import { type Static, Type } from 'typebox';
import { countOrNull, fieldsOf, listOf, textOrNull } from '../vendor-api/shape.ts';
import { closed, nullableCount, nullableText } from '../vendor-api/tool-schemas.ts';
import { shape } from './api.ts';
import { authorSchema, readAuthor } from './author.ts';
import { embedProperties, readEmbeds } from './embeds.ts';

export const postSchema = closed({
  uri: Type.String(),
  cid: nullableText,
  author: authorSchema,
  text: Type.String(),
  created_at: nullableText,
  indexed_at: nullableText,
  langs: Type.Array(Type.String()),
  reply_to_uri: nullableText,
  ...embedProperties,
  replies: nullableCount,
  reposts: nullableCount,
  likes: nullableCount,
  liked: Type.Boolean(),
});

export type BlueskyPost = Static<typeof postSchema>;

export function readPost(value: unknown): BlueskyPost {
  const post = shape.object(value);
  const record = fieldsOf(post.record);
  return {
    uri: shape.text(post.uri),
    cid: textOrNull(post.cid),
    author: readAuthor(post.author),
    text: textOrNull(record.text) ?? '',
    created_at: textOrNull(record.createdAt),
    indexed_at: textOrNull(post.indexedAt),
    langs: listOf(record.langs).filter((lang) => typeof lang === 'string'),
    reply_to_uri: textOrNull(fieldsOf(fieldsOf(record.reply).parent).uri),
    ...readEmbeds(post),
    replies: countOrNull(post.replyCount),
    reposts: countOrNull(post.repostCount),
    likes: countOrNull(post.likeCount),
    liked: typeof fieldsOf(post.viewer).like === 'string',
  };
}

import { type Static, Type } from 'typebox';
import { countOrNull, fieldsOf, idOrNull, listOf, textOrNull } from '../vendor-api/shape.ts';
import { closed, nullableCount, nullableText } from '../vendor-api/tool-schemas.ts';
import { shape } from './api.ts';
import { textOfPost } from './post-text.ts';

/** X shows ids and texts alone unless asked for more; people come beside the posts. */
export const POST_FIELDS = {
  'tweet.fields':
    'created_at,author_id,conversation_id,lang,public_metrics,referenced_tweets,note_tweet,entities',
  expansions: 'author_id',
  'user.fields': 'username,name',
};

export const postSchema = closed({
  id: Type.String(),
  text: Type.String(),
  created_at: nullableText,
  author_id: nullableText,
  author_username: nullableText,
  author_name: nullableText,
  conversation_id: nullableText,
  lang: nullableText,
  replied_to_id: nullableText,
  quoted_id: nullableText,
  likes: nullableCount,
  reposts: nullableCount,
  replies: nullableCount,
});

export type XPost = Static<typeof postSchema>;

export function readPost(value: unknown, includes: unknown): XPost {
  const post = shape.object(value);
  const authorId = idOrNull(post.author_id);
  const author = listOf(fieldsOf(includes).users)
    .map(fieldsOf)
    .find(({ id }) => id === authorId);
  const metrics = fieldsOf(post.public_metrics);
  const referenced = (kind: string) =>
    idOrNull(
      listOf(post.referenced_tweets)
        .map(fieldsOf)
        .find(({ type }) => type === kind)?.id,
    );
  return {
    id: shape.text(post.id),
    text: textOfPost(post),
    created_at: textOrNull(post.created_at),
    author_id: authorId,
    author_username: textOrNull(author?.username),
    author_name: textOrNull(author?.name),
    conversation_id: idOrNull(post.conversation_id),
    lang: textOrNull(post.lang),
    replied_to_id: referenced('replied_to'),
    quoted_id: referenced('quoted'),
    likes: countOrNull(metrics.like_count),
    reposts: countOrNull(metrics.retweet_count),
    replies: countOrNull(metrics.reply_count),
  };
}
